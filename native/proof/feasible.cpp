#include "proof/feasible.hpp"

#include <algorithm>
#include <cmath>

#include "core/sums.hpp"
#include "proof/point_loops.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {
namespace {

constexpr double rounding = 2.0 * unit;  // of the sum of n numbers, as a share of n times the sum of their sizes

// The sums over one of several groups.
SideSums sides_of(Vector values, Places groups, Index g) {
  Sum sum, up, down;
  for (Index i = 0; i < length(groups); ++i)
    if (groups[i] == g) {
      sum.add(values[i]);
      (values[i] > 0.0 ? up : down).add(std::fabs(values[i]));
    }
  return {sum.value(), up.value(), down.value()};
}

// Moves the entries of a group that are neither zero nor at a bound, all the same share of their way to the upper or to the lower bound, so that the
// group's sum falls by `excess`. Returns whether these entries have room for that.
bool move_free(Vector lower, Vector upper, Places groups, Index g, double excess, Out out) {
  const Vector bound = excess < 0.0 ? upper : lower;
  const auto is_free = [&](Index i) { return groups[i] == g && out[i] != 0.0 && lower[i] < out[i] && out[i] < upper[i]; };
  Sum room;
  for (Index i = 0; i < length(out); ++i)
    if (is_free(i)) room.add(std::fabs(bound[i] - out[i]));
  const double share = std::fabs(excess) / room.value();
  if (!(share <= 1.0)) return false;
  for (Index i = 0; i < length(out); ++i)
    if (is_free(i)) out[i] = std::clamp(out[i] + (bound[i] - out[i]) * share, lower[i], upper[i]);
  return true;
}

}  // namespace

Repair feasible(Vector lower, Vector upper, Places groups, Vector totals, bool coupled, Vector beta, Out out) {
  const Index n = length(beta);
  const bool alone = totals.size() == 1;
  const PointLoops& loops = point_loops();
  const ClipSums clipped = loops.clip(lower.data(), upper.data(), beta.data(), n, out.data());
  if (std::isnan(clipped.finite)) return {clipped.finite, 0.0};
  Repair repair{clipped.outside, 0.0};
  if (!coupled) return repair;
  for (Index g = 0; g < length(totals); ++g) {
    const SideSums sums = alone ? clipped.sides : sides_of(out, groups, g);
    const double excess = sums.sum - totals[g];
    if (excess == 0.0) continue;
    repair.off = std::max(repair.off, std::fabs(excess));
    if (totals[g] != 0.0) {
      if (move_free(lower, upper, groups, g, excess, out)) continue;
      if (std::fabs(excess) <= rounding * static_cast<double>(n) * (sums.up + sums.down)) continue;
    }
    const int side = excess > 0.0 ? 1 : -1;
    const double weight = side > 0 ? sums.up : sums.down;
    // The sum that the heavier side must have, computed from the lighter side: weight − excess would lose all digits where that side is far lighter.
    const double wanted = side > 0 ? totals[g] + sums.down : sums.up - totals[g];
    if (wanted >= 0.0 && weight > 0.0) {
      const double kept = std::min(wanted / weight, 1.0);
      if (alone)
        loops.shrink(side, kept, n, out.data());
      else
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
