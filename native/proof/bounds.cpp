#include "proof/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/sums.hpp"
#include "proof/dual_side.hpp"
#include "proof/pieces.hpp"
#include "proof/repair_loss.hpp"

namespace gapless::proof {

namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();

// βᵀf and Σβ, each with a bound on its error, and whether all f and both sums are finite.
struct Square {
  Bounded product, total;
  bool is_finite;
};

// βᵀf is computed where `products` asks for it (a linear problem knows ‖w‖² without it), Σβ where `totals` asks for it.
Square square_of(Vector beta, Vector f, const Errors& errors, bool products, bool totals) {
  struct Part {
    double product = 0.0, total = 0.0, finite = 0.0, slack = 0.0, products = 0.0, sizes = 0.0;
  };
  Sum product, total;
  Part all;
  for (const Part& part : by_pieces<Part>(length(f), [&](Index begin, Index end) {
         Sum product, total;
         Part part;
         for (Index i = begin; i < end; ++i) part.finite += 0.0 * f[i];  // becomes NaN where an f is NaN or infinite
         if (products)
           for (Index i = begin; i < end; ++i) {
             const double b = beta[i];
             if (b == 0.0) continue;
             product.add(b * f[i]);
             part.slack += std::fabs(b) * errors.at(i, f[i]);
             part.products += std::fabs(b * f[i]);
           }
         if (totals)
           for (Index i = begin; i < end; ++i) {
             total.add(beta[i]);
             part.sizes += std::fabs(beta[i]);
           }
         part.product = product.value();
         part.total = total.value();
         return part;
       })) {
    product.add(part.product);
    total.add(part.total);
    all.finite += part.finite;
    all.slack += part.slack;
    all.products += part.products;
    all.sizes += part.sizes;
  }
  const Index n = length(f);
  const double grown = 1.0 + 2.0 * static_cast<double>(n) * unit;  // the sums of sizes are rounded n times at most
  const double q = product.value(), t = total.value();
  return {{q, grown * (all.slack + 2.0 * unit * all.products) + sum_error(n, q, all.products)},
          {t, sum_error(n, t, all.sizes)},
          std::isfinite(q + t + all.finite)};
}

// The offset of each group (the middle of its interval), and the terms of P that belong to offsets: ½b²/s² of a regularised intercept, the price
// Σ total · offset, and the sum of the price's absolute terms, which its rounding is relative to.
struct Offsets {
  std::vector<double> middles;
  double intercept = 0.0, price = 0.0, prices = 0.0;
};

// The best offsets for decision values f where offsets are free; else the offset b = s² Σβ of a regularised intercept. Writes the intervals
// `offsets`.

Offsets offsets_of(const DualTerms& dual, Places groups, Vector totals, Options options, Vector f, double b, double shift,
                   std::span<Interval> offsets) {
  const Index n_groups = length(totals);
  Offsets out{std::vector<double>(n_groups)};
  for (Interval& each : offsets) each = {b, b};
  if (!options.primal) return out;
  for (Index g = 0; g < n_groups; ++g) {
    if (options.free) offsets[g] = best_offset(dual, groups, g, totals[g], f);
    out.middles[g] = 0.5 * (offsets[g].low + offsets[g].high);
    out.price += totals[g] * out.middles[g];
    out.prices += std::fabs(totals[g] * out.middles[g]);
  }
  out.intercept = shift > 0.0 ? 0.5 * b * (b / shift) : 0.0;
  return out;
}

// P as computed, not rounded outwards.
double plain_primal(double norm, const Offsets& at, double losses) { return 0.5 * norm + at.intercept + at.price + losses; }

}  // namespace

Errors scaled(Errors errors, double scale) {
  // The sizes count at least 16 roundings (ROUNDINGS in proof/outward.py); sβ adds one: a factor of 17/16, and 1.07 is above that.
  errors.factor *= 1.07 * scale;
  errors.relative += 2.0 * unit;
  return errors;
}

