#include "proof/step_window.hpp"

#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

template <class V>
constexpr int width = sizeof(V) / sizeof(double);

// Steps that were found in the window. Each is written behind the last, and counts only if it is inside: no branch depends on that.
struct Found {
  StepOfSlope* to;
  Index count = 0;
  LaneSum rise = {};

  template <class V, class M>
  GAPLESS_INLINE void add(const V& x, const V& height, const M& inside) {
    rise.add(V(inside ? height : V{}));
    double places[width<V>], heights[width<V>];
    std::uint8_t is_inside[width<V>];
    write(x, places);
    write(height, heights);
    write_mask(inside, is_inside);
    for (int k = 0; k < width<V>; ++k) {
      to[count] = {places[k], heights[k]};
      count += is_inside[k] != 0;
    }
  }
};

StepWindow window(const DualBox& box, const double* f, double low, double high, StepOfSlope* room) {
  Found found{room};
  LaneSum before, heights, steps, doubt;
  LaneMost bends(0.0), kinks(0.0);
  bool overflows = false;
  by_lanes(0, box.n, [&]<class V>(Index i) { kinks.add(read<V>(box.epsilon + i)); });
  const bool one_place = kinks.total() == 0.0;
  by_lanes(0, box.n, [&]<class V>(Index i) {
    const V apart = read<V>(box.p + i) - read<V>(f + i), e = read<V>(box.epsilon + i), one = constant<V>(1.0);
    const V up = larger<V>(read<V>(box.upper + i), V{}), down = larger<V>(-read<V>(box.lower + i), V{});
    const V right = apart - e, left = apart + e;  // where the upper side's step is, and the lower side's
    before.add(V(right > constant<V>(low) ? -up : V{}));
    before.add(V(left > constant<V>(low) ? V{} : down));
    heights.add(V(up + down));
    steps.add(V((up > V{} ? one : V{}) + (down > V{} ? one : V{})));
    doubt.add(V(0.0 * apart));
    bends.add(read<V>(box.d + i));
    // The sums are those of all samples, whether or not the window is too small.
    overflows = overflows || found.count + 2 * width<V> > most_window_steps;
    if (overflows) return;
    if (one_place) {
      found.add(apart, V(up + down), (apart > low) & (apart <= high) & (up + down > V{}));
    } else {
      found.add(right, up, (right > low) & (right <= high) & (up > V{}));
      found.add(left, down, (left > low) & (left <= high) & (down > V{}));
    }
  });
  const double all = heights.total(), finite = 0.0 * all + doubt.total();
  const bool usable = !overflows && bends.total() == 0.0 && finite == 0.0;
  return {before.total(), found.rise.total(), all, steps.total(), usable ? found.count : -1};
}

}  // namespace

extern const StepLoops step_loops = {window};

}  // namespace gapless::GAPLESS_LEVEL
