#include "core/products.hpp"

#include "core/row_products.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

// Rows with β ≠ 0 that are listed before they are added up, since add_rows takes four at a time: the list takes 1 KB, and blocks of so many dense
// rows stay in the cache from one column to the next.
constexpr Index listed = 64;

// Writes X W for the rows from `begin` to `end`. For dense rows W is given by columns, and each entry is a dot product with a row that stays in the
// cache.
template <class T>
void dots_of(const DenseRows<T>& rows, Index begin, Index end, const double* w, Index columns, double* out) {
  if (columns == 1) return dots(rows, begin, end - begin, w, 0.0, out + begin);
  for (Index i = begin; i < end; ++i)
    for (Index c = 0; c < columns; ++c) out[i * columns + c] = rows.dot(i, w + c * rows.d);
}
template <class R>
void dots_of(const R& rows, Index begin, Index end, const double* w, Index columns, double* out) {
  if (columns == 1) return dots(rows, begin, end - begin, w, 0.0, out + begin);
  for (Index i = begin; i < end; ++i) {
    double* sums = out + i * columns;
    for (Index c = 0; c < columns; ++c) sums[c] = 0.0;
    for (Index k = rows.indptr[i]; k < rows.indptr[i + 1]; ++k) {
      const double value = rows.value(k);
      const double* at = w + rows.indices[k] * columns;
      for (Index c = 0; c < columns; ++c) sums[c] += value * at[c];
    }
  }
}

template <class R>
void dots_at(const R& rows, Index begin, Index end, const double* w, double* out) {
  dots(rows, begin, end - begin, w, 0.0, out);
}

// Adds Σ βᵢ xᵢ over the rows from `begin` to `end` to `out`, for one column of β, whose entries are `columns` apart.
template <class R>
GAPLESS_INLINE void combine_column(const R& rows, Index begin, Index end, const double* beta, Index columns, double* out) {
  Index which[listed];
  double scale[listed];
  Index count = 0;
  for (Index i = begin; i < end; ++i) {
    const double b = beta[i * columns];
    if (b == 0.0) continue;
    which[count] = i;
    scale[count] = b;
    if (++count < listed) continue;
    add_rows(rows, which, scale, count, out);
    count = 0;
  }
  add_rows(rows, which, scale, count, out);
}
template <class T>
void combine_of(const DenseRows<T>& rows, Index begin, Index end, const double* beta, Index columns, double* out) {
  for (; begin < end; begin += listed)  // blocks of rows stay in the cache from one column to the next; out is (columns, d)
    for (Index c = 0; c < columns; ++c)
      combine_column(rows, begin, end < begin + listed ? end : begin + listed, beta + c, columns, out + c * rows.d);
}
template <class R>
void combine_of(const R& rows, Index begin, Index end, const double* beta, Index columns, double* out) {
  if (columns == 1) return combine_column(rows, begin, end, beta, 1, out);
  for (Index i = begin; i < end; ++i) {
    const double* b = beta + i * columns;
    bool used = false;
    for (Index c = 0; c < columns; ++c) used |= b[c] != 0.0;
    if (!used) continue;
    for (Index k = rows.indptr[i]; k < rows.indptr[i + 1]; ++k) {
      const double value = rows.value(k);
      double* at = out + rows.indices[k] * columns;
      for (Index c = 0; c < columns; ++c) at[c] += value * b[c];
    }
  }
}

template <class T>
GAPLESS_INLINE double square(const DenseRows<T>& rows, Index i) {
  const T* x = rows.row(i);
  double sums[8] = {};
  Index j = 0;
  for (; j + 8 <= rows.d; j += 8)
    for (int h = 0; h < 8; ++h) sums[h] += static_cast<double>(x[j + h]) * static_cast<double>(x[j + h]);
  for (int h = 0; j < rows.d; ++j, ++h) sums[h] += static_cast<double>(x[j]) * static_cast<double>(x[j]);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}
template <class R>
GAPLESS_INLINE double square(const R& rows, Index i) { return rows.square(i); }

template <class R>
void squares_of(const R& rows, Index begin, Index end, Index step, double* out) {
  for (Index k = begin; k < end; ++k) out[k] = square(rows, k * step);
}

template <class R>
constexpr ProductLoop<R> loop = {dots_of, dots_at<R>, combine_of, squares_of};

}  // namespace

extern const ProductLoops product_loops = {loop<DenseRows<float>>, loop<DenseRows<double>>, loop<CsrRows<float>>,
                                           loop<CsrRows<double>>, loop<OnesRows>};

}  // namespace gapless::GAPLESS_LEVEL
