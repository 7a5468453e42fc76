// Loops over tiles of sparse rows, for every level.
//
// A block of `block_rows` left rows is stored as dense columns, feature by feature. A right row reads the columns of the features that it stores, and
// its products with all rows of the block grow in registers. Where all stored values are one the products are counts: columns are then bytes, of
// which a register holds four times as many.
//
// With many features a block holds only the columns of features that its rows store. `slots` then tells the place of a feature's column, and slot 0
// is that of features without one.
//
// RBF: log₂ k = scale ⟨x, z⟩ + norm(x) + norm(z), where scale = 2γ log₂ e is the formula's gamma and norm(x) = −γ log₂ e ‖x‖².
#pragma once

#include <cstdint>

#include "core/isa.hpp"
#include "core/span.hpp"
#include "kernels/dense.hpp"

namespace gapless {

constexpr Index block_rows = 128;    // two registers of bytes at the widest level: with one, finishing a row costs as much as its entries
constexpr Index most_counted = 255;  // the largest count that a byte holds

template <class T>
struct SparseRight {
  const T* values;  // null where all are one
  const std::uint32_t* indices;
  const Index *begins, *ends;  // the places of each row's stored entries
  const T* norms;
};

template <class T>
struct SparseLeft {
  const T* columns;            // block_rows values for each slot
  const std::uint8_t* counts;  // the same as bytes, where all values are one; null where `columns` is used
  const std::uint32_t* slots;  // the slot of each feature; null where it is the feature itself
  const T* norms;              // norm(x) of the block_rows rows
  Index rows;                  // the rows in use; the others are zero
};

template <class T>
struct SparseLoops {
  // out[j] += Σ over the block's rows of c k, for right rows from j0 to j1; c has block_rows places.
  void (*sum)(const Formula<T>&, const SparseLeft<T>&, const T* c, const SparseRight<T>&, Index j0, Index j1, double* out);
  // The same for two weights, with all terms added in float64; for RBF alone.
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
