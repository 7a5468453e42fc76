// D of a dual point and P of a primal one from decision values of twice the digits (twofold.hpp): what is left of rounding is a few units in the last
// place of the values themselves. Points are taken as they stand; nothing but the offsets is chosen here.
#pragma once

#include "core/dual.hpp"
#include "proof/primal_side.hpp"
#include "proof/twofold_kernel.hpp"

namespace gapless::proof {

struct Sides {
  double plain, proven;  // the value as computed, and rounded outwards
};

// D(β) − what exact feasibility costs (proof/repair_loss.hpp), not below `proven`. f = Kβ, off by at most error; βᵀKβ = square, off by at most
// square_error; a regularised intercept adds shift (Σβ)² to it.
Sides twofold_dual(const DualTerms& dual, Places groups, Vector totals, bool free, Vector beta, TwoVector f, Vector error, Two square,
                   double square_error, double shift, double largest);

// The best offset of each group, given good ones: the distances from these have all digits that are left to them.
void twofold_offsets(const DualTerms& dual, Places groups, Vector totals, TwoVector f, Out offsets, std::span<Interval> intervals);

// ½ square + the price of the offsets + Σ c ℓ(y, f + offset), not above `proven`; ½b²/shift besides where shift is not zero.
Sides twofold_primal(const DualTerms& dual, Places groups, Vector totals, Vector offsets, TwoVector f, Vector error, Two square,
                     double square_error, double shift);

// The smallest margin y (f + b) of the samples with a cost is not below `margin`. A free b is the one in the middle between both classes.
struct Margin {
  double b, margin;
};
Margin twofold_margin(Vector y, Vector cost, bool free, double b, TwoVector f, Vector error);

// By how much every sample with a cost is at least inside its tube |p − f − b| ≤ ε; negative where one may be outside.
double twofold_room(const DualBox& box, Vector cost, double b, TwoVector f, Vector error);

}  // namespace gapless::proof
