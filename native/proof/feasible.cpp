#include "proof/feasible.hpp"

#include <algorithm>
#include <cmath>

#include "core/sums.hpp"

namespace gapless::proof {
namespace {

// The sum over a group of its positive values (side 1), its negative values (side −1) or all values (side 0).
double sum_of(const double* values, Places groups, Index g, int side) {
  Sum sum;
  for (Index i = 0; i < length(groups); ++i)
    if (groups[i] == g && (side == 0 || side * values[i] > 0.0)) sum.add(values[i]);
  return sum.value();
}

}  // namespace

Repair feasible(Vector lower, Vector upper, Places groups, Vector totals, bool coupled, Vector beta, Out out) {
  const Index n = length(beta);
  Repair repair;
  double sizes = 0.0;  // becomes NaN where a β is NaN or infinite
  for (Index i = 0; i < n; ++i) {
    sizes += 0.0 * beta[i];
    out[i] = std::min(std::max(beta[i], lower[i]), upper[i]);
    if (out[i] != beta[i]) repair.outside = std::max(repair.outside, std::fabs(beta[i] - out[i]));
  }
  if (std::isnan(sizes)) repair.outside = sizes;
  if (!coupled || std::isnan(sizes)) return repair;
  for (Index g = 0; g < length(totals); ++g) {
    const double excess = sum_of(out.data(), groups, g, 0) - totals[g];
    if (excess == 0.0) continue;
    repair.off = std::max(repair.off, std::fabs(excess));
    const int side = excess > 0.0 ? 1 : -1;
    const double weight = std::fabs(sum_of(out.data(), groups, g, side));
    // The sum that the heavier side must have, computed from the lighter side: weight − excess would lose all digits where that side is far lighter.
    const double wanted = side * (totals[g] - sum_of(out.data(), groups, g, -side));
    if (wanted >= 0.0 && weight > 0.0) {
      const double kept = std::min(wanted / weight, 1.0);
      for (Index i = 0; i < n; ++i)
        if (groups[i] == g && side * out[i] > 0.0) out[i] *= kept;
      continue;
    }
    const Vector bound = excess < 0.0 ? upper : lower;
    double room = 0.0;
    for (Index i = 0; i < n; ++i)
      if (groups[i] == g) room += bound[i] - out[i];
    // Where all are at their bounds already, the excess is a rounding error, and nothing moves.
    const double part = room != 0.0 ? std::min(-excess / room, 1.0) : 0.0;
    for (Index i = 0; i < n; ++i)
      if (groups[i] == g) out[i] += (bound[i] - out[i]) * part;
  }
  return repair;
}

}  // namespace gapless::proof
