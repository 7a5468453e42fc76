// Sums over rows of a table of kernel entries, for several models at a time: the table is read once for all of them.
//
// Every product and every sum rounds once, in float64. Rows are summed in groups of `table_group`, and then the groups, so that no product takes part in
// more than table_roundings(n) sums of n rows: a value is off by at most that times u Σ |c| |entry|.
#pragma once

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless::proof {

inline constexpr Index table_group = 64;
inline double table_roundings(Index n) { return static_cast<double>(table_group / 4 + 3 + (n + table_group - 1) / table_group); }

// out(m, k) += Σ over i of c(i, m) rows[i][k], for each model m and begin ≤ k < end.
template <class T>
using TableSum = void (*)(const T* const* rows, Matrix<const double> c, Index begin, Index end, Matrix<double> out);

struct TableSumLoops {
  TableSum<float> single;
  TableSum<double> full;
};

}  // namespace gapless::proof

namespace gapless {
GAPLESS_DECLARE_LEVELS(proof::TableSumLoops, table_sum_loops)
}  // namespace gapless

namespace gapless::proof {

template <class T>
TableSum<T> table_sum() {
  if constexpr (sizeof(T) == 4)
    return table_sum_loops().single;
  else
    return table_sum_loops().full;
}

}  // namespace gapless::proof
