#include "proof/repair_loss.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/sums.hpp"
#include "proof/point_loops.hpp"
#include "proof/twofold.hpp"

namespace gapless::proof {
namespace {

// The derivative of h at β, the end of a way upwards (`rises`) or downwards, with a bound on its rounding; at a kink the derivative of the way's
// side.
Bounded slope_at(const DualBox& box, Index i, double beta, bool rises) {
  const double sign = beta > 0.0 || (beta == 0.0 && rises) ? 1.0 : -1.0;
  const double bend = box.d[i] * beta;
  return {box.p[i] - sign * box.epsilon[i] - bend, 4.0 * unit * (std::fabs(box.p[i]) + box.epsilon[i] + std::fabs(bend))};
}

Bounded slope_at(const DualEntropy& entropy, Index i, double beta, bool) {
  if (entropy.cost[i] <= 0.0) return {0.0, 0.0};
  const double a = entropy.y[i] * beta, rest = entropy.cost[i] - a;  // their logarithms are rounded, and so are a and rest themselves
  const double up = std::log(std::max(rest, 1e-300)), down = std::log(std::max(a, 1e-300));
  return {entropy.y[i] * (up - down), 8.0 * unit * (1.0 + std::fabs(up) + std::fabs(down))};
}

struct Group {
  double off = 0.0;                  // Σβ − total
  double up = 0.0, down = 0.0;       // the sums of the positive β and of the |negative β|
  double share = 0.0, spread = 0.0;  // the share of their way to zero, or to a bound, that entries move, and a bound on the error of that share
  int side = 0;                      // the repair: ±1 scales the positive or the negative side, ±2 moves to the upper or the lower bound
  double moved = 0.0;                // a bound on Σ |change of β|
};

void sum_up(Places groups, Vector totals, Vector beta, std::span<Group> all) {
  std::vector<Sum> sums(all.size());
  for (Index i = 0; i < length(beta); ++i) {
    const double b = beta[i];
    if (b == 0.0) continue;
    const std::size_t g = static_cast<std::size_t>(groups[i]);
    sums[g].add(b);
    all[g].up += std::max(b, 0.0);
    all[g].down += std::max(-b, 0.0);
  }
  for (std::size_t g = 0; g < all.size(); ++g) {
    sums[g].add(-totals[g]);
    all[g].off = sums[g].value();
  }
}

// The sign of the exact Σ values − total over a group: an expansion of numbers that do not overlap holds the exact sum, and its last part that is not
// zero has its sign (Shewchuk 1997).
int exact_side(Places groups, Index g, double total, const double* values) {
  std::vector<double> parts;
  const auto add = [&](double value) {
    std::size_t kept = 0;
    for (const double part : parts) {
      const Two sum = std::fabs(value) < std::fabs(part) ? two_sum(part, value) : two_sum(value, part);
      if (sum.lo != 0.0) parts[kept++] = sum.lo;
      value = sum.hi;
    }
    parts.resize(kept);
    parts.push_back(value);
  };
  for (Index i = 0; i < length(groups); ++i)
    if (groups[i] == g) add(values[i]);
  add(-total);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if (*part != 0.0) return *part > 0.0 ? 1 : -1;
  return 0;
}

// repair_loss() with the groups in `all`, one for each total.
template <class Terms>
double loss_of(const Terms& terms, Places groups, Vector totals, Vector beta, Vector f, const Errors& errors, double largest, std::span<Group> all) {
  const Index n = length(beta);
  if (all.size() == 1) {
    const SideSums sums = point_loops().sides(beta.data(), -totals[0], 0, n);
    all[0].off = sums.sum;
    all[0].up = sums.up;
    all[0].down = sums.down;
  } else {
    sum_up(groups, totals, beta, all);
  }
  const auto room_of = [&](std::size_t g, bool over) {
    double room = 0.0;
    for (Index i = 0; i < n; ++i)
      if (groups[i] == count(g)) room += over ? beta[i] - terms.lower[i] : terms.upper[i] - beta[i];
    return room;
  };
  bool any = false, far = false;  // whether any group is repaired, and whether one is by moving to a bound
  for (std::size_t g = 0; g < totals.size(); ++g) {
    Group& group = all[g];
    const double off = group.off, error = sum_error(n + 1, off, group.up + group.down + std::fabs(totals[g]));
    const double r = std::fabs(off) + error;
    if (r == 0.0) continue;
    const bool over = off >= 0.0;
    double whole = over ? group.up : group.down;
    if (whole >= 2.0 * r) {
      group.side = over ? 1 : -1;
    } else {
      whole = room_of(g, over);
      if (!(whole >= 2.0 * r) || !std::isfinite(whole)) {
        const int side = exact_side(groups, count(g), totals[g], beta.data());
        if (side == 0) continue;
        // The bounds are hardly farther away than the total: exact sums tell whether there is a feasible point on the way to them. Any share of the
        // way may be the one that meets the total. The slope of an entropy has no bound there.
        const double* bound = side > 0 ? terms.lower : terms.upper;
        if (Terms::is_entropy || !std::isfinite(whole) || side * exact_side(groups, count(g), totals[g], bound) > 0) return infinity;
        group.side = side > 0 ? -2 : 2;
        group.share = group.spread = 0.5;
        any = far = true;
        continue;
      }
      group.side = over ? -2 : 2;
      far = true;
    }
    any = true;
    group.share = std::fabs(off) / whole;
    // The sum `whole` is rounded n times at most.
    group.spread = error / whole * 1.01 + group.share * 2.0 * unit * static_cast<double>(n + 4);
  }
  if (!any) return 0.0;
  double gain = 0.0, doubt = 0.0;
  if constexpr (std::is_same_v<Terms, DualBox>)
    if (all.size() == 1 && !far) {
      const Group& one = all[0];
      const ShrinkSums sums = point_loops().shrink_loss(
          {{terms, beta.data(), f.data(), 0, n}, errors, static_cast<double>(one.side), one.share, one.spread, one.share + one.spread});
      const double moved = sums.moved * largest;
      return -sums.gain + 1.01 * (sums.doubt + 0.5 * moved * moved);
    }
  for (Index i = 0; i < n; ++i) {
    const double b = beta[i];
    if (b == 0.0 && !far) continue;
    Group& group = all[static_cast<std::size_t>(groups[i])];
    if (group.side == 0) continue;
    double way = 0.0;  // the way of β to zero or to its bound, with its sign, of which it moves a share
    if (std::abs(group.side) == 1)
      way = group.side * b > 0.0 ? -b : 0.0;
    else
      way = (group.side > 0 ? terms.upper[i] : terms.lower[i]) - b;
    if (way == 0.0) continue;
    const double most = group.share + group.spread;
    // A point certainly beyond the end of the move: h is concave, so that its slope there is no better than anywhere on the move.
    const double to = std::nextafter(b + 2.0 * most * way, way > 0.0 ? infinity : -infinity);
    const Bounded slope = slope_at(terms, i, to, way > 0.0);
    const double rise = slope.value - f[i];
    gain += group.share * way * rise;
    const double error = slope.error + errors.at(i, f[i]) + 8.0 * unit * (std::fabs(slope.value) + std::fabs(f[i]));
    doubt += std::fabs(way) * (group.spread * std::fabs(rise) + most * error);
    // The sum of the gains is rounded n times.
    doubt += 4.0 * unit * static_cast<double>(n) * most * std::fabs(way * rise);
    group.moved += most * std::fabs(way);
  }
  double moved = 0.0;
  for (const Group& group : all) moved += group.moved * largest;
  return -gain + 1.01 * (doubt + 0.5 * moved * moved);
}

}  // namespace

double repair_loss(const DualTerms& dual, Places groups, Vector totals, Vector beta, Vector f, const Errors& errors, double largest) {
  Group one;
  std::vector<Group> several(totals.size() == 1 ? 0 : totals.size());
  const std::span<Group> all = several.empty() ? std::span<Group>(&one, totals.size()) : several;
  return std::visit([&](const auto& terms) { return loss_of(terms, groups, totals, beta, f, errors, largest, all); }, dual);
}

}  // namespace gapless::proof
