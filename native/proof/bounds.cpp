#include "proof/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/sums.hpp"
#include "proof/dual_side.hpp"
#include "proof/pieces.hpp"
#include "proof/point_loops.hpp"
#include "proof/repair_loss.hpp"

namespace gapless::proof {

namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double window_steps = 8.0;  // by hand: about so many steps beyond each end of the slopes of D are looked at for the best offset

// βᵀf and Σβ, each with a bound on its error, and whether all f and both sums are finite.
struct Square {
  Bounded product, total;
  bool is_finite;
};

// βᵀf is computed where `products` asks for it (a linear problem knows ‖w‖² without it), Σβ where `totals` asks for it.
Square square_of(Vector beta, Vector f, const Errors& errors, bool products, bool totals) {
  struct Part {
    SquareSums square;
    SideSums sides;
  };
  Sum product, total;
  SquareSums all;
  double sizes = 0.0;
  by_pieces(
      length(f),
      [&](Index begin, Index end) {
        const PointLoops& loops = point_loops();
        Part part{loops.square(beta.data(), f.data(), errors, begin, end), {}};
        if (totals) part.sides = loops.sides(beta.data(), 0.0, begin, end);
        return part;
      },
      [&](const Part& part) {
        all.finite += part.square.finite;
        total.add(part.sides.sum);
        sizes += part.sides.up + part.sides.down;
        if (!products) return;
        product.add(part.square.product);
        all.slack += part.square.slack;
        all.products += part.square.products;
      });
  const Index n = length(f);
  const double grown = 1.0 + 2.0 * static_cast<double>(n) * unit;  // the sums of sizes are rounded n times at most
  const double q = product.value(), t = total.value();
  return {{q, grown * (all.slack + 2.0 * unit * all.products) + sum_error(n, q, all.products)},
          {t, sum_error(n, t, sizes)},
          std::isfinite(q + t + all.finite)};
}

// The offset of each group (the middle of its interval), and the terms of P that belong to offsets: ½b²/s² of a regularised intercept, the price
// Σ total · offset, and the sum of the price's absolute terms, which its rounding is relative to.
struct Offsets {
  std::vector<double> middles;
  double intercept = 0.0, price = 0.0, prices = 0.0;
};

// Where the best offsets of a point with such slopes of D are expected, if d = 0. At an offset above the steepest rise every sample that is called to
// its upper bound is there already, so that no more than Σβ is called for, and S is not below zero; at one below the smallest fall it is, likewise, not
// above zero. Some steps more on both sides show where it ceases to be zero.
Interval window_of(const SlopeEnds& ends, Index n) {
  const double more = window_steps / static_cast<double>(n) * (ends.highest - ends.lowest);
  return {std::min(ends.top, ends.bottom) - more, std::max(ends.top, ends.bottom) + more};
}

// The same where no step is further away than `moved` from where it was.
Interval widened(Interval window, double moved) {
  const double more = (1.0 + 1e-9) * moved + 8.0 * unit * (std::fabs(window.low) + std::fabs(window.high));
  return {window.low - more, window.high + more};
}

// The best offsets for decision values f where offsets are free; else the offset b = s² Σβ of a regularised intercept. Writes the intervals
// `offsets`. `near` is where the interval of a single group is expected, or null.
Offsets offsets_of(const DualTerms& dual, Places groups, Vector totals, Options options, Vector f, double b, double shift, const Interval* near,
                   std::span<Interval> offsets) {
  const Index n_groups = length(totals);
  Offsets out{std::vector<double>(n_groups)};
  for (Interval& each : offsets) each = {b, b};
  if (!options.primal) return out;
  for (Index g = 0; g < n_groups; ++g) {
    if (options.free) offsets[g] = best_offset(dual, groups, g, totals[g], f, near);
    out.middles[g] = 0.5 * (offsets[g].low + offsets[g].high);
    out.price += totals[g] * out.middles[g];
    out.prices += std::fabs(totals[g] * out.middles[g]);
  }
  out.intercept = shift > 0.0 ? 0.5 * b * (b / shift) : 0.0;
  return out;
}

// P as computed, not rounded outwards.
double plain_primal(double norm, const Offsets& at, double losses) { return 0.5 * norm + at.intercept + at.price + losses; }

// P at offsets, where each loss is the largest that its error allows, and a number that P is not above; `norm` is ‖w‖².
struct PrimalValue {
  double value, above;
};

PrimalValue primal_at(const Bounded& norm, const Offsets& at, const LossSums& losses) {
  const double above = Bounded{0.5 * norm.above() + at.intercept + losses.above + at.price,
                               8.0 * unit * (std::fabs(norm.value) + at.intercept + losses.above + at.prices)}.above();
  return {plain_primal(norm.value, at, losses.above), std::isfinite(above) ? above : infinity};
}

}  // namespace

Errors scaled(Errors errors, double scale) {
  // The sizes count at least 16 roundings (ROUNDINGS in proof/outward.py); sβ adds one: a factor of 17/16, and 1.07 is above that.
  errors.factor *= 1.07 * scale;
  errors.relative += 2.0 * unit;
  return errors;
}

