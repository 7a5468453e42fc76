// Coordinate ascent on the explicit dual matrix: for each index of `piece` the one β_i that maximises the dual, with f = Kβ kept up to date.
//
//     β_i ← argmax D along coordinate i,   f += (new − old) K_i
//
// Writes beta and f.
#pragma once

#include "core/dual.hpp"
#include "core/span.hpp"

namespace gapless {

void ascend_coordinates(const DualTerms& dual, Matrix<const double> K, Places piece, Out beta, Out f);

}  // namespace gapless
