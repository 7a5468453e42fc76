// Runs of consecutive places: what lies side by side in a matrix is copied and summed side by side.
#pragma once

#include <vector>

#include "core/span.hpp"

namespace gapless {

// For each place where, in `places`, the run of consecutive places ends that it is in.
inline std::vector<Index> run_ends(Places places) {
  const Index n = length(places);
  std::vector<Index> ends(places.size(), n);
  for (Index j = n - 2; j >= 0; --j)
    if (places[j] + 1 != places[j + 1])
      ends[j] = j + 1;
    else
      ends[j] = ends[j + 1];
  return ends;
}

}  // namespace gapless
