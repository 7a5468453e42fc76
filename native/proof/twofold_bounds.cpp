#include "proof/twofold_bounds.hpp"

#include <cmath>
#include <vector>

#include "proof/dual_side.hpp"
#include "proof/loss.hpp"
#include "proof/repair_loss.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {
namespace {

constexpr double fine_unit = 0x1p-96;  // the relative error of one operation: 2⁻¹⁰⁰ (proof/twofold.hpp), counted sixteen times

// Σ h(β); `error` is a bound on its error, mostly that of d, a quotient that was rounded to float64.
Two separable_of(const DualBox& box, Vector beta, double& error) {
  Two sum;
  double bends = 0.0, sizes = 0.0;
  for (Index i = 0; i < length(beta); ++i) {
    const double b = beta[i];
    if (b == 0.0) continue;
    Two term = two_product(box.p[i], b) - two_product(box.epsilon[i], std::fabs(b));
    sizes += std::fabs(box.p[i] * b) + box.epsilon[i] * std::fabs(b);
    if (box.d[i] != 0.0) {
      const Two bend = two_product(b, b) * (0.5 * box.d[i]);
      bends += bend.hi;
      term = term - bend;
    }
    sum = sum + term;
  }
  error = 1.01 * (4.0 * unit * bends + fine_unit * static_cast<double>(length(beta) + 8) * (sizes + bends));
  return sum;
}

Two separable_of(const DualEntropy& entropy, Vector beta, double& error) {
  const Bounded found = separable(entropy, beta);
  error = found.error;
  return {found.value, 0.0};
}

// The largest loss c ℓ(y, v) of one sample, where v is off by at most `error`.
Largest largest_of(const DualBox& box, Index i, Two v, double error) {
  const Two apart = Two{box.p[i], 0.0} - v;
  if (box.d[i] == 0.0) {
    // ε is subtracted before p − v is rounded to float64, so that a loss near zero keeps its digits.
    const double over = (apart - Two{box.epsilon[i], 0.0}).value(), under = (-apart - Two{box.epsilon[i], 0.0}).value();
    if (std::isnan(over)) return {over, 0.0};
    const double e_over = error + 4.0 * unit * std::fabs(over), e_under = error + 4.0 * unit * std::fabs(under);
    const double up = (over + e_over) * box.upper[i], down = (under + e_under) * -box.lower[i], most = std::max(std::max(up, down), 0.0);
    const double reach = up > down ? e_over * box.upper[i] : e_under * -box.lower[i];
    return {most * (1.0 + 8.0 * unit), most > 0.0 ? reach + 12.0 * unit * most : 0.0};
  }
  return largest_loss_apart(box, i, apart.value(), error);
}

Largest largest_of(const DualEntropy& entropy, Index i, Two v, double error) {
  return largest_loss(entropy, i, loss(entropy, i, v.value()), error + unit * std::fabs(v.hi));
}

}  // namespace

Sides twofold_dual(const DualTerms& dual, Places groups, Vector totals, bool free, Vector beta, TwoVector f, Vector error, Two square,
                   double square_error, double shift, double largest) {
  if (square.hi < 0.0) square = Two{0.0, 0.0};  // as in bounds.cpp: βᵀKβ is not negative
  double doubt = 0.0;
  const Two terms = std::visit([&](const auto& each) { return separable_of(each, beta, doubt); }, dual);
  Two value = terms - square * 0.5;
  double sizes = std::fabs(terms.hi) + std::fabs(square.hi);
  if (shift > 0.0) {
    Two total;
    double size = 0.0;
    for (const double b : beta) {
      total = total + b;
      size += std::fabs(b);
    }
    value = value - total * total * (0.5 * shift);
    doubt += 2.0 * unit * shift * total.hi * total.hi;  // `shift` is s², rounded
    sizes += shift * size * size;  // the error of Σβ is relative to Σ|β|, since the terms of the sum may cancel
  }
  doubt += 0.5 * square_error + fine_unit * static_cast<double>(length(beta) + 8) * sizes;
  const double plain = value.value();
  double repair = 0.0;
  if (free) repair = repair_loss(dual, groups, totals, beta, {f.hi, beta.size()}, {error}, largest);
  const double proven = Bounded{plain - repair, 1.01 * doubt + 2.0 * unit * (std::fabs(plain) + std::fabs(repair))}.below();
  return {plain, std::isnan(proven) ? -infinity : proven};
}

