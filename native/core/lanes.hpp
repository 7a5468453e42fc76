// One vector register of the level that a file *.isa.cpp is compiled for. Included by such files alone: what is here differs from level to
// level, and so lives in the level's namespace.
#pragma once

#include "core/span.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

#if defined(__GNUC__) || defined(__clang__)
template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));
};
template <class T>
using Lanes = typename VectorOf<T>::type;
#else
template <class T>
struct Lanes {
  T values[lanes<T>];
  GAPLESS_INLINE T& operator[](int k) { return values[k]; }
  GAPLESS_INLINE Lanes& operator+=(const Lanes& other) {
    for (int k = 0; k < lanes<T>; ++k) values[k] += other.values[k];
    return *this;
  }
  friend GAPLESS_INLINE Lanes operator*(T scale, const Lanes& other) {
    Lanes out;
    for (int k = 0; k < lanes<T>; ++k) out.values[k] = scale * other.values[k];
    return out;
  }
};
#endif

// Where `from` lies need not be a multiple of anything.
template <class T>
GAPLESS_INLINE Lanes<T> load(const T* from) { return *reinterpret_cast<const Lanes<T>*>(from); }

// Σ of n numbers, in eight sums whose additions do not wait for each other.
GAPLESS_INLINE double sum_of(const double* values, Index n) {
  double sums[8] = {};
  Index j = 0;
  for (; j + 8 <= n; j += 8)
    for (int h = 0; h < 8; ++h) sums[h] += values[j + h];
  for (int h = 0; j < n; ++j, ++h) sums[h] += values[j];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

// The largest of n numbers and `least`.
GAPLESS_INLINE double largest_of(const double* values, Index n, double least) {
  double most[8];
  for (int h = 0; h < 8; ++h) most[h] = least;
  Index j = 0;
  for (; j + 8 <= n; j += 8)
    for (int h = 0; h < 8; ++h) most[h] = values[j + h] > most[h] ? values[j + h] : most[h];
  for (int h = 0; j < n; ++j, ++h) most[h] = values[j] > most[h] ? values[j] : most[h];
  for (int h = 1; h < 8; ++h) most[0] = most[h] > most[0] ? most[h] : most[0];
  return most[0];
}

}  // namespace
}  // namespace gapless::GAPLESS_LEVEL
