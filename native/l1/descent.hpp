// Coordinate descent on ‖w‖₁ + Σ c_i max(0, s_i)² with the shortfalls s = 1 − Aᵀw, one row of A for each weight (Yuan et al. 2010).
//
// A weight takes a Newton step with the ℓ₁ term kept exact, from the loss's first and second derivative g and h in that weight:
//
//     step = −(g + 1)/h where g + 1 ≤ h w_j,   −(g − 1)/h where g − 1 ≥ h w_j,   −w_j between,
//
// halved until the objective falls by a share of what the step promises (Armijo): first by a bound, the curvature Σ c_i A_ji² of all samples, then,
// where that does not decide, by the change itself. Writes w and short.
#pragma once

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

struct L1Pass {
  Index position;    // in the order, after the last step
  double work;       // entries read
  double violation;  // the largest met
  bool moved;        // whether a weight has
};

// One step for each weight of `order` from `position` on, until `budget` entries are read, at least one.
L1Pass descend_l1(const Rows& columns, Vector cost, Vector squares, Places order, Index position, double budget, Out w, Out shortfall);

}  // namespace gapless
