#include "proof/dual_side.hpp"

#include <vector>

#include "core/sums.hpp"

namespace gapless::proof {
namespace {

constexpr double bound_width = 1e-12;  // of a box's width: what the repair of a sum may move a variable at its bound by
constexpr double near_one = 1e-9;      // a multiple so near one gains its square, below rounding; variables at their bound then stay there exactly

}  // namespace

Multiple best_multiple(const DualBox& box, Vector beta, double square) {
  Sum linear_sum, bend;
  double largest = infinity;
  bool moved = false;
  for (Index i = 0; i < length(beta); ++i) {
    const double b = beta[i];
    if (b == 0.0) continue;
    moved = true;
    linear_sum.add(box.p[i] * b - box.epsilon[i] * std::fabs(b));
    bend.add(box.d[i] * (b * b));
    largest = std::min(largest, (b > 0.0 ? box.upper[i] : box.lower[i]) / b);
  }
  const double linear = linear_sum.value(), curvature = square + bend.value();
  if (!moved) return {1.0, 0.0};
  if (linear <= 0.0) return {0.0, 0.0};
  if (curvature <= 0.0) return largest == infinity ? Multiple{1.0, infinity} : Multiple{largest, largest * linear};
  double scale = std::min(linear / curvature, largest);
  if (std::fabs(scale - 1.0) < near_one) scale = 1.0;
  return {scale, scale * linear - 0.5 * scale * scale * curvature};
}

double dual_sum(const DualTerms& dual, Vector beta) {
  return std::visit(
      [&](const auto& terms) {
        Sum sum;
        for (Index i = 0; i < length(beta); ++i) sum.add(terms.term(i, beta[i]));
        return sum.value();
      },
      dual);
}

double largest_violation(const DualBox& box, Vector beta, Vector f, double shift, Places groups, Index n_groups, bool free) {
  double largest = 0.0;
  for (const double b : beta) largest = std::max(largest, std::fabs(b));
  std::vector<double> tops(n_groups, -infinity), bottoms(n_groups, infinity);
  for (Index i = 0; i < length(beta); ++i) {
    const double b = beta[i], slope = box.p[i] - box.d[i] * b - (f[i] + shift);
    if (std::isnan(slope)) return slope;
    const double width = box.upper[i] - box.lower[i];
    const double slack = bound_width * (width < infinity ? width : largest);
    const Index g = groups[i];
    // |β| has its kink at zero.
    if (b < box.upper[i] - slack) tops[g] = std::max(tops[g], slope - (b >= 0.0 ? box.epsilon[i] : -box.epsilon[i]));
    if (b > box.lower[i] + slack) bottoms[g] = std::min(bottoms[g], slope - (b > 0.0 ? box.epsilon[i] : -box.epsilon[i]));
  }
  double worst = 0.0;
  for (Index g = 0; g < n_groups; ++g)
    worst = std::max(worst, free ? tops[g] - bottoms[g] : std::max(tops[g], -bottoms[g]));
  return worst;
}

}  // namespace gapless::proof
