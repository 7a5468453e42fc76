// Sums of the linear kernel without its entries: Σᵢ cᵢ⟨xᵢ, x_j⟩ = ⟨Σᵢ cᵢ xᵢ, x_j⟩ takes n + m passes over rows in the place of n·m products of rows.
#pragma once

#include "kernels/expression.hpp"

namespace gapless {

// out(k) += Σ over i of c[i] ⟨x_left[i], x_to[k]⟩ for each k, in float64, where out(k) is out[k], or out[places[k]] with places.
void add_linear_sums(const Samples& X, Chosen left, Vector c, Chosen to, double* out, const Index* places = nullptr);

}  // namespace gapless
