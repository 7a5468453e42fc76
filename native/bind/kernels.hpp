// The Python object that holds a kernel's panels and the arrays that they read.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "kernels/panels.hpp"
#include "smo/active_set.hpp"

namespace gapless::bind {

// gapless._native.Panels. An engine that uses the panels holds a reference to this object.
struct PanelsObject {
  std::vector<nanobind::object> kept;  // the arrays behind the panels' views
  std::unique_ptr<Panels> panels;
  Index columns;  // the features of the samples
  smo::LastTable<float> last = {};  // which an engine on these panels has left
};

}  // namespace gapless::bind
