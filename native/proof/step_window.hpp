// The steps of the slope S (proof/primal_side.hpp) in a window of offsets, for box terms with d = 0 whose samples all belong to one group.
#pragma once

#include "core/dual.hpp"
#include "core/isa.hpp"

namespace gapless {

constexpr Index most_window_steps = 512;  // a window with more is not worth having: 8 KB, which stay in the first cache

// S rises by `height` at the offset x.
struct StepOfSlope {
  double x, height;
};

struct StepWindow {
  double before;   // S(low) without the total
  double rise;     // S(high) − S(low)
  double heights;  // the sum of all heights, inside of the window and outside
  double steps;    // the number of all steps
  Index inside;    // the number of steps in (low, high], or −1 where there are too many, where a d is not zero, or where a number is not finite
};

struct StepLoops {
  // Writes the steps in (low, high] to `room`, for most_window_steps of them, in the order of the samples.
  StepWindow (*window)(const DualBox& box, const double* f, double low, double high, StepOfSlope* room);
};

GAPLESS_DECLARE_LEVELS(StepLoops, step_loops)

}  // namespace gapless