namespace {

// What both sides of a proof need of a point: Σβ and ‖w‖² (twice the regulariser, without a regularised intercept's part), and the part βᵀKβ of D.
struct Sums {
  Square square;
  Bounded norm, curvature;
};

Sums sums_of(const Square& square, const Weights& weights, double scale) {
  if (std::isnan(weights.norm)) return {square, square.product, square.product};
  const double norm = scale * scale * weights.norm, grown = 1.07 * scale * scale;
  return {square, {norm, grown * weights.norm_error + 4.0 * unit * norm}, {norm, grown * weights.square_error + 4.0 * unit * norm}};
}

// D at a point as computed, and a number that it is not below.
struct DualValue {
  double plain, proven;
};

DualValue dual_at(const DualTerms& dual, Places groups, Vector totals, bool free, Vector beta, Vector f, const Errors& errors, const Sums& sums,
                  double largest, double shift) {
  const Bounded terms = separable(dual, beta), total = sums.square.total;
  const double size = std::fabs(total.value) + total.error, shifted = shift * size * size * (1.0 + 4.0 * unit);
  const double plain = terms.value - 0.5 * sums.curvature.value - 0.5 * shift * total.value * total.value;
  const double repair = free ? repair_loss(dual, groups, totals, beta, f, errors, largest) : 0.0;
  // βᵀKβ is not negative: of a K that is positive semi-definite but for the rounding of its entries, a negative one counts as zero.
  const double proven = Bounded{terms.below() - 0.5 * std::max(0.0, sums.curvature.above()) - 0.5 * shifted - repair, 8.0 * unit * std::fabs(plain)}.below();
  return {plain, std::isnan(proven) ? -infinity : proven};
}

}  // namespace

Bounds bounds(const DualTerms& dual, Places groups, Vector totals, Options options, Out beta, Out f, Errors errors, const Weights& weights,
              double shift, std::span<Interval> offsets, std::span<Interval> plain_offsets) {
  const bool known = !std::isnan(weights.norm);
  Square square = square_of(beta, f, errors, !known, shift > 0.0);
  const double whole = (known ? weights.norm : square.product.value) + shift * square.total.value * square.total.value;
  if (!square.is_finite || !std::isfinite(whole)) return {nan, 1.0, -infinity, nan, infinity, 0.0, 0.0, {-infinity, infinity, -infinity, infinity}};
  const DualBox* const box = std::get_if<DualBox>(&dual);
  double scale = 1.0;
  Plain own{0.0, infinity, -infinity, infinity};
  bool unbounded = false;
  if (box != nullptr && options.multiple) {
    const Multiple best = best_multiple(*box, beta, whole);
    scale = best.scale;
    own.dual = best.plain;
    unbounded = best.value == infinity;
  }
  const bool alone = box != nullptr && totals.size() == 1;
  SlopeEnds ends;
  Interval window{-infinity, infinity};
  if (alone) {
    ends = slope_ends(*box, beta, f, shift * square.total.value);
    if (options.free) window = window_of(ends, length(f));
  }
  const Interval* const near = alone ? &window : nullptr;
  if (scale != 1.0) {
    const Sums sums = sums_of(square, weights, 1.0);
    if (options.outward) own.below = dual_at(dual, groups, totals, options.free, beta, f, errors, sums, weights.largest, shift).proven;
    if (options.plain) {
      const Offsets at = offsets_of(dual, groups, totals, options, f, shift * square.total.value, shift, near, plain_offsets);
      if (options.primal) {
        const LossSums losses = options.outward ? loss_bounds(dual, groups, at.middles, f, errors)
                                                : LossSums{infinity, 0.0, losses_at(dual, groups, at.middles, f)};
        own.primal = plain_primal(sums.norm.value, at, losses.plain);
        own.above = primal_at(sums.norm, at, losses).above;
      }
      if (alone) window = plain_offsets[0];
    }
    window = widened(window, std::fabs(scale - 1.0) * point_loops().largest(f.data(), length(f)));
    point_loops().scale(*box, scale, length(beta), beta.data(), f.data());
    errors = scaled(errors, scale);
    square = square_of(beta, f, errors, !known, shift > 0.0);
  }
  const Sums sums = sums_of(square, weights, scale);
  Bounds out{whole, scale, -infinity, nan, infinity, 0.0, 0.0, own};

  // D
  const auto [plain, proven] = dual_at(dual, groups, totals, options.free, beta, f, errors, sums, weights.largest, shift);
  out.dual = proven;
  out.dual_rounding = std::isfinite(plain) ? std::max(0.0, plain - out.dual) : 0.0;  // infinite where rounding alone leaves no bound
  if (scale == 1.0) out.own.dual = plain, out.own.below = proven;

  if (unbounded) out.dual = infinity;  // as float64 computes it: the caller checks it in exact arithmetic (proof/exact_ray.py)

  const double b = shift * square.total.value;
  const Index n_groups = length(totals);
  if (alone)
    out.violation = largest_violation(scale == 1.0 ? ends : slope_ends(*box, beta, f, b), options.free);
  else if (box != nullptr)
    out.violation = largest_violation(*box, beta, f, b, groups, n_groups, options.free);
  const Offsets found = offsets_of(dual, groups, totals, options, f, b, shift, near, offsets);
  if (scale == 1.0) std::copy(offsets.begin(), offsets.end(), plain_offsets.begin());
  if (!options.primal) return out;

  // P
  const LossSums losses = loss_bounds(dual, groups, found.middles, f, errors);
  const auto [value, above] = primal_at(sums.norm, found, losses);
  out.primal = above;
  if (scale == 1.0 && options.plain) out.own.primal = plain_primal(sums.norm.value, found, losses.plain), out.own.above = above;
  const double doubt = std::isfinite(above) ? above - value + losses.rounding : infinity;
  out.primal_rounding = std::isfinite(0.5 * sums.norm.value + found.price) && !std::isnan(doubt) ? doubt : 0.0;
  return out;
}

}  // namespace gapless::proof
