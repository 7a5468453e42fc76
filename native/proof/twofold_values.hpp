// Decision values in numbers of twice the digits (twofold.hpp), for proofs that float64 is too coarse for: slow, one entry at a time.
//
// Every kernel formula is evaluated as it is stated, distances from differences. Entries that are given, by a matrix or a function, are exact by
// definition. Results are rounded to float64 at the very end: half a unit in their last place, and 2⁻⁷⁵ of Σ|β| g(x) g(z) besides.
#pragma once

#include "kernels/expression.hpp"

namespace gapless::proof {

// out[i] = Σ β_j k(x_i, x_j) over all samples.
void twofold_expansion(const Expression& kernel, const Samples& X, Vector beta, Out out);

// w = Σ β_i x_i, and out[i] = ⟨w, x_i⟩ of a given w.
void twofold_weights(const Rows& rows, Vector beta, Out w);
void twofold_products(const Rows& rows, Vector w, Out out);

}  // namespace gapless::proof
