// D of a dual point and P of a primal point from decision values of twice the digits (twofold.hpp): both are then rounded by a few units in their
// last place. Points are taken as they stand; only the offsets are chosen here.
#pragma once

#include "core/dual.hpp"
#include "proof/primal_side.hpp"
#include "proof/twofold_kernel.hpp"

namespace gapless::proof {

struct Sides {
  double plain, proven;  // the value without what was added for rounding, and rounded outwards
};

// D of the exactly feasible point near β (proof/repair_loss.hpp) is not below `proven`. f = Kβ to within `error`, and βᵀKβ = square to within
// square_error; a regularised intercept adds shift (Σβ)² to the square.
Sides twofold_dual(const DualTerms& dual, Places groups, Vector totals, bool free, Vector beta, TwoVector f, Vector error, Two square,
                   double square_error, double shift, double largest);

// Replaces good offsets by the best ones, and writes their intervals. The search is for the distance from the given offset, which is small, so that
// float64 holds it to many more digits than the offset itself.
void twofold_offsets(const DualTerms& dual, Places groups, Vector totals, TwoVector f, Out offsets, std::span<Interval> intervals);

// P = ½ square + the price of the offsets + Σ c ℓ(y, f + offset), and ½b²/shift where shift is not zero, is not above `proven`.
Sides twofold_primal(const DualTerms& dual, Places groups, Vector totals, Vector offsets, TwoVector f, Vector error, Two square,
                     double square_error, double shift);

// The smallest margin y (f + b) of the samples with a cost is not below `margin`. A free b is chosen in the middle between the two classes.
struct Margin {
  double b, margin;
};
Margin twofold_margin(Vector y, Vector cost, bool free, double b, TwoVector f, Vector error);

// The least ε − |p − f − b| of the samples with a cost, less its error: negative where a sample may be outside of its tube.
double twofold_room(const DualBox& box, Vector cost, double b, TwoVector f, Vector error);

}  // namespace gapless::proof
