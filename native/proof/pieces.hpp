// Sums over many samples by pieces, on all threads. The pieces, and the order in which their parts are joined, do not depend on the number of
// threads, and neither does a result.
#pragma once

#include <algorithm>
#include <vector>

#include "core/pool.hpp"
#include "core/span.hpp"

namespace gapless::proof {

// Some 0.1 ms of work: long beside the microsecond of a hand-over to another thread (core/pool.cpp), short beside the 20 ms between two looks for
// Ctrl-C.
constexpr Index piece_samples = 1 << 13;

// The results of work(begin, end) for each piece of n samples, in the order of the pieces.
template <class Part, class Work>
std::vector<Part> by_pieces(Index n, const Work& work) {
  const Index pieces = std::max<Index>(1, (n + piece_samples - 1) / piece_samples);
  std::vector<Part> parts(static_cast<std::size_t>(pieces));
  const auto one = [&](Index k, int) { parts[static_cast<std::size_t>(k)] = work(k * piece_samples, std::min(n, (k + 1) * piece_samples)); };
  if (pieces == 1)
    one(0, 0);
  else
    share(pieces, one);
  return parts;
}

}  // namespace gapless::proof
