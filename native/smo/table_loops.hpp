// Loops over the kernel entries of an active set: gathering the entries of a block, and adding a change of β to f.
#pragma once

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless::smo {

template <class T>
struct TableSweeps {
  // block(i, j) = K(chosen[i], chosen[j]) for the rows i from first to last and all columns j from `first` on, and the mirror image below the
  // diagonal.
  void (*gather_single)(Matrix<const T> K, const Index* chosen, Index q, Index first, Index last, Matrix<float> block);
  void (*gather_full)(Matrix<const T> K, const Index* chosen, Index q, Index first, Index last, Matrix<double> block);
  // f[k] += Σ over i of factor[i] rows[i][k] for begin ≤ k < end: sums over 32 rows are in the precision of the entries, their sum in float64.
  void (*spread)(const T* const* rows, const T* factor, Index n_rows, Index begin, Index end, double* f);
};

struct TableLoops {
  TableSweeps<float> single;
  TableSweeps<double> full;
};

GAPLESS_DECLARE_LEVELS(TableLoops, table_loops)

template <class T>
const TableSweeps<T>& table_sweeps() {
  if constexpr (sizeof(T) == 4)
    return table_loops().single;
  else
    return table_loops().full;
}

}  // namespace gapless::smo
