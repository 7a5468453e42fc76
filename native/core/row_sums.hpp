// Sums of rows of a table, for several models at a time: each entry is read once for all models, and is multiplied with the factor of each of them. Where
// sums of few models are wanted for many columns side by side, this fills the vectors that core/block_sums.hpp would fill with models.
//
// Products are added up as in core/block_sums.hpp, in groups of `block_group` rows and of so many groups: no product takes part in more than
// block_roundings(n, 1) roundings.
#pragma once

#include "core/block_sums.hpp"
#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless {

inline constexpr Index row_columns = 512;                       // the most columns of a call: the sums of six models, 24 KiB, stay in the nearest cache
inline constexpr Index row_group = block_group * block_group;  // the most rows of a call, whose entries stay in the cache for further models

// sums[m][c] += Σ over i < n of factors[i · models + m] rows[i][c] for each model and each column c; n is at most row_group.
template <class T>
using SumRows = void (*)(const T* const* rows, const double* factors, Index n, Index models, Index columns, double* const* sums);

struct RowSumLoops {
  SumRows<float> sum_single;
  SumRows<double> sum_full;
};

GAPLESS_DECLARE_LEVELS(RowSumLoops, row_sum_loops)

}  // namespace gapless
