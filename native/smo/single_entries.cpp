#include "smo/single_entries.hpp"

#include <algorithm>
#include <utility>

#include "core/pool.hpp"
#include "smo/sizes.hpp"

namespace gapless::smo {
namespace {

constexpr Index strip = 64;                 // rows of a table that a thread copies at a time
constexpr double largest_single = 0x1p100;  // entries up to so much, and no less than one over it, are safe in float32

Index single_stride(Index m) { return (m + 15) / 16 * 16; }

}  // namespace

Index single_room(Index m) { return m * single_stride(m); }

bool suits_single(Vector diagonal) {
  return std::all_of(diagonal.begin(), diagonal.end(), [](double k) { return k <= largest_single && k >= 1.0 / largest_single; });
}

template <class T>
void SingleEntries::prepare(Matrix<const T> K, Places places, Places ends, const double* diagonal) {
  if (std::exchange(prepared_, true)) return;
  const Index m = length(places), stride = single_stride(m);
  if constexpr (sizeof(T) == 4)
    if (m == K.rows && ends[0] == m) all = K;
  if (all.data == nullptr && room_ != nullptr) {
    share((m + strip - 1) / strip, [&](Index piece, int) {
      for (Index i = piece * strip; i < std::min((piece + 1) * strip, m); ++i) {
        const T* const from = K.row(places[i]);
        float* const to = room_ + i * stride;
        for (Index j = 0; j < m; j = ends[j])
          for (Index k = j; k < ends[j]; ++k) to[k] = static_cast<float>(from[places[j] + k - j]);
        std::fill(to + m, to + stride, 0.0f);
      }
    });
    all = {room_, m, stride, stride};
  }
  if (all.data != nullptr && m > one_block) few.take(all, diagonal);
}

template void SingleEntries::prepare(Matrix<const float>, Places, Places, const double*);
template void SingleEntries::prepare(Matrix<const double>, Places, Places, const double*);

}  // namespace gapless::smo
