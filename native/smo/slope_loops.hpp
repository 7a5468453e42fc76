// Loops over the slopes of a dual with box terms (violation.hpp), many variables at a time.
#pragma once

#include "core/dual.hpp"
#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless::smo {

struct SlopeRange {
  double top, bottom;  // the largest slope for a rise, and the least for a fall
  double size;         // the largest |f|
};

struct SlopeLoops {
  // Writes up and down of n variables.
  SlopeRange (*slopes)(const DualBox& dual, Index n, const double* beta, const double* f, double* up, double* down);
  // The least number of variables, over all offsets, that violate by more than `kkt`, or about so.
  Index (*violators)(Index n, const double* up, const double* down, double top, double bottom, double kkt);
  // The largest rise − f and the largest f − fall.
  void (*ends)(const double* rise, const double* fall, const double* f, Index n, double& top, double& bottom);
  // The number of entries of a row of a kernel matrix whose size is above the bound.
  Index (*larger)(const float* row, Index n, float bound);
};

GAPLESS_DECLARE_LEVELS(SlopeLoops, slope_loops)

}  // namespace gapless::smo
