// On which side of its kinks a decision f lies, for losses that are linear between kinks: φ(f) = max over lower ≤ β ≤ upper of β (p − f) − ε|β|. The
// kinks are at f = p − ε (where upper > 0) and at f = p + ε (where lower < 0).
#pragma once

#include <cstdint>

#include "core/dual.hpp"

namespace gapless {

// The sum of Fenchel's gaps φ_i(f_i) − β_i (p_i − f_i) + ε_i|β_i| + ½ d_i β_i²: it is P − D where w = Σ β_i x_i.
double fenchel_gap(const DualBox& box, Vector f, Vector beta);

// Writes into `piece` where the prox of β + γ (p − f) puts each sample. 2: β is at upper; 1: f is at the kink p − ε; 0: β = 0; −1: f is at the kink
// p + ε; −2: β is at lower.
void kink_pieces(const DualBox& box, Vector f, Vector beta, Vector gamma, std::span<std::int8_t> piece);

// The derivative d/dt Σ φ_i(f_i + t df_i).
double loss_slope(const DualBox& box, Vector f, Vector df, double t);

// Writes into `wrong` whether the β of each sample does not maximise β (p − f) − ε|β|.
void wrong_side(const DualBox& box, Vector f, Vector beta, std::span<bool> wrong);

// Writes the distance of each decision from the nearest kink of its loss, and the β that maximises β (p − f) − ε|β|: a bound, or zero.
void survey(const DualBox& box, Vector f, Out beta, Out distance);

}  // namespace gapless
