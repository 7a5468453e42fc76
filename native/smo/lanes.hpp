// Vectors of the width of one register, and searches for the largest entry by vectors. Only files *.isa.cpp include this header: everything is in the
// namespace of the level, and in an anonymous one, so that no code of one level is called from another. A compiler without vector types gets one
// lane.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "core/span.hpp"

namespace gapless::smo::GAPLESS_LEVEL {
namespace {

#if defined(__GNUC__) || defined(__clang__)
#if defined(__AVX512F__)
#define GAPLESS_VECTOR __attribute__((vector_size(64)))
#elif defined(__AVX2__)
#define GAPLESS_VECTOR __attribute__((vector_size(32)))
#else
#define GAPLESS_VECTOR __attribute__((vector_size(16)))
#endif
#else
#define GAPLESS_VECTOR
#endif

template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  typedef float V GAPLESS_VECTOR;
  typedef std::int32_t Int;
  typedef std::int32_t I GAPLESS_VECTOR;
};
template <>
struct Lanes<double> {
  typedef double V GAPLESS_VECTOR;
  typedef std::int64_t Int;
  typedef std::int64_t I GAPLESS_VECTOR;
};

template <class T>
inline constexpr int width = sizeof(typename Lanes<T>::V) / sizeof(T);

template <class T>
GAPLESS_INLINE typename Lanes<T>::V load(const T* from) {
  typename Lanes<T>::V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class T>
GAPLESS_INLINE void store(T* to, typename Lanes<T>::V v) { std::memcpy(to, &v, sizeof v); }
template <class T>
GAPLESS_INLINE typename Lanes<T>::V all(T x) { return typename Lanes<T>::V{} + x; }

// The numbers from `first` on, one a lane.
template <class T>
GAPLESS_INLINE typename Lanes<T>::I lanes_from(Index first) {
  using Int = typename Lanes<T>::Int;
  static constexpr Int lane[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  typename Lanes<T>::I places;
  std::memcpy(&places, lane, sizeof places);
  return places + static_cast<Int>(first);
}

// The largest value so far of each lane and its place; of equal values the first.
template <class T>
struct Largest {
  using V = typename Lanes<T>::V;
  using I = typename Lanes<T>::I;
  using Int = typename Lanes<T>::Int;
  V value;
  I place;

  GAPLESS_INLINE explicit Largest(T least) : value(all(least)), place(I{} - 1) {}
  GAPLESS_INLINE void see(V v, I at) {
    const auto larger = v > value;
    value = larger ? v : value;
    place = larger ? at : place;
  }
  GAPLESS_INLINE void see(const Largest& other) {
    const auto larger = (other.value > value) | ((other.value == value) & (other.place < place));
    value = larger ? other.value : value;
    place = larger ? other.place : place;
  }
};

// The largest ratio so far of each lane and its place, for numerators that are not negative and denominators that are positive. Ratios are compared by
// products, since a division takes several times as long.
template <class T>
struct LargestRatio {
  using V = typename Lanes<T>::V;
  using I = typename Lanes<T>::I;
  V over, under;
  I place;

  GAPLESS_INLINE LargestRatio() : over(all(T(0))), under(all(T(1))), place(I{} - 1) {}
  GAPLESS_INLINE void see(V next_over, V next_under, I at) {
    const auto larger = next_over * under > over * next_under;
    over = larger ? next_over : over;
    under = larger ? next_under : under;
    place = larger ? at : place;
  }
  GAPLESS_INLINE Largest<T> ratio() const {
    Largest<T> found(T(0));
    found.value = over / under;
    found.place = place;
    return found;
  }
};

template <class T>
struct Found {
  T value;
  typename Lanes<T>::Int place;
};

#if defined(__GNUC__) || defined(__clang__)
// The lanes in another order: each changes places with the one `half` lanes away.
template <int half, class V, std::size_t... lane>
GAPLESS_INLINE V swapped(V v, std::index_sequence<lane...>) {
  return __builtin_shufflevector(v, v, (static_cast<int>(lane) ^ half)...);
}
template <int half, int w, class V>
GAPLESS_INLINE V largest_lane(V v) {
  if constexpr (half > 0) {
    const V other = swapped<half>(v, std::make_index_sequence<w>());
    return largest_lane<half / 2, w>(other > v ? other : v);
  } else {
    return v;
  }
}
template <int first, class V, std::size_t... lane>
GAPLESS_INLINE auto part_of(V v, std::index_sequence<lane...>) {
  return __builtin_shufflevector(v, v, (first + static_cast<int>(lane))...);
}
// The largest of w lanes: of half as many each time, since a narrow vector takes less time than a wide one.
template <int w, class V>
GAPLESS_INLINE auto largest_number(V v) {
  if constexpr (w == 2) {
    return v[0] > v[1] ? v[0] : v[1];
  } else {
    const auto low = part_of<0>(v, std::make_index_sequence<w / 2>()), high = part_of<w / 2>(v, std::make_index_sequence<w / 2>());
    return largest_number<w / 2>(high > low ? high : low);
  }
}
template <class T>
GAPLESS_INLINE T largest_of(typename Lanes<T>::V v) { return largest_number<width<T>>(v); }
// The largest value of all lanes; of equal ones the first place.
template <class T>
GAPLESS_INLINE Found<T> best_of(const Largest<T>& lanes) {
  constexpr int w = width<T>;
  const auto value = largest_lane<w / 2, w>(lanes.value);
  using I = typename Lanes<T>::I;
  const I none = I{} - std::numeric_limits<typename Lanes<T>::Int>::max();
  const I first = largest_lane<w / 2, w>(lanes.value == value ? -lanes.place : none);
  return {value[0], -first[0]};
}
#else
template <class T>
GAPLESS_INLINE T largest_of(T v) { return v; }
template <class T>
GAPLESS_INLINE Found<T> best_of(const Largest<T>& lanes) {
  return {lanes.value, lanes.place};
}
#endif

// The largest value of two searches; of equal ones the first place.
template <class T>
GAPLESS_INLINE Found<T> best_of(Largest<T> one, const Largest<T>& other) {
#if defined(__AVX512F__)
  // Mostly one lane has it, and then a mask tells which, sooner than places are compared.
  if constexpr (sizeof(T) == 4) {
    alignas(64) std::int32_t places[32];
    std::memcpy(places, &one.place, 64);
    std::memcpy(places + 16, &other.place, 64);
    const float value = largest_of<float>(one.value > other.value ? one.value : other.value);
    const auto wide = all(value);
    const unsigned mask = static_cast<unsigned>(_mm512_cmp_ps_mask(one.value, wide, _CMP_EQ_OQ)) |
                          static_cast<unsigned>(_mm512_cmp_ps_mask(other.value, wide, _CMP_EQ_OQ)) << 16;
    if (__builtin_expect(mask != 0 && (mask & (mask - 1)) == 0, 1)) return {value, places[__builtin_ctz(mask)]};
  }
#endif
  one.see(other);
  return best_of(one);
}

}  // namespace
}  // namespace gapless::smo::GAPLESS_LEVEL
