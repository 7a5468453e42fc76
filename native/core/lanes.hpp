// Vectors of the width of one register, and loops over arrays by such vectors. Only files *.isa.cpp include this header: the width differs from level
// to level (core/isa.hpp), and so everything here lives in the level's namespace.
//
// A loop body is written once, as a template on V: a vector for most of the array, float64 for the last entries. The vectors are the vector types of
// GCC and Clang; for other compilers a vector is one number.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

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

#if defined(__GNUC__) || defined(__clang__)
template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Lanes = typename VectorOf<T>::type;
template <class T>
GAPLESS_INLINE T lane(const Lanes<T>& vector, int k) { return vector[k]; }
#else
template <class T>
constexpr int lanes = 1;
template <class T>
using Lanes = T;
template <class T>
GAPLESS_INLINE T lane(const T& vector, int) { return vector; }
#endif

// Reads and writes of vectors at any place in an array: memcpy compiles to an unaligned load or store.
template <class V>
GAPLESS_INLINE V read(const double* from) {
  V out;
  std::memcpy(&out, from, sizeof(V));
  return out;
}
template <class V>
GAPLESS_INLINE void write(const V& value, double* to) { std::memcpy(to, &value, sizeof(V)); }
template <class T>
GAPLESS_INLINE Lanes<T> load(const T* from) {
  Lanes<T> out;
  std::memcpy(&out, from, sizeof(Lanes<T>));
  return out;
}

// A vector of one number.
GAPLESS_INLINE Lanes<double> everywhere(double value) { return value - Lanes<double>{}; }

// As many entries as a vector of float64 has lanes, converted to float64.
GAPLESS_INLINE Lanes<double> load64(const double* from) { return load(from); }
GAPLESS_INLINE Lanes<double> load64(const float* from) {
#if defined(__GNUC__) || defined(__clang__)
  typedef float Half __attribute__((vector_size(vector_bytes / 2)));
  Half half;
  std::memcpy(&half, from, sizeof(Half));
  return __builtin_convertvector(half, Lanes<double>);
#else
  return static_cast<double>(*from);
#endif
}

// Writes the outcome of a comparison of two V, a byte for each lane, zero for false.
template <class M>
GAPLESS_INLINE void write_mask(const M& mask, std::uint8_t* to) {
#if defined(__GNUC__) || defined(__clang__)
  if constexpr (!std::is_integral_v<M>) {
    typedef signed char Bytes __attribute__((vector_size(lanes<double>)));
    const Bytes bytes = __builtin_convertvector(mask, Bytes);
    std::memcpy(to, &bytes, sizeof(Bytes));
    return;
  } else
#endif
    *to = mask != 0;
}

template <class V>
GAPLESS_INLINE V larger(const V& a, const V& b) { return a > b ? a : b; }
template <class V>
GAPLESS_INLINE V smaller(const V& a, const V& b) { return a < b ? a : b; }
template <class V>
GAPLESS_INLINE V size_of(const V& a) { return larger<V>(a, -a); }
template <class V>
GAPLESS_INLINE V constant(double value) { return V{} + value; }

// The sum of a vector's lanes, and the largest of them.
GAPLESS_INLINE double sum_of(const Lanes<double>& vector) {
  double parts[lanes<double>];
  for (int k = 0; k < lanes<double>; ++k) parts[k] = lane<double>(vector, k);
  for (int half = lanes<double> / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) parts[k] += parts[k + half];
  return parts[0];
}
GAPLESS_INLINE double largest_of(const Lanes<double>& vector) {
  double most = lane<double>(vector, 0);
  for (int k = 1; k < lanes<double>; ++k) most = larger(most, lane<double>(vector, k));
  return most;
}

// A sum over an array of which most is added by vectors.
struct LaneSum {
  Lanes<double> wide{};
  double rest = 0.0;

  template <class V>
  GAPLESS_INLINE void add(const V& value) {
    if constexpr (std::is_same_v<V, Lanes<double>>)
      wide += value;
    else
      rest += value;
  }
  GAPLESS_INLINE double total() const { return sum_of(wide) + rest; }
};

// The largest entry of an array, most of which is read by vectors, or `least` where no entry is larger.
struct LaneMost {
  Lanes<double> wide;
  double rest;

  GAPLESS_INLINE explicit LaneMost(double least) : wide(constant<Lanes<double>>(least)), rest(least) {}
  template <class V>
  GAPLESS_INLINE void add(const V& value) {
    if constexpr (std::is_same_v<V, Lanes<double>>)
      wide = larger<V>(value, wide);
    else
      rest = larger(value, rest);
  }
  GAPLESS_INLINE double total() const { return larger(largest_of(wide), rest); }
};

// Calls body<V>(k) for the places from `begin` to `end`; a V covers as many places from k on as it has lanes.
template <class Body>
GAPLESS_INLINE void by_lanes(Index begin, Index end, const Body& body) {
  Index k = begin;
  for (; k + lanes<double> <= end; k += lanes<double>) body.template operator()<Lanes<double>>(k);
  if constexpr (lanes<double> > 1)
    for (; k < end; ++k) body.template operator()<double>(k);
}

}  // namespace
}  // namespace gapless::GAPLESS_LEVEL
