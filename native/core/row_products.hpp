// Products with some of the rows. Only files *.isa.cpp include this header: it is compiled for each level, in the level's namespace.
#pragma once

#include "core/lanes.hpp"
#include "core/rows.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

// v += Σ scale[k] x over `count` rows.
template <class T>
GAPLESS_INLINE void add_rows(const DenseRows<T>& rows, const Index* which, const double* scale, Index count,
                             double* GAPLESS_RESTRICT v) {
  Index k = 0;
  for (; k + 4 <= count; k += 4) {  // four rows at a time, so that v is read and written a quarter as often
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

// Writes ⟨x, w⟩ + b of `count` rows from `begin` on, or ⟨x², w⟩ + b where `squared`. A row's sum has the same bits whichever rows are beside it:
// where fewer than four rows are left they go through the same loop, in which the last row takes the place of the missing ones.
template <bool squared = false, class T>
GAPLESS_INLINE void dots(const DenseRows<T>& rows, Index begin, Index count, const double* w, double b, double* GAPLESS_RESTRICT out) {
  constexpr int step = lanes<double>;
  const Index d = rows.d, whole = d - d % step;
  for (Index k = 0; k < count; k += 4) {  // four rows at a time, so that their additions do not wait for each other
    const Index left = count - k - 1;
    const T *x = rows.row(begin + k), *y = x + (left < 1 ? left : 1) * d, *z = x + (left < 2 ? left : 2) * d, *u = x + (left < 3 ? left : 3) * d;
    Lanes<double> p{}, q{}, r{}, s{};
    const auto times = [](auto a, auto b) { return squared ? a * a * b : a * b; };
    for (Index j = 0; j < whole; j += step) {
      const Lanes<double> v = load(w + j);
      p += times(load64(x + j), v);
      q += times(load64(y + j), v);
      r += times(load64(z + j), v);
      s += times(load64(u + j), v);
    }
    double rest[4] = {b, b, b, b};
    for (Index j = whole; j < d; ++j) {
      rest[0] += times(static_cast<double>(x[j]), w[j]);
      rest[1] += times(static_cast<double>(y[j]), w[j]);
      rest[2] += times(static_cast<double>(z[j]), w[j]);
      rest[3] += times(static_cast<double>(u[j]), w[j]);
    }
    const double sums[4] = {rest[0] + sum_of(p), rest[1] + sum_of(q), rest[2] + sum_of(r), rest[3] + sum_of(s)};
    for (Index h = 0; h <= left && h < 4; ++h) out[k + h] = sums[h];
  }
}
template <bool squared = false, class R>
GAPLESS_INLINE void dots(const R& rows, Index begin, Index count, const double* w, double b, double* out) {
  for (Index k = 0; k < count; ++k) {
    if constexpr (squared) {
      out[k] = b;
      for (Index e = rows.indptr[begin + k]; e < rows.indptr[begin + k + 1]; ++e)
        out[k] += rows.value(e) * rows.value(e) * w[rows.indices[e]];
    } else {
      out[k] = rows.dot(begin + k, w) + b;
    }
  }
}

}  // namespace
}  // namespace gapless::GAPLESS_LEVEL
