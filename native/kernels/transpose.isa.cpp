#include "kernels/transpose.hpp"

#include <utility>

#include "kernels/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

// Of two rows whose numbers differ by `step`: the first row's lanes at which that bit is 0, with the second row's lanes of the same kind in between
// (upper: the lanes at which it is 1).
template <class T, int step, bool upper, int... lane>
GAPLESS_INLINE Lanes<T> crossed(Lanes<T> a, Lanes<T> b, std::integer_sequence<int, lane...>) {
  constexpr int n = lanes<T>;
  if constexpr (upper)
    return __builtin_shufflevector(a, b, ((lane & step) == 0 ? lane + step : n + lane)...);
  else
    return __builtin_shufflevector(a, b, ((lane & step) == 0 ? lane : n + lane - step)...);
}

// Exchanges, for each pair of rows i and i + step, the lanes with that bit of the first with those without it of the second. After all steps that are
// powers of two, each bit of the row's number and of the lane's number have changed places.
template <class T, int step>
GAPLESS_INLINE void exchange(Lanes<T>* rows) {
  constexpr auto order = std::make_integer_sequence<int, lanes<T>>{};
#pragma GCC unroll 16
  for (int i = 0; i < lanes<T>; ++i)
    if ((i & step) == 0) {
      const Lanes<T> a = rows[i], b = rows[i + step];
      rows[i] = crossed<T, step, false>(a, b, order);
      rows[i + step] = crossed<T, step, true>(a, b, order);
    }
  if constexpr (step > 1) exchange<T, step / 2>(rows);
}

// As many rows and columns as a vector has lanes, turned.
template <class T>
struct Square {
  Lanes<T> rows[lanes<T>];

  GAPLESS_INLINE void read(const T* from, Index stride) {
#pragma GCC unroll 16
    for (int k = 0; k < lanes<T>; ++k) rows[k] = load(from + k * stride);
    exchange<T, lanes<T> / 2>(rows);
  }
};

template <class T>
void transpose(const T* from, Index from_stride, Index rows, Index columns, T* to, Index to_stride) {
  constexpr Index n = lanes<T>;
  const Index whole_rows = rows / n * n, whole_columns = columns / n * n;
  for (Index j = 0; j < whole_columns; j += n)
    for (Index i = 0; i < whole_rows; i += n) {
      Square<T> square;
      square.read(from + i * from_stride + j, from_stride);
#pragma GCC unroll 16
      for (Index k = 0; k < n; ++k) store(to + (j + k) * to_stride + i, square.rows[k]);
    }
  for (Index j = 0; j < columns; ++j)
    for (Index i = j < whole_columns ? whole_rows : 0; i < rows; ++i) to[j * to_stride + i] = from[i * from_stride + j];
}

// Rows of `to` are written in order, each by whole vectors: where the last one is longer than what is left of its row, it reaches into the next row,
// which is written after it. Returns how many columns of `from` are done, all but a few.
template <class T, int blocks>
Index pack_by(const T* from, Index from_stride, Index rows, Index columns, T* to) {
  constexpr Index n = lanes<T>;
  const Index whole = columns > 0 ? (columns - 1) / n * n : 0;
  for (Index j = 0; j < whole; j += n) {
    Square<T> squares[blocks];
#pragma GCC unroll 4
    for (int i = 0; i < blocks; ++i) squares[i].read(from + i * n * from_stride + j, from_stride);
#pragma GCC unroll 16
    for (Index k = 0; k < n; ++k)
#pragma GCC unroll 4
      for (int i = 0; i < blocks; ++i) store(to + (j + k) * rows + i * n, squares[i].rows[k]);
  }
  return whole;
}

template <class T>
void pack(const T* from, Index from_stride, Index rows, Index columns, T* to) {
  constexpr Index n = lanes<T>;
  const Index blocks = (rows + n - 1) / n;
  Index done = 0;
  if (blocks * n - rows <= rows) {  // else a vector would reach beyond the next row
    if (blocks == 1) done = pack_by<T, 1>(from, from_stride, rows, columns, to);
    if (blocks == 2) done = pack_by<T, 2>(from, from_stride, rows, columns, to);
    if (blocks == 4) done = pack_by<T, 4>(from, from_stride, rows, columns, to);
  }
  for (Index j = done; j < columns; ++j)
    for (Index i = 0; i < rows; ++i) to[j * rows + i] = from[i * from_stride + j];
}

}  // namespace

extern const TransposeLoops transpose_loops = {{transpose<float>, pack<float>, lanes<float>}, {transpose<double>, pack<double>, lanes<double>}};

}  // namespace gapless::GAPLESS_LEVEL
