// Coordinate ascent on the explicit kernel matrix: for each index i of `piece` β_i moves to the maximum of D along it, with f = Kβ kept up to date.
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