void twofold_offsets(const DualTerms& dual, Places groups, Vector totals, TwoVector f, Out offsets, std::span<Interval> intervals) {
  const Index n = std::visit([](const auto& each) { return each.n; }, dual);
  std::vector<double> near(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) near[static_cast<std::size_t>(i)] = (f.at(i) + offsets[groups[i]]).value();
  for (Index g = 0; g < length(totals); ++g) {
    const Interval found = best_offset(dual, groups, g, totals[g], near);
    const double base = offsets[g];
    if (std::isnan(found.low) || std::isnan(found.high)) continue;
    intervals[g] = {base + found.low, base + found.high};
    offsets[g] = base + 0.5 * (found.low + found.high);
  }
}

Sides twofold_primal(const DualTerms& dual, Places groups, Vector totals, Vector offsets, TwoVector f, Vector error, Two square,
                     double square_error, double shift) {
  const Index n = std::visit([](const auto& each) { return each.n; }, dual);
  Two above, prices;
  double sizes = std::fabs(square.hi), excess = 0.0;
  std::visit(
      [&](const auto& terms) {
        for (Index i = 0; i < n; ++i) {
          const Largest most = largest_of(terms, i, f.at(i) + offsets[groups[i]], error[i]);
          above = above + most.value;
          excess += most.excess;
        }
      },
      dual);
  for (Index g = 0; g < length(totals); ++g) {
    prices = prices + two_product(totals[g], offsets[g]);
    sizes += std::fabs(totals[g] * offsets[g]);
  }
  Two value = square * 0.5 + prices + above;
  if (shift > 0.0) {
    const Two intercept = two_product(offsets[0], offsets[0]) * 0.5 / Two{shift, 0.0};
    value = value + intercept;
    sizes += intercept.hi;
  }
  const double plain = value.value();
  const double doubt = 0.5 * square_error + fine_unit * static_cast<double>(n + 8) * (sizes + above.hi) + 2.0 * unit * std::fabs(shift > 0.0 ? plain : 0.0);
  const double proven = Bounded{plain, 1.01 * doubt}.above();
  return {plain - excess, std::isfinite(proven) ? proven : infinity};
}

Margin twofold_margin(Vector y, Vector cost, bool free, double b, TwoVector f, Vector error) {
  if (free) {
    Index top = -1, bottom = -1;
    for (Index i = 0; i < length(y); ++i) {
      if (!(cost[i] > 0.0)) continue;
      if (y[i] > 0.0 && (top < 0 || (f.at(i) - f.at(top)).hi < 0.0)) top = i;
      if (y[i] < 0.0 && (bottom < 0 || (f.at(i) - f.at(bottom)).hi > 0.0)) bottom = i;
    }
    if (top >= 0 && bottom >= 0) b = -0.5 * (f.at(top) + f.at(bottom)).value();
  }
  double least = infinity;
  for (Index i = 0; i < length(y); ++i) {
    if (!(cost[i] > 0.0)) continue;
    const double margin = ((f.at(i) + b) * y[i]).value();
    least = std::min(least, margin - error[i] - 2.0 * unit * std::fabs(margin));
    if (std::isnan(margin)) return {b, margin};
  }
  return {b, least};
}

double twofold_room(const DualBox& box, Vector cost, double b, TwoVector f, Vector error) {
  double least = infinity;
  for (Index i = 0; i < box.n; ++i) {
    if (!(cost[i] > 0.0)) continue;
    const Two room = Two{box.epsilon[i], 0.0} - magnitude(Two{box.p[i], 0.0} - (f.at(i) + b));
    if (std::isnan(room.hi)) return room.hi;
    // Where f and the targets are whole numbers, say, there is no error at all, and a sample on the edge (zero) is inside.
    least = std::min(least, room.value() - error[i]);
  }
  return least;
}

}  // namespace gapless::proof