Bounds bounds(const DualTerms& dual, Places groups, Vector totals, Options options, Out beta, Out f, Errors errors, const Weights& weights,
              double shift, std::span<Interval> offsets, std::span<Interval> plain_offsets) {
  const bool known = !std::isnan(weights.norm);
  Square square = square_of(beta, f, errors, !known, shift > 0.0);
  double norm = known ? weights.norm : square.product.value;  // ‖w‖²: twice the regulariser, without a regularised intercept's part
  const double whole = norm + shift * square.total.value * square.total.value;
  if (!square.is_finite || !std::isfinite(whole)) return {nan, 1.0, -infinity, nan, infinity, 0.0, 0.0, -infinity, infinity};
  const DualBox* const box = std::get_if<DualBox>(&dual);
  double scale = 1.0, own_dual = 0.0, own_primal = infinity;
  bool unbounded = false;
  if (box != nullptr && options.multiple) {
    const Multiple best = best_multiple(*box, beta, whole);
    scale = best.scale;
    own_dual = best.plain;
    unbounded = best.value == infinity;
  }
  if (scale != 1.0) {
    if (options.plain) {
      const Offsets at = offsets_of(dual, groups, totals, options, f, shift * square.total.value, shift, plain_offsets);
      if (options.primal) own_primal = plain_primal(norm, at, losses_at(dual, groups, at.middles, f));
    }
    for (Index i = 0; i < length(beta); ++i) {
      f[i] *= scale;
      beta[i] *= scale;
      // A product may be rounded past a bound.
      if (box != nullptr) beta[i] = std::min(std::max(beta[i], box->lower[i]), box->upper[i]);
    }
    errors = scaled(errors, scale);
    square = square_of(beta, f, errors, !known, shift > 0.0);
    if (!known) norm = square.product.value;
  }
  if (known) norm *= scale * scale;
  const double grown = known ? 1.07 * scale * scale : 0.0;
  const Bounded regulariser{norm, known ? grown * weights.norm_error + 4.0 * unit * norm : square.product.error};
  const Bounded curvature{norm, known ? grown * weights.square_error + 4.0 * unit * norm : square.product.error};
  const double total = std::fabs(square.total.value) + square.total.error;
  Bounds out{whole, scale, -infinity, nan, infinity, 0.0, 0.0, own_dual, own_primal};

  // D
  const Bounded terms = separable(dual, beta);
  const double shifted = shift * total * total * (1.0 + 4.0 * unit);
  const double plain = terms.value - 0.5 * curvature.value - 0.5 * shift * square.total.value * square.total.value;
  if (scale == 1.0) out.plain_dual = plain;
  const double repair =
      options.free ? repair_loss(dual, groups, totals, beta, f, errors, weights.largest) : 0.0;
  const double proven = Bounded{terms.below() - 0.5 * curvature.above() - 0.5 * shifted - repair, 8.0 * unit * std::fabs(plain)}.below();
  out.dual = std::isnan(proven) ? -infinity : proven;
  out.dual_rounding = std::isfinite(plain) ? std::max(0.0, plain - out.dual) : 0.0;  // infinite where rounding alone leaves no bound

  if (unbounded) out.dual = infinity;  // as float64 computes it: the caller checks it in exact arithmetic (proof/exact_ray.py)

  const double b = shift * square.total.value;
  const Index n_groups = length(totals);
  if (box != nullptr) out.violation = largest_violation(*box, beta, f, b, groups, n_groups, options.free);
  const Offsets found = offsets_of(dual, groups, totals, options, f, b, shift, offsets);
  if (scale == 1.0) std::copy(offsets.begin(), offsets.end(), plain_offsets.begin());
  if (!options.primal) return out;

  // P
  const LossSums losses = loss_bounds(dual, groups, found.middles, f, errors);
  if (scale == 1.0 && options.plain) out.plain_primal = plain_primal(norm, found, losses.plain);
  const double above = Bounded{0.5 * regulariser.above() + found.intercept + losses.above + found.price,
                               8.0 * unit * (std::fabs(norm) + found.intercept + losses.above + found.prices)}.above();
  if (std::isfinite(above)) out.primal = above;
  const double value = 0.5 * norm + found.intercept + found.price + losses.above;
  const double doubt = std::isfinite(above) ? above - value + losses.rounding : infinity;
  out.primal_rounding = std::isfinite(0.5 * norm + found.price) && !std::isnan(doubt) ? doubt : 0.0;
  return out;
}

}  // namespace gapless::proof
