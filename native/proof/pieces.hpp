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

// Calls join(work(begin, end)) for each piece of n samples, in the order of the pieces.
template <class Work, class Join>
void by_pieces(Index n, const Work& work, const Join& join) {
  if (n <= piece_samples) return join(work(Index{0}, n));
  const Index pieces = (n + piece_samples - 1) / piece_samples;
  std::vector<decltype(work(Index{0}, n))> parts(static_cast<std::size_t>(pieces));
  share(pieces, [&](Index k, int) { parts[static_cast<std::size_t>(k)] = work(k * piece_samples, std::min(n, (k + 1) * piece_samples)); });
  for (const auto& part : parts) join(part);
}

}  // namespace gapless::proof
