// A Newton step on all non-zero weights of the ℓ₁ problem (l1/descent.hpp) together, with an exact line search through its kinks.
//
// In the orthant of w the objective is smooth where no shortfall changes its sign. The direction solves H · direction = −g, where over the samples
// that fall short g = sign w − Σ 2c s a and H = Σ 2c a aᵀ. Along it the derivative of ‖w + t·direction‖₁ + Σ c max(0, s − t·change)² is piecewise
// linear and rises: it bends where a shortfall changes its sign, and jumps where a weight does. Writes w and shortfall.
#pragma once

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

// Moves w and the shortfalls to the minimum along the direction; a weight that reaches zero there stays at zero. False where nothing is gained.
bool newton_l1(const Rows& columns, Vector cost, Out w, Out shortfall);

}  // namespace gapless
