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

template <class T>
void transpose(const T* from, Index from_stride, Index rows, Index columns, T* to, Index to_stride) {
  constexpr Index n = lanes<T>;
  const Index whole_rows = rows / n * n, whole_columns = columns / n * n;
  for (Index j = 0; j < whole_columns; j += n)
    for (Index i = 0; i < whole_rows; i += n) {
      Lanes<T> square[n];
#pragma GCC unroll 16
      for (Index k = 0; k < n; ++k) square[k] = load(from + (i + k) * from_stride + j);
      exchange<T, static_cast<int>(n) / 2>(square);
#pragma GCC unroll 16
      for (Index k = 0; k < n; ++k) store(to + (j + k) * to_stride + i, square[k]);
    }
  for (Index j = 0; j < columns; ++j)
    for (Index i = j < whole_columns ? whole_rows : 0; i < rows; ++i) to[j * to_stride + i] = from[i * from_stride + j];
}

}  // namespace

extern const TransposeLoops transpose_loops = {transpose<float>, transpose<double>};

}  // namespace gapless::GAPLESS_LEVEL
