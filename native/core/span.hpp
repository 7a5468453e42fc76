// Views of arrays whose memory belongs to the caller, and the types of their indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// For functions that files of several instruction sets share: always inlined, so that no copy compiled for one level is called from another
// (core/isa.hpp).
#if defined(__GNUC__) || defined(__clang__)
#define GAPLESS_INLINE [[gnu::always_inline]] inline
#else
#define GAPLESS_INLINE __forceinline
#endif

// For a pointer to an array that is reached through no other pointer: without this promise loops over several arrays do not vectorise.
#define GAPLESS_RESTRICT __restrict

namespace gapless {

using Index = std::int64_t;  // counts and places: NumPy's int64

template <class T>
using Span = std::span<T>;

using Vector = std::span<const double>;    // read
using Out = std::span<double>;             // written
using Places = std::span<const Index>;

GAPLESS_INLINE Index count(std::size_t n) { return static_cast<Index>(n); }
template <class T>
GAPLESS_INLINE Index length(std::span<T> values) { return static_cast<Index>(values.size()); }

// A matrix by rows that begin `stride` entries apart.
template <class T>
struct Matrix {
  T* data = nullptr;
  Index rows = 0, columns = 0, stride = 0;

  GAPLESS_INLINE T* row(Index i) const { return data + i * stride; }
  GAPLESS_INLINE T& operator()(Index i, Index j) const { return data[i * stride + j]; }
};

}  // namespace gapless
