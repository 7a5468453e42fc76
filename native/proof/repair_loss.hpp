// By how much D falls when β is made exactly feasible: Σβ = total for every group, which β in floating point rarely meets exactly.
//
// Where the sum of a group is too large, its positive entries, scaled down by the excess, meet the total exactly and stay in their boxes; where it is
// too small, its negative entries do. Where these entries are too light, all entries of the group go the same share of their way to a bound
// (proof/feasible.hpp repairs in the same two ways). h is concave, so that it rises on such a move by at least its slope at the far end times the
// move; βᵀKβ changes by its slope 2f times the move, and by no more than (Σ |move| √k(x, x))² besides. Slopes count with their signs: where the
// excess is a rounding error, D falls by about as much, or rises.
#pragma once

#include "core/dual.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

// A bound on D(β) − D(β′) for an exactly feasible β′; negative where D(β′) is certainly above D(β), infinite where no such β′ is found. f = Kβ to
// within its errors where β is not zero; no √k(x, x) is above `largest`.
double repair_loss(const DualTerms& dual, Places groups, Vector totals, Vector beta, Vector f, const Errors& errors, double largest);

}  // namespace gapless::proof
