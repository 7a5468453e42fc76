// Steps of Pegasos (Shalev-Shwartz et al. 2011), one for each index of `piece`, with θ in the scaling w = θ/t:
//
//     t ← t + 1;   where y_i (⟨θ, x_i⟩ + θ_b)/t < 1:   θ += n c_i y_i x_i,   θ_b += s² n c_i y_i
//
// The average of all w_t needs no vector of its own: an update at step s is in w_t = θ/t for s < t ≤ T, with the weights 1/t, which add up to
// H_T − H_s where H_t = Σ 1/s over s ≤ t. So `errors` counts the updates of a sample, and `weighted` sums up their H_s. Writes theta, errors and
// weighted.
#pragma once

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

struct PegasosClock {
  double theta_b;  // the intercept's entry of θ
  double t;        // the number of steps made
  double harmonic; // H_t
};

PegasosClock walk_pegasos(const Rows& rows, Vector y, Vector cost, double shift, Places piece, PegasosClock clock, Out theta, Out errors,
                          Out weighted);

}  // namespace gapless
