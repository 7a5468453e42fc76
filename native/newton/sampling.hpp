// An estimate of each row's leverage: how much one row can move a linear model.
#pragma once

#include "core/rows.hpp"

namespace gapless {

// Writes out[i] = Σ_j x_ij² / Σ_k x_kj², at most one: the row's leverage as it is for uncorrelated features. The sums over k are estimated from every
// `step`-th row.
void leverage(const Rows& rows, Index d, Index step, Out out);

}  // namespace gapless
