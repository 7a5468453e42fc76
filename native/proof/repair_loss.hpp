// What exact feasibility costs: Σβ = total of every group, which floating point rarely meets exactly.
//
// The heavier side of a sum that is too large (or too small), scaled by what is too much of it, meets its total exactly and stays in its box; where
// that side is too light, all of the group go towards their far bound alike (proof/feasible.hpp moves in the same two ways). h is concave, so that
// h rises on that way by at least its slope at the far end times the way; βᵀKβ changes by its slope, 2f, and by no more than
// (Σ |way| √k(x, x))². Slopes count with their signs: where the excess is a rounding error, the loss is one of its size, or a gain.
#pragma once

#include "core/dual.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

// By how much D of an exactly feasible point is below D(β), at most; negative where it is above it, infinite where no such point is found. f = Kβ,
// off by at most its errors where β is not zero; `largest` is the largest √k(x, x).
double repair_loss(const DualTerms& dual, Places groups, Vector totals, Vector beta, Vector f, const Errors& errors, double largest);

}  // namespace gapless::proof
