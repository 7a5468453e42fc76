// Sums over rows of a table of kernel entries, for several models at a time: the table is read once for all of them.
//
// Every product and every sum rounds once, in float64, in whatever order: a value is off by at most about (terms) · u · Σ |c| |entry|, where terms is
// the number of rows with c ≠ 0.
#pragma once

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless::proof {

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
