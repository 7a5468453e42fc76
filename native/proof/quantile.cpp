#include "proof/quantile.hpp"

#include <algorithm>

#include "proof/step_window.hpp"

namespace gapless::proof {
namespace {

constexpr Index few = 12;  // steps that are sorted instead of being divided once more: by hand

double middle_of(double a, double b, double c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

}  // namespace

std::optional<Interval> quantile_in(const DualBox& box, double total, Vector f, Interval window) {
  StepOfSlope rooms[2][most_window_steps];
  StepOfSlope *steps = rooms[0], *others = rooms[1];
  const StepWindow found = step_loops().window(box, f.data(), window.low, window.high, steps);
  Index inside = found.inside;
  // Plain sums are off by at most half an epsilon of all heights for each of their additions: far less than what counts as zero.
  const double rounding = slope_rounding(found.steps, found.heights);
  double slope = total + found.before;  // S left of the steps that are still looked at
  if (inside <= 0 || !(slope < -rounding) || !(slope + found.rise > rounding)) return {};
  while (inside > few) {
    const double pivot = middle_of(steps[0].x, steps[inside / 2].x, steps[inside - 1].x);
    double through = slope;
    Index left = 0, right = 0;
    for (Index k = 0; k < inside; ++k) {
      const StepOfSlope step = steps[k];
      const bool passed = step.x <= pivot;
      steps[left] = others[right] = step;
      left += passed;
      right += !passed;
      through += static_cast<double>(passed) * step.height;  // a product, since compilers make a branch of a choice
    }
    if (through < -rounding) {  // the interval begins right of the pivot
      std::swap(steps, others);
      slope = through;
      inside = right;
    } else if (through > rounding && right > 0) {  // it ends left of the pivot, or there
      inside = left;
    } else {  // S is zero at the pivot, or no step is right of it
      std::copy(others, others + right, steps + left);
      break;
    }
  }
  std::sort(steps, steps + inside, [](const StepOfSlope& a, const StepOfSlope& b) { return a.x < b.x; });
  double low = infinity;
  for (Index k = 0; k < inside;) {
    const double x = steps[k].x;
    for (; k < inside && steps[k].x == x; ++k) slope += steps[k].height;
    if (slope >= -rounding) low = std::min(low, x);
    if (slope > rounding) return Interval{low, x};
  }
  return {};  // S was above zero at the end of the window by the order of summation alone
}

}  // namespace gapless::proof
