// How work on many entries is divided, whatever the number of threads, so that no result depends on that.
#pragma once

#include <algorithm>
#include <functional>

#include "core/pool.hpp"
#include "core/span.hpp"

namespace gapless {

constexpr Index few_entries = 1 << 17;    // below which a second thread is not worth its hand-over
constexpr Index many_entries = 1 << 24;   // of a piece at most: a tenth of a second where rows are long, and Ctrl-C is heard between pieces
constexpr Index pieces_least = 16;        // for threads to share evenly
constexpr Index widest = 1024;            // right rows of a piece

GAPLESS_INLINE Index up_to(Index n, Index grain) { return (n + grain - 1) / grain * grain; }

// Begins of pieces of n places, at multiples of `grain`; an entry for each place and each of `across`.
struct Pieces {
  Pieces(Index n, Index across, Index grain, Index most = widest) : n(n) {
    const Index heard = std::min(most, std::max<Index>(1, many_entries / std::max<Index>(1, across)));
    width = n * across < few_entries ? std::max<Index>(n, 1) : up_to(std::min(heard, std::max<Index>(1, n / pieces_least)), grain);
    count = (n + width - 1) / width;
  }
  Index begin(Index piece) const { return piece * width; }
  Index end(Index piece) const { return std::min(n, (piece + 1) * width); }

  Index n, width, count;
};

// share, without the pool where there are few entries.
inline void share_entries(Index pieces, Index entries, const std::function<void(Index, int)>& work) {
  if (entries >= few_entries && pieces > 1) return share(pieces, work);
  for (Index piece = 0; piece < pieces; ++piece) work(piece, 0);
}

}  // namespace gapless
