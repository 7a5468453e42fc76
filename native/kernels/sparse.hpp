// Loops over tiles of sparse rows, for every level.
//
// A block of `block_rows` left rows stands as dense columns, feature by feature; a right row reads it at the places of its stored entries, and
// all products of that row with the block grow in registers. Rows whose stored values all are one count: their columns are bytes, four times
// as many in a register.
//
// Blocks of many features hold only those that a left row has. `slots` then says where a feature stands, and slot 0 is that of no feature.
//
// RBF: log₂ k = scale ⟨x, z⟩ + norm(x) + norm(z), where scale = 2γ log₂ e is the formula's gamma and norm(x) = −γ log₂ e ‖x‖².
#pragma once

#include <cstdint>

#include "core/isa.hpp"
#include "core/span.hpp"
#include "kernels/dense.hpp"

namespace gapless {

constexpr Index block_rows = 128;    // two registers of bytes at the widest level: with one, the end of a row costs as much as its entries
constexpr Index most_counted = 255;  // that a byte holds

template <class T>
struct SparseRight {
  const T* values;  // null where all are one
  const std::uint32_t* indices;
  const Index *begins, *ends;  // of each row
  const T* norms;
};

template <class T>
struct SparseLeft {
  const T* columns;            // block_rows values of each slot
  const std::uint8_t* counts;  // the same as bytes, where all values are one; either this or columns
  const std::uint32_t* slots;  // of each feature; null: the feature itself
  const T* norms;              // block_rows
  Index rows;                  // in use; the others are zero
};

template <class T>
struct SparseLoops {
  // out[j] += Σ over the block's rows of c k, for right rows from j0 to j1; c has block_rows places.
  void (*sum)(const Formula<T>&, const SparseLeft<T>&, const T* c, const SparseRight<T>&, Index j0, Index j1, double* out);
  // For two weights, in float64.
  void (*sum_two)(const Formula<T>&, const SparseLeft<T>&, const double* c, const double* e, const SparseRight<T>&, Index j0, Index j1,
                  double* out_c, double* out_e);
  // out[(j − j0) block_rows + i] = k of the block's row i and right row j.
  void (*tile)(const Formula<T>&, const SparseLeft<T>&, const SparseRight<T>&, Index j0, Index j1, T* out);
};

struct SparseTable {
  SparseLoops<float> single;
  SparseLoops<double> twice;

  template <class T>
  const SparseLoops<T>& of() const {
    if constexpr (sizeof(T) == 4)
      return single;
    else
      return twice;
  }
};

GAPLESS_DECLARE_LEVELS(SparseTable, sparse_table)

}  // namespace gapless
