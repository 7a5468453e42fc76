// How much one row can move a linear model.
#pragma once

#include "core/rows.hpp"

namespace gapless {

// out[i] = Σ_j x_ij² / Σ_k x_kj², at most one: a row's leverage but for the correlation of features. The sums over k are estimated from every
// `step`-th row.
void leverage(const Rows& rows, Index d, Index step, Out out);

}  // namespace gapless
