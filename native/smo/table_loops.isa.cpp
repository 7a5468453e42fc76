#include "smo/table_loops.hpp"

#include "smo/lanes.hpp"

namespace gapless::smo::GAPLESS_LEVEL {
namespace {

constexpr Index strip = 16;    // rows that are mirrored at a time: a line of the cache holds as many columns of float32
constexpr Index folded = 32;   // rows that are summed in the precision of the entries: 32 roundings at most
constexpr Index piece = 1024;  // columns that are summed at a time: their sums, 4 or 8 KiB, stay in the nearest cache

template <class T, class B>
void gather(Matrix<const T> K, const Index* chosen, Index q, Index first, Index last, Matrix<B> block) {
  for (Index top = first; top < last; top += strip) {
    const Index bottom = top + strip < last ? top + strip : last;
    for (Index i = top; i < bottom; ++i) {
      const T* row = K.row(chosen[i]);
      B* to = block.row(i);
      for (Index j = top; j < q; ++j) to[j] = static_cast<B>(row[chosen[j]]);
    }
    for (Index j = bottom; j < q; ++j) {
      B* to = block.row(j);
      for (Index i = top; i < bottom; ++i) to[i] = block(i, j);
    }
  }
}

template <class T>
void spread(const T* const* rows, const T* factor, Index n_rows, Index begin, Index end, double* f) {
  constexpr Index w = width<T>;
  T sums[piece];
  for (Index at = begin; at < end; at += piece) {
    const Index wide = at + piece < end ? piece : end - at;
    const Index even = wide / w * w;
    double* to = f + at;
    for (Index from = 0; from < n_rows; from += folded) {
      const Index until = from + folded < n_rows ? from + folded : n_rows;
      for (Index k = 0; k < wide; ++k) sums[k] = 0;
      Index r = from;
      for (; r + 4 <= until; r += 4) {
        const T *a = rows[r] + at, *b = rows[r + 1] + at, *c = rows[r + 2] + at, *d = rows[r + 3] + at;
        const auto p = all(factor[r]), p1 = all(factor[r + 1]), p2 = all(factor[r + 2]), p3 = all(factor[r + 3]);
        for (Index k = 0; k < even; k += w)
          store(sums + k, load(sums + k) + ((p * load(a + k) + p1 * load(b + k)) + (p2 * load(c + k) + p3 * load(d + k))));
        for (Index k = even; k < wide; ++k)
          sums[k] += (factor[r] * a[k] + factor[r + 1] * b[k]) + (factor[r + 2] * c[k] + factor[r + 3] * d[k]);
      }
      for (; r < until; ++r) {
        const T* a = rows[r] + at;
        for (Index k = 0; k < wide; ++k) sums[k] += factor[r] * a[k];
      }
      for (Index k = 0; k < wide; ++k) to[k] += static_cast<double>(sums[k]);
    }
  }
}

}  // namespace

extern const TableLoops table_loops = {{gather<float, float>, gather<float, double>, spread<float>},
                                       {gather<double, float>, gather<double, double>, spread<double>}};

}  // namespace gapless::smo::GAPLESS_LEVEL
