// The rows of X behind one set of accessors, so that a loop over samples is written once for every storage, as a template on the type of the rows.
// Sums are float64 whatever the type of the values.
#pragma once

#include <cstdint>
#include <variant>

#include "core/span.hpp"

namespace gapless {

// (n, d), C-contiguous.
template <class T>
struct DenseRows {
  const T* values;
  Index n, d;

  static constexpr bool is_sparse = false;
  GAPLESS_INLINE Index size() const { return n; }
  GAPLESS_INLINE const T* row(Index i) const { return values + i * d; }
  GAPLESS_INLINE Index begin(Index i) const { return i * d; }  // the place of the row's first entry; begin(n) is the number of entries
  GAPLESS_INLINE double entries() const { return static_cast<double>(n) * static_cast<double>(d); }

  // ⟨x_i, w⟩, and w += scale x_i.
  GAPLESS_INLINE double dot(Index i, const double* w) const { return dot_entries(i * d, i * d + d, w); }
  GAPLESS_INLINE void add(Index i, double scale, double* w) const { add_entries(i * d, i * d + d, scale, w); }
  // The same for a row whose entries are those from `begin` to `end`, for loops that know these places.
  GAPLESS_INLINE double dot_entries(Index begin, Index end, const double* w) const {
    const T* x = values + begin;
    const Index d = end - begin;
    double sums[8] = {};  // eight sums, so that additions do not wait for each other and the loop vectorises without reassociation
    Index j = 0;
    for (; j + 8 <= d; j += 8)
      for (int h = 0; h < 8; ++h) sums[h] += static_cast<double>(x[j + h]) * w[j + h];
    for (int h = 0; j < d; ++j, ++h) sums[h] += static_cast<double>(x[j]) * w[j];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  }
  GAPLESS_INLINE void add_entries(Index begin, Index end, double scale, double* w) const {
    const T* x = values + begin;
    const Index d = end - begin;
    for (Index j = 0; j < d; ++j) w[j] += scale * static_cast<double>(x[j]);
  }
  GAPLESS_INLINE double square(Index i) const {
    const T* x = row(i);
    double total = 0.0;
    for (Index j = 0; j < d; ++j) total += static_cast<double>(x[j]) * static_cast<double>(x[j]);
    return total;
  }
};

// CSR, with indices of 32 bits and indptr of 64 bits.
template <class T>
struct CsrRows {
  const T* values;
  const std::uint32_t* indices;
  const Index* indptr;
  Index n, d;

  static constexpr bool is_sparse = true;
  GAPLESS_INLINE Index size() const { return n; }
  GAPLESS_INLINE Index begin(Index i) const { return indptr[i]; }
  GAPLESS_INLINE double entries() const { return static_cast<double>(indptr[n] - indptr[0]); }
  GAPLESS_INLINE double value(Index k) const { return static_cast<double>(values[k]); }  // the k-th stored entry

  GAPLESS_INLINE double dot(Index i, const double* w) const { return dot_entries(indptr[i], indptr[i + 1], w); }
  GAPLESS_INLINE void add(Index i, double scale, double* w) const { add_entries(indptr[i], indptr[i + 1], scale, w); }
  // The same for a row whose entries are those from `k` (or `begin`) to `end`, for loops that know these places.
  GAPLESS_INLINE double dot_entries(Index k, Index end, const double* w) const {
    double even = 0.0, odd = 0.0;  // two sums, so that an addition need not wait for the one before
    for (; k + 1 < end; k += 2) {
      even += static_cast<double>(values[k]) * w[indices[k]];
      odd += static_cast<double>(values[k + 1]) * w[indices[k + 1]];
    }
    if (k < end) even += static_cast<double>(values[k]) * w[indices[k]];
    return even + odd;
  }
  GAPLESS_INLINE void add_entries(Index begin, Index end, double scale, double* w) const {
    for (Index k = begin; k < end; ++k) w[indices[k]] += scale * static_cast<double>(values[k]);
  }
  GAPLESS_INLINE double square(Index i) const {
    double total = 0.0;
    for (Index k = indptr[i]; k < indptr[i + 1]; ++k)
      total += static_cast<double>(values[k]) * static_cast<double>(values[k]);
    return total;
  }
};

// CSR rows whose stored values all are one: the indices say everything.
struct OnesRows {
  const std::uint32_t* indices;
  const Index* indptr;
  Index n, d;

  static constexpr bool is_sparse = true;
  GAPLESS_INLINE Index size() const { return n; }
  GAPLESS_INLINE Index begin(Index i) const { return indptr[i]; }
  GAPLESS_INLINE double entries() const { return static_cast<double>(indptr[n] - indptr[0]); }
  GAPLESS_INLINE double value(Index) const { return 1.0; }

  GAPLESS_INLINE double dot(Index i, const double* w) const { return dot_entries(indptr[i], indptr[i + 1], w); }
  GAPLESS_INLINE void add(Index i, double scale, double* w) const { add_entries(indptr[i], indptr[i + 1], scale, w); }
  GAPLESS_INLINE double dot_entries(Index k, Index end, const double* w) const {
    double even = 0.0, odd = 0.0;
    for (; k + 1 < end; k += 2) {
      even += w[indices[k]];
      odd += w[indices[k + 1]];
    }
    if (k < end) even += w[indices[k]];
    return even + odd;
  }
  GAPLESS_INLINE void add_entries(Index begin, Index end, double scale, double* w) const {
    for (Index k = begin; k < end; ++k) w[indices[k]] += scale;
  }
  GAPLESS_INLINE double square(Index i) const { return static_cast<double>(indptr[i + 1] - indptr[i]); }
};

using Rows = std::variant<DenseRows<float>, DenseRows<double>, CsrRows<float>, CsrRows<double>, OnesRows>;

}  // namespace gapless
