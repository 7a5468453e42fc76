// Products with some rows, for files *.isa.cpp: compiled for each level, in its namespace.
#pragma once

#include "core/lanes.hpp"
#include "core/rows.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

// v += Σ scale[k] x over `count` rows.
template <class T>
GAPLESS_INLINE void add_rows(const DenseRows<T>& rows, const Index* which, const double* scale, Index count, double* v) {
  Index k = 0;
  for (; k + 4 <= count; k += 4) {  // four at a time, so that the sums are read and written a quarter as often
    const T *a = rows.row(which[k]), *b = rows.row(which[k + 1]), *c = rows.row(which[k + 2]), *e = rows.row(which[k + 3]);
    const double p = scale[k], q = scale[k + 1], r = scale[k + 2], s = scale[k + 3];
    for (Index j = 0; j < rows.d; ++j)
      v[j] += (p * static_cast<double>(a[j]) + q * static_cast<double>(b[j])) +
              (r * static_cast<double>(c[j]) + s * static_cast<double>(e[j]));
  }
  for (; k < count; ++k) rows.add(which[k], scale[k], v);
}
template <class R>
GAPLESS_INLINE void add_rows(const R& rows, const Index* which, const double* scale, Index count, double* v) {
  for (Index k = 0; k < count; ++k) rows.add(which[k], scale[k], v);
}

// ⟨x, w⟩ + b of the rows from `begin`.
template <class T>
GAPLESS_INLINE void dots(const DenseRows<T>& rows, Index begin, Index count, const double* w, double b, double* out) {
  constexpr int step = lanes<double>;
  const Index whole = rows.d - rows.d % step;
  Index k = 0;
  for (; k + 4 <= count; k += 4) {
    const T* const x[4] = {rows.row(begin + k), rows.row(begin + k + 1), rows.row(begin + k + 2), rows.row(begin + k + 3)};
    double sums[4][step] = {};
    for (Index j = 0; j < whole; j += step)
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r)
#pragma GCC unroll 8
        for (int h = 0; h < step; ++h) sums[r][h] += static_cast<double>(x[r][j + h]) * w[j + h];
    double tail[4] = {b, b, b, b};
    for (Index j = whole; j < rows.d; ++j)
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) tail[r] += static_cast<double>(x[r][j]) * w[j];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      for (int half = step / 2; half > 0; half /= 2)
        for (int h = 0; h < half; ++h) sums[r][h] += sums[r][h + half];
      out[k + r] = sums[r][0] + tail[r];
    }
  }
  for (; k < count; ++k) out[k] = rows.dot(begin + k, w) + b;
}
template <class R>
GAPLESS_INLINE void dots(const R& rows, Index begin, Index count, const double* w, double b, double* out) {
  for (Index k = 0; k < count; ++k) out[k] = rows.dot(begin + k, w) + b;
}

}  // namespace
}  // namespace gapless::GAPLESS_LEVEL
