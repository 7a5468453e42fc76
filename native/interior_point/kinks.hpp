// On which side of its kinks a decision lies, for losses that are linear between kinks: φ(f) = max over lower ≤ β ≤ upper of β (p − f) − ε|β|, whose
// kinks are p − ε (where upper > 0) and p + ε (where lower < 0).
#pragma once

#include <cstdint>

#include "core/dual.hpp"

namespace gapless {

// Σ of Fenchel's gaps φ_i(f_i) − β_i (p_i − f_i) + ε_i|β_i| + ½ d_i β_i²: P − D where w is β's own.
double fenchel_gap(const DualBox& box, Vector f, Vector beta);

// The piece of prox(β + γ (p − f)) that each sample falls into. 2: at upper; 1: at the kink p − ε; 0: β = 0; −1: at the kink p + ε; −2: at
// lower. Writes piece.
void kink_pieces(const DualBox& box, Vector f, Vector beta, Vector gamma, std::span<std::int8_t> piece);

// d/dt Σ φ_i(f_i + t df_i).
double loss_slope(const DualBox& box, Vector f, Vector df, double t);

// Whose β does not maximise β (p − f) − ε|β|. Writes wrong.
void wrong_side(const DualBox& box, Vector f, Vector beta, std::span<bool> wrong);

// How far each decision is from a kink of its loss. Writes distance, and β: the bound, or zero, on whose side of the kink it lies.
void survey(const DualBox& box, Vector f, Out beta, Out distance);

}  // namespace gapless
