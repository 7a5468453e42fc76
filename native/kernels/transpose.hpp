// The transpose of a small matrix, for every level: squares of as many numbers as a register has lanes are turned in registers.
#pragma once

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless {

// to[j to_stride + i] = from[i from_stride + j] for i < rows and j < columns.
template <class T>
using Transpose = void (*)(const T* from, Index from_stride, Index rows, Index columns, T* to, Index to_stride);

template <class T>
struct TransposeLoopsOf {
  Transpose<T> transpose;
  // The same without a gap between the rows of `to`: to[j rows + i] = from[i from_stride + j]. Of `from` as many rows are
  // read as fill whole vectors, `lanes` each.
  void (*pack)(const T* from, Index from_stride, Index rows, Index columns, T* to);
  Index lanes;
};

struct TransposeLoops {
  TransposeLoopsOf<float> single;
  TransposeLoopsOf<double> twice;

  template <class T>
  const TransposeLoopsOf<T>& of() const {
    if constexpr (sizeof(T) == 4)
      return single;
    else
      return twice;
  }
};

GAPLESS_DECLARE_LEVELS(TransposeLoops, transpose_loops)

}  // namespace gapless
