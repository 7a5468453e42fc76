// The projected gradient step on the dual, all coordinates at once: βᵀKβ is replaced by its expansion at z with the curvature L.
//
//     β_i = argmax over the box of h_i(β) − f_i β − ½ L (β − z_i)²,   f = Kz
//
// Writes beta.
#pragma once

#include "core/dual.hpp"
#include "core/span.hpp"

namespace gapless {

void project_gradient_step(const DualTerms& dual, Vector z, Vector f, double L, Out beta);

}  // namespace gapless
