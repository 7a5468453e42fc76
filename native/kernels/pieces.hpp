// How work on many entries is cut into pieces. The pieces do not depend on the number of threads, and neither does any result.
#pragma once

#include <algorithm>
#include <functional>

#include "core/pool.hpp"
#include "core/span.hpp"

namespace gapless {

constexpr Index few_entries = 1 << 17;    // entries up to which work on short rows takes under 0.1 ms, and a second thread is not worth waking
constexpr Index many_entries = 1 << 24;   // the most entries of a piece: a tenth of a second where rows are long, and Ctrl-C is heard between pieces
constexpr Index pieces_least = 16;        // pieces that there should be at least, for several threads to share the work evenly
constexpr Index widest = 1024;            // the most right rows of a piece: their sums are 8 KiB

GAPLESS_INLINE Index up_to(Index n, Index grain) { return (n + grain - 1) / grain * grain; }

// The pieces of n places, each beginning at a multiple of `grain`, where every place has `across` entries.
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

// share() of core/pool.hpp, without the pool where there are few entries.
inline void share_entries(Index pieces, Index entries, const std::function<void(Index, int)>& work) {
  if (entries >= few_entries && pieces > 1) return share(pieces, work);
  for (Index piece = 0; piece < pieces; ++piece) work(piece, 0);
}

}  // namespace gapless
