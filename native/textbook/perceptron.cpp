#include "textbook/perceptron.hpp"

#include "core/cancel.hpp"

namespace gapless {

Index walk_perceptron(Places order, Index position, Matrix<const double> signs, Index first, const KeptRows& kept, Functions& learned,
                      std::vector<Mistake>& mistakes) {
  const Index functions = signs.rows, n = signs.columns;
  for (; position < length(order); ++position) {
    const Index i = order[position];
    bool wrong = false;
    for (Index m = 0; m < functions; ++m) wrong = wrong || signs(m, i) * learned.F(m, i) <= 0.0;
    if (wrong) {
      const Index slot = kept.slot_of[first + i];
      if (slot < 0 || !kept.admitted[first + i]) return position;
      const double* const k = kept.rows.row(slot) + first;
      for (Index m = 0; m < functions; ++m) {
        const double sign = signs(m, i);
        if (sign * learned.F(m, i) > 0.0) continue;
        learned.beta(m, first + i) += sign;
        learned.delayed(m, first + i) += sign * static_cast<double>(learned.seen);
        double* const f = learned.F.row(m);
        for (Index j = 0; j < n; ++j) f[j] += sign * k[j];
        mistakes.push_back({first + i, m, learned.seen, sign});
      }
      listen();
    }
    ++learned.seen;
  }
  return position;
}

}  // namespace gapless
