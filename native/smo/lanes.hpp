// Vectors of the width of one register, and searches for the largest entry by vectors. Only files *.isa.cpp include this header: everything is in the
// namespace of the level, and in an anonymous one, so that no code of one level is called from another. A compiler without vector types gets one
// lane.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

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
template <class T>
GAPLESS_INLINE T value_of(const Largest<T>& lanes) { return largest_lane<width<T> / 2, width<T>>(lanes.value)[0]; }
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
GAPLESS_INLINE T value_of(const Largest<T>& lanes) { return lanes.value; }
template <class T>
GAPLESS_INLINE Found<T> best_of(const Largest<T>& lanes) {
  return {lanes.value, lanes.place};
}
#endif

}  // namespace
}  // namespace gapless::smo::GAPLESS_LEVEL
