// This file is compiled without contraction, as all of the proof is: each operation rounds once, and the constants below count on that.
#include "proof/stretch_loops.hpp"

#include "proof/kept_sum.hpp"
#include "proof/rounding.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using proof::least_error;
using proof::unit;

// The margin of a sample, and a bound on its error: the division of β and b by a margin rounds too, by a share of the error, which 1.1 covers, and of
// the values themselves.
template <class V>
struct Margin {
  V value, doubt;

  GAPLESS_INLINE Margin(const StretchTask& task, Index i, double b) {
    const V f = read<V>(task.f + i), size = size_of<V>(f);
    const V error = 1.07 * task.scale * (read<V>(task.sizes + i) + least_error) + 2.0 * unit * size;
    value = read<V>(task.box.p + i) * (f + b);
    doubt = 1.1 * error + 8.0 * unit * (size + (b < 0.0 ? -b : b));
  }
};

StretchSums sums(const StretchTask& task) {
  const DualBox& box = task.box;
  LaneSum slack, products;
  LaneMost lowest(-infinity), highest(-infinity), over(-infinity);
  by_lanes(0, box.n, [&]<class V>(Index i) {
    const V f = read<V>(task.f + i), size = size_of<V>(read<V>(task.beta + i)), wide = read<V>(box.upper + i) - read<V>(box.lower + i);
    const V none = constant<V>(-infinity), p = read<V>(box.p + i);
    slack.add(V(size > V{} ? size * (read<V>(task.sizes + i) + least_error) : V{}));  // an error may be infinite
    products.add(V(size * size_of<V>(f)));
    over.add(V((size > V{}) & (wide > V{}) ? size - wide : none));
    lowest.add(V((wide > V{}) & (p > V{}) ? -f : none));
    highest.add(V((wide > V{}) & (p <= V{}) ? f : none));
  });
  return {slack.total(), products.total(), -lowest.total(), highest.total(), over.total() >= 0.0};
}

template <bool free>
LeastMargins margins(const StretchTask& task, double b) {
  LaneMost plain(-infinity), margin(-infinity);  // of the margins' negatives
  by_lanes(0, task.box.n, [&]<class V>(Index i) {
    const V lower = read<V>(task.box.lower + i), upper = read<V>(task.box.upper + i), beta = read<V>(task.beta + i), none = constant<V>(-infinity);
    const Margin<V> at(task, i, b);
    const auto counts = free ? (lower < beta) & (beta < upper) & (beta != V{}) : upper > lower;
    plain.add(V(counts ? -at.value : none));
    margin.add(V(counts ? at.doubt - at.value : none));
  });
  return {-plain.total(), -margin.total()};
}

bool fits(const StretchTask& task, double stretch) {
  LaneMost longer(0.0);
  by_lanes(0, task.box.n, [&]<class V>(Index i) {
    const V wide = read<V>(task.box.upper + i) - read<V>(task.box.lower + i);
    longer.add(V(stretch * size_of<V>(read<V>(task.beta + i)) <= wide ? V{} : constant<V>(1.0)));  // a stretch that is NaN fits nothing
  });
  return longer.total() == 0.0;
}

StretchedLosses losses(const StretchTask& task, double b, const LeastMargins& margins) {
  KeptSum above, plain;
  by_lanes(0, task.box.n, [&]<class V>(Index i) {
    const V cost = read<V>(task.box.p + i) > V{} ? read<V>(task.box.upper + i) : -read<V>(task.box.lower + i);
    const Margin<V> at(task, i, b);
    const V least = at.value - at.doubt;
    // A sample that is short of the stretched margin by no more than a rounding counts as short of it.
    const V loss = cost * (1.0 - least / margins.margin) * (1.0 + 8.0 * unit) + 4.0 * unit * cost;
    above.add(V((cost > V{}) & (least < constant<V>(margins.margin)) ? loss : V{}));
    plain.add(V((cost > V{}) & (at.value < constant<V>(margins.plain)) ? cost * (1.0 - at.value / margins.plain) : V{}));
  });
  return {above.value(), plain.value()};
}

}  // namespace

extern const StretchLoops stretch_loops = {sums, margins<false>, margins<true>, fits, losses};

}  // namespace gapless::GAPLESS_LEVEL
