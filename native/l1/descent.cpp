#include "l1/descent.hpp"

#include <algorithm>
#include <cmath>

namespace gapless {
namespace {

// A step whose descent falls short of this share of the predicted one is halved (Armijo's rule; LIBLINEAR has the same two numbers). After 20
// halvings the step is a millionth of Newton's, and the weight is left as it is.
constexpr double sufficient = 0.01;
constexpr int most_halvings = 20;

constexpr Index lanes = 4;  // sums side by side, so that no addition waits for the one before it

// Calls work(sample, value, lane) for each stored entry of column j; lanes take turns.
template <class R, class F>
GAPLESS_INLINE void each_entry(const R& columns, Index j, const F& work) {
  const Index begin = columns.begin(j), end = columns.begin(j + 1);
  const auto entry = [&](Index k, Index lane) {
    if constexpr (R::is_sparse)
      work(static_cast<Index>(columns.indices[k]), columns.value(k), lane);
    else
      work(k - begin, static_cast<double>(columns.values[k]), lane);
  };
  Index k = begin;
  for (; k + lanes <= end; k += lanes)
#pragma GCC unroll 4
    for (Index lane = 0; lane < lanes; ++lane) entry(k + lane, lane);
  for (; k < end; ++k) entry(k, 0);
}

double sum_of(const double (&parts)[lanes]) { return (parts[0] + parts[1]) + (parts[2] + parts[3]); }

struct Derivatives {
  double slope = 0.0, bend = 0.0;
};

// The derivatives of Σ c max(0, shortfall)² in weight j. Whether a sample falls short is a matter of chance to a processor, which would mispredict it.
template <class R>
Derivatives derivatives(const R& columns, Index j, const double* cost, const double* shortfall) {
  double slope[lanes] = {}, bend[lanes] = {};
  each_entry(columns, j, [&](Index i, double value, Index lane) {
    const double weighted = shortfall[i] > 0.0 ? cost[i] * value : 0.0;
    slope[lane] += weighted * shortfall[i];
    bend[lane] += weighted * value;
  });
  return {-2.0 * sum_of(slope), 2.0 * sum_of(bend)};
}

// The change of Σ c max(0, shortfall)² by a step of weight j.
template <class R>
double change_of_loss(const R& columns, Index j, const double* cost, const double* shortfall, double step) {
  double total[lanes] = {};
  each_entry(columns, j, [&](Index i, double value, Index lane) {
    const double before = std::max(0.0, shortfall[i]), after = std::max(0.0, shortfall[i] - step * value);
    total[lane] += cost[i] * (after - before) * (after + before);
  });
  return sum_of(total);
}

// The minimiser of |w + step| + slope · step + ½ bend · step².
double newton_step(const Derivatives& of, double w) {
  if (of.slope + 1.0 <= of.bend * w) return -(of.slope + 1.0) / of.bend;
  if (of.slope - 1.0 >= of.bend * w) return -(of.slope - 1.0) / of.bend;
  return -w;
}

template <class R>
L1Pass descend(const R& columns, const double* cost, const double* squares, Places order, Index position, double budget, double* w,
               double* shortfall) {
  L1Pass pass{position, 0.0, 0.0, false};
  while (pass.position < length(order) && (pass.work < budget || pass.work == 0.0)) {
    const Index j = order[static_cast<std::size_t>(pass.position++)];
    const double entries = static_cast<double>(columns.begin(j + 1) - columns.begin(j));
    const Derivatives of = derivatives(columns, j, cost, shortfall);
    pass.work += 2.0 * entries + 1.0;
    const double old = w[j];
    const double violation = old != 0.0 ? std::fabs(of.slope + (old > 0.0 ? 1.0 : -1.0)) : std::max(0.0, std::fabs(of.slope) - 1.0);
    pass.violation = std::max(pass.violation, violation);
    if (violation == 0.0) continue;
    double step = newton_step(of, old);
    bool enough = false;
    for (int halving = 0; halving < most_halvings && !enough; ++halving) {
      if (halving > 0) step *= 0.5;
      const double penalty = std::fabs(old + step) - std::fabs(old), wanted = sufficient * (of.slope * step + penalty);
      enough = penalty + of.slope * step + squares[j] * step * step <= wanted;
      if (!enough) {
        pass.work += entries;
        enough = penalty + change_of_loss(columns, j, cost, shortfall, step) <= wanted;
      }
    }
    if (!enough || old + step == old) continue;
    w[j] = old + step;
    columns.add(j, -step, shortfall);
    pass.moved = true;
  }
  return pass;
}

}  // namespace

L1Pass descend_l1(const Rows& columns, Vector cost, Vector squares, Places order, Index position, double budget, Out w, Out shortfall) {
  return std::visit(
      [&](const auto& all) { return descend(all, cost.data(), squares.data(), order, position, budget, w.data(), shortfall.data()); },
      columns);
}

}  // namespace gapless
