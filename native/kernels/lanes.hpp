// Vectors of the widest registers of a level. Only files *.isa.cpp include this header, and everything here is inlined into them.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "core/span.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed to always inlined functions alone, which have no calling convention
#endif

namespace gapless::GAPLESS_LEVEL {

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
constexpr int tile_rows = 14;  // 28 of 32 registers hold sums; measured against 12 rows of two vectors and 8 of three
#elif defined(__AVX__)
constexpr int register_bytes = 32;
constexpr int tile_rows = 6;  // 12 of 16 registers
#elif defined(__aarch64__)
constexpr int register_bytes = 16;
constexpr int tile_rows = 8;  // 16 of 32 registers, and as many again for loads
#else
constexpr int register_bytes = 16;
constexpr int tile_rows = 4;  // 8 of 16 registers: products need a register of their own
#endif

template <class T>
constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));

// A vector of T with as many lanes as a register has of `Of`.
template <class T, class Of = T>
struct LanesOf {
  typedef T type __attribute__((vector_size(lanes<Of> * sizeof(T))));
};
template <class T, class Of = T>
using Lanes = typename LanesOf<T, Of>::type;

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using type = std::int32_t;
};
template <>
struct Bits<double> {
  using type = std::int64_t;
};

template <class T>
GAPLESS_INLINE Lanes<T> load(const T* from) {
  Lanes<T> value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class T>
GAPLESS_INLINE void store(T* to, Lanes<T> value) {
  std::memcpy(to, &value, sizeof(value));
}

// The same numbers in float64.
template <class T>
GAPLESS_INLINE Lanes<double, T> doubled(Lanes<T> value) {
  return __builtin_convertvector(value, Lanes<double, T>);
}

template <class T>
GAPLESS_INLINE Lanes<T> all(T value) {
  return Lanes<T>{} + value;
}

// The larger of each entry and a bound, and below the smaller; NaN stays NaN. The intrinsics are one instruction, where GCC makes two of a
// comparison; the masked ones of AVX-512 avoid a warning in GCC's own header.
template <class T>
GAPLESS_INLINE Lanes<T> at_least(Lanes<T> value, T bound) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Lanes<T>)_mm512_maskz_max_ps(0xffff, (__m512)all<T>(bound), (__m512)value);
  else
    return (Lanes<T>)_mm512_maskz_max_pd(0xff, (__m512d)all<T>(bound), (__m512d)value);
#elif defined(__AVX__)
  if constexpr (sizeof(T) == 4)
    return (Lanes<T>)_mm256_max_ps((__m256)all<T>(bound), (__m256)value);
  else
    return (Lanes<T>)_mm256_max_pd((__m256d)all<T>(bound), (__m256d)value);
#else
  return value < bound ? all<T>(bound) : value;
#endif
}

template <class T>
GAPLESS_INLINE Lanes<T> at_most(Lanes<T> value, T bound) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Lanes<T>)_mm512_maskz_min_ps(0xffff, (__m512)all<T>(bound), (__m512)value);
  else
    return (Lanes<T>)_mm512_maskz_min_pd(0xff, (__m512d)all<T>(bound), (__m512d)value);
#elif defined(__AVX__)
  if constexpr (sizeof(T) == 4)
    return (Lanes<T>)_mm256_min_ps((__m256)all<T>(bound), (__m256)value);
  else
    return (Lanes<T>)_mm256_min_pd((__m256d)all<T>(bound), (__m256d)value);
#else
  return value > bound ? all<T>(bound) : value;
#endif
}

template <class T>
GAPLESS_INLINE Lanes<T> magnitude(Lanes<T> value) {
  using Whole = Lanes<typename Bits<T>::type, T>;
  return (Lanes<T>)((Whole)value & std::numeric_limits<typename Bits<T>::type>::max());
}

// As many bytes as a vector of T has lanes, converted to T. The intrinsics are there because GCC 12 compiles the plain conversion byte by byte.
template <class T>
GAPLESS_INLINE Lanes<T> from_bytes(const std::uint8_t* from) {
  using Whole = Lanes<std::int32_t, T>;
#if defined(__SSE4_1__)
  __m128i bytes;
  if constexpr (lanes<T> == 16) {
    bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  } else if constexpr (lanes<T> == 8) {
    bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  } else {
    std::int32_t few = 0;
    std::memcpy(&few, from, lanes<T>);
    bytes = _mm_cvtsi32_si128(few);
  }
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return __builtin_convertvector((Whole)_mm512_maskz_cvtepu8_epi32(0xffff, bytes), Lanes<T>);
  else
    return __builtin_convertvector((Whole)_mm256_cvtepu8_epi32(bytes), Lanes<T>);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4)
    return __builtin_convertvector((Whole)_mm256_cvtepu8_epi32(bytes), Lanes<T>);
  else
    return __builtin_convertvector((Whole)_mm_cvtepu8_epi32(bytes), Lanes<T>);
#elif defined(__SSE4_1__)
  if constexpr (sizeof(T) == 4)
    return __builtin_convertvector((Whole)_mm_cvtepu8_epi32(bytes), Lanes<T>);
  else
    return (Lanes<T>)_mm_cvtepi32_pd(_mm_cvtepu8_epi32(bytes));
#else
  Lanes<std::uint8_t, T> bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  return __builtin_convertvector(__builtin_convertvector(bytes, Whole), Lanes<T>);
#endif
}

}  // namespace gapless::GAPLESS_LEVEL
