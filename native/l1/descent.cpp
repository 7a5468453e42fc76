#include "l1/descent.hpp"

#include <algorithm>
#include <cmath>

namespace gapless {
namespace {

// A step whose descent falls short of this share of the predicted one is halved (Armijo's rule; LIBLINEAR has the same two numbers). After 20
// halvings the step is a millionth of Newton's, and the weight is left as it is.
constexpr double sufficient = 0.01;
constexpr int most_halvings = 20;

// Calls work(sample, value) for each stored entry of column j.
template <class R, class F>
GAPLESS_INLINE void each_entry(const R& columns, Index j, const F& work) {
  const Index begin = columns.begin(j), end = columns.begin(j + 1);
  if constexpr (R::is_sparse) {
    for (Index k = begin; k < end; ++k) work(static_cast<Index>(columns.indices[k]), columns.value(k));
  } else {
    for (Index k = begin; k < end; ++k) work(k - begin, static_cast<double>(columns.values[k]));
  }
}

struct Derivatives {
  double slope = 0.0, bend = 0.0;
};

// The derivatives of Σ c max(0, shortfall)² in weight j.
template <class R>
Derivatives derivatives(const R& columns, Index j, const double* cost, const double* shortfall) {
  Derivatives of;
  each_entry(columns, j, [&](Index i, double value) {
    if (shortfall[i] > 0.0) {
      const double weighted = 2.0 * cost[i] * value;
      of.slope -= weighted * shortfall[i];
      of.bend += weighted * value;
    }
  });
  return of;
}

// The change of Σ c max(0, shortfall)² by a step of weight j.
template <class R>
double change_of_loss(const R& columns, Index j, const double* cost, const double* shortfall, double step) {
  double total = 0.0;
  each_entry(columns, j, [&](Index i, double value) {
    const double before = std::max(0.0, shortfall[i]), after = std::max(0.0, shortfall[i] - step * value);
    total += cost[i] * (after - before) * (after + before);
  });
  return total;
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
