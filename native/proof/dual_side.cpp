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

// h(β) of a sample, and its size: the computed h(β) is off by at most 16 units of that size.
struct Term {
  double value, size;
};

Term term_of(const DualBox& box, Index i, double beta) {
  return {box.term(i, beta), std::fabs(box.p[i] * beta) + box.epsilon[i] * std::fabs(beta) + box.d[i] * beta * beta};
}

// −c (a log a + (1 − a) log(1 − a)), computed from the lesser of a and 1 − a: two terms of one sign, each with all its digits.
Term term_of(const DualEntropy& entropy, Index i, double beta) {
  const double c = entropy.cost[i], a = entropy.y[i] * beta;
  if (!(c > 0.0)) return {0.0, 0.0};
  const double less = std::min(a, c - a) / c;
  if (!(less > 0.0)) return {0.0, 0.0};
  const double value = -c * (less * std::log(less) + (1.0 - less) * std::log1p(-less));
  return {value, value};
}

}  // namespace

Multiple best_multiple(const DualBox& box, Vector beta, double square) {
  struct Part {
    double linear = 0.0, bend = 0.0, largest = infinity;
    bool moved = false;
  };
  Sum linear_sum, bend_sum;
  Part all;
  for (const Part& part : by_pieces<Part>(length(beta), [&](Index begin, Index end) {
         Sum linear, bend;
         Part part;
         for (Index i = begin; i < end; ++i) {
           const double b = beta[i];
           if (b == 0.0) continue;
           part.moved = true;
           linear.add(box.p[i] * b - box.epsilon[i] * std::fabs(b));
           if (box.d[i] != 0.0) bend.add(box.d[i] * (b * b));
           part.largest = std::min(part.largest, (b > 0.0 ? box.upper[i] : box.lower[i]) / b);
         }
         part.linear = linear.value();
         part.bend = bend.value();
         return part;
       })) {
    linear_sum.add(part.linear);
    bend_sum.add(part.bend);
    all.largest = std::min(all.largest, part.largest);
    all.moved = all.moved || part.moved;
  }
  const double linear = linear_sum.value(), curvature = square + bend_sum.value(), largest = all.largest;
  const double plain = linear - 0.5 * curvature;
  if (!all.moved) return {1.0, 0.0, 0.0};
  if (linear <= 0.0) return {0.0, 0.0, plain};
  if (curvature <= 0.0) return largest == infinity ? Multiple{1.0, infinity, plain} : Multiple{largest, largest * linear, plain};
  double scale = std::min(linear / curvature, largest);
  if (std::fabs(scale - 1.0) < near_one) scale = 1.0;
  return {scale, scale * linear - 0.5 * scale * scale * curvature, plain};
}

Bounded separable(const DualTerms& dual, Vector beta) {
  struct Part {
    double sum = 0.0, sizes = 0.0;
  };
  return std::visit(
      [&](const auto& terms) {
        Sum sum;
        double sizes = 0.0;
        for (const Part& part : by_pieces<Part>(length(beta), [&](Index begin, Index end) {
               Sum sum;
               Part part;
               for (Index i = begin; i < end; ++i) {
                 if (beta[i] == 0.0) continue;
                 const Term term = term_of(terms, i, beta[i]);
                 sum.add(term.value);
                 part.sizes += term.size;
               }
               part.sum = sum.value();
               return part;
             })) {
          sum.add(part.sum);
          sizes += part.sizes;
        }
        const double value = sum.value();
        return Bounded{value, 16.0 * unit * sizes * (1.0 + 2.0 * static_cast<double>(length(beta)) * unit) + sum_error(length(beta), value, sizes)};
      },
      dual);
}

double largest_violation(const DualBox& box, Vector beta, Vector f, double shift, Places groups, Index n_groups, bool free) {
  double largest = 0.0;
  for (const double b : beta) largest = std::max(largest, std::fabs(b));
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
  for (const Part& part : by_pieces<Part>(length(beta), [&](Index begin, Index end) {
         Part part{std::vector<Ends>(n_groups), 0.0};
         Ends one;
         for (Index i = begin; i < end; ++i) {
           const double slope = box.p[i] - box.d[i] * beta[i] - (f[i] + shift);
           part.doubt += 0.0 * slope;
           if (n_groups == 1)
             one.widen(ends(i, slope));
           else
             part.groups[groups[i]].widen(ends(i, slope));
         }
         part.groups[0].widen(one);
         return part;
       })) {
    for (Index g = 0; g < n_groups; ++g) all.groups[g].widen(part.groups[g]);
    all.doubt += part.doubt;
  }
  if (std::isnan(all.doubt)) return all.doubt;
  double worst = 0.0;
  for (const Ends& each : all.groups) worst = std::max(worst, free ? each.top - each.bottom : std::max(each.top, -each.bottom));
  return worst;
}

}  // namespace gapless::proof
