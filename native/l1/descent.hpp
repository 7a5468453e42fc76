// Coordinate descent on ‖w‖₁ + Σ c_i max(0, s_i)² with the shortfalls s = 1 − Aᵀw, where A has a row for each weight (Yuan et al. 2010).
//
// A weight takes a Newton step in which the ℓ₁ term stays exact, where g and h are the first and the second derivative of the loss in that weight:
//
//     step = −(g + 1)/h where g + 1 ≤ h w_j,   −(g − 1)/h where g − 1 ≥ h w_j,   −w_j between,
//
// halved until the objective falls by at least a share of the predicted descent (Armijo). The descent is first bounded by the curvature Σ c_i A_ji²
// of all samples (`squares`); where the bound does not decide, the change is computed. Writes w and shortfall.
#pragma once

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

struct L1Pass {
  Index position;    // the place in `order` after the last step
  double work;       // the entries of A that were read
  double violation;  // the largest violation of the optimality conditions that a step met
  bool moved;        // whether any weight changed
};

// Takes a step for each weight of `order` from `position` on until `budget` entries are read, at least one step. `columns` are the rows of A.
L1Pass descend_l1(const Rows& columns, Vector cost, Vector squares, Places order, Index position, double budget, Out w, Out shortfall);

}  // namespace gapless
