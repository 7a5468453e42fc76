// What D may lose until Σβ is exactly what it must be.
//
// Let a group's sum be too large by r > 0 (too small: the other side). Its positive β, of sum S ≥ r, times 1 − r/S, are feasible in exact arithmetic,
// and D along the way falls by at most
//
//     r/S Σ |β_i| (|p_i − f_i| + error_i + ε_i + d_i |β_i|) + ½ (r/S)² ‖Σ β_i φ(x_i)‖²,     the sums over that side.
//
// Where that side is too light (ν-forms, whose totals are not zero), all go towards their other bound by the share t = |r| / Σ|bound_i − β_i| of the
// way, at the price of the same sum with t |bound_i − β_i| in the place of r/S |β_i|.
#pragma once

#include "core/dual.hpp"
#include "proof/bounds.hpp"

namespace gapless::proof {

// Infinite where no way is known.
double repair_loss(const DualTerms& dual, Places groups, Vector totals, Vector beta, Vector f, Vector error, const Weights& weights);

}  // namespace gapless::proof
