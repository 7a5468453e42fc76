#include "proof/dual_side.hpp"

#include <vector>

#include "core/sums.hpp"
#include "proof/pieces.hpp"

namespace gapless::proof {
namespace {

// A share of a box's width: a β so near to a bound counts as at it, since the repair of a sum (proof/feasible.hpp) may have moved it by so much. A
// sum of n terms is off by at most n u of their sizes: below this share for 9,000 terms at worst, and for far more where roundings cancel.
constexpr double bound_width = 1e-12;
// A multiple of β so near to one counts as one: it would gain the square of this, 1e-18, which float64 does not see, and variables at their bounds
// stay there exactly.
constexpr double near_one = 1e-9;

// The steepest rise of D among some samples (by a rise of β), and its smallest fall (by a fall of β).
struct Ends {
  double top = -infinity, bottom = infinity;

  void widen(const Ends& other) {
    top = std::max(top, other.top);
    bottom = std::min(bottom, other.bottom);
  }
};

// −c (a log a + (1 − a) log(1 − a)), computed from the lesser of a and 1 − a: two terms of one sign, each with all its digits.
double term_of(const DualEntropy& entropy, Index i, double beta) {
  const double c = entropy.cost[i], a = entropy.y[i] * beta;
  if (!(c > 0.0)) return 0.0;
  const double less = std::min(a, c - a) / c;
  if (!(less > 0.0)) return 0.0;
  return -c * (less * std::log(less) + (1.0 - less) * std::log1p(-less));
}

TermSums terms_of(const DualEntropy& entropy, Vector beta, Index begin, Index end) {
  Sum sum;
  double sizes = 0.0;
  for (Index i = begin; i < end; ++i) {
    if (beta[i] == 0.0) continue;
    const double term = term_of(entropy, i, beta[i]);
    sum.add(term);
    sizes += term;
  }
  return {sum.value(), sizes};
}

}  // namespace

Multiple best_multiple(const DualBox& box, Vector beta, double square) {
  Sum linear_sum, bend_sum;
  double room = infinity, size = 0.0;
  by_pieces(
      length(beta), [&](Index begin, Index end) { return point_loops().multiple({box, beta.data(), nullptr, begin, end}); },
      [&](const MultipleSums& part) {
        linear_sum.add(part.linear);
        bend_sum.add(part.bend);
        room = std::min(room, part.room);
        size = std::max(size, part.largest);
      });
  const double linear = linear_sum.value(), curvature = square + bend_sum.value();
  const double plain = linear - 0.5 * curvature;
  if (size == 0.0) return {1.0, 0.0, 0.0};
  if (linear <= 0.0) return {0.0, 0.0, plain};
  if (curvature <= 0.0) return room == infinity ? Multiple{1.0, infinity, plain} : Multiple{room, room * linear, plain};
  double scale = std::min(linear / curvature, room);
  if (std::fabs(scale - 1.0) < near_one) scale = 1.0;
  return {scale, scale * linear - 0.5 * scale * scale * curvature, plain};
}

Bounded separable(const DualTerms& dual, Vector beta) {
  Sum sum;
  double sizes = 0.0;
  by_pieces(
      length(beta),
      [&](Index begin, Index end) {
        if (const DualBox* const box = std::get_if<DualBox>(&dual)) return point_loops().terms({*box, beta.data(), nullptr, begin, end});
        return terms_of(std::get<DualEntropy>(dual), beta, begin, end);
      },
      [&](const TermSums& part) {
        sum.add(part.sum);
        sizes += part.sizes;
      });
  const double value = sum.value();
  return {value, 16.0 * unit * sizes * (1.0 + 2.0 * static_cast<double>(length(beta)) * unit) + sum_error(length(beta), value, sizes)};
}

SlopeEnds slope_ends(const DualBox& box, Vector beta, Vector f, double shift) {
  const double largest = point_loops().largest(beta.data(), length(beta));
  SlopeEnds all;
  by_pieces(
      length(beta), [&](Index begin, Index end) { return point_loops().ends({box, beta.data(), f.data(), begin, end}, shift, bound_width, largest); },
      [&](const SlopeEnds& part) {
        all.top = std::max(all.top, part.top);
        all.bottom = std::min(all.bottom, part.bottom);
        all.highest = std::max(all.highest, part.highest);
        all.lowest = std::min(all.lowest, part.lowest);
        all.doubt += part.doubt;
      });
  return all;
}

double largest_violation(const SlopeEnds& ends, bool free) {
  if (std::isnan(ends.doubt)) return ends.doubt;
  return std::max(0.0, free ? ends.top - ends.bottom : std::max(ends.top, -ends.bottom));
}

double largest_violation(const DualBox& box, Vector beta, Vector f, double shift, Places groups, Index n_groups, bool free) {
  if (n_groups == 1) return largest_violation(slope_ends(box, beta, f, shift), free);
  const double largest = point_loops().largest(beta.data(), length(beta));
  // The slopes of D for a rise and for a fall of one β, where `slope` lacks the kink of |β|; −∞ and ∞ where β is at its bound and cannot move.
  const auto ends = [&](Index i, double slope) {
    const double b = beta[i], width = box.upper[i] - box.lower[i], slack = bound_width * (width < infinity ? width : largest);
    const double rise = slope - (b >= 0.0 ? box.epsilon[i] : -box.epsilon[i]), fall = slope - (b > 0.0 ? box.epsilon[i] : -box.epsilon[i]);
    return Ends{b < box.upper[i] - slack ? rise : -infinity, b > box.lower[i] + slack ? fall : infinity};
  };
  struct Part {
    std::vector<Ends> groups;
    double doubt = 0.0;  // becomes NaN where a slope is NaN or infinite
  };
  Part all{std::vector<Ends>(n_groups), 0.0};
  by_pieces(
      length(beta),
      [&](Index begin, Index end) {
        Part part{std::vector<Ends>(n_groups), 0.0};
        for (Index i = begin; i < end; ++i) {
          const double slope = box.p[i] - box.d[i] * beta[i] - (f[i] + shift);
          part.doubt += 0.0 * slope;
          part.groups[groups[i]].widen(ends(i, slope));
        }
        return part;
      },
      [&](const Part& part) {
        for (Index g = 0; g < n_groups; ++g) all.groups[g].widen(part.groups[g]);
        all.doubt += part.doubt;
      });
  if (std::isnan(all.doubt)) return all.doubt;
  double worst = 0.0;
  for (const Ends& each : all.groups) worst = std::max(worst, free ? each.top - each.bottom : std::max(each.top, -each.bottom));
  return worst;
}

}  // namespace gapless::proof
