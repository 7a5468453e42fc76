// How much the rounds of SMO take on. The sizes of blocks and active sets, and how many enter, were tried on rows of benchmarks/kernel.py; the shares
// and bounds are choices that held there.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/span.hpp"

namespace gapless::smo {

inline constexpr Index few = 1200;         // up to this many samples are one block, whose entries are float64
inline constexpr Index whole = 2048;       // up to this many samples all are in the active set
inline constexpr Index block_size = 512;   // variables of a block: its kernel matrix is a MiB of float32
// Samples that enter the active set in a round: half as many as there are support vectors, within these bounds.
inline constexpr Index least_enter = 1024, most_enter = 2048;
inline constexpr double enter_share = 0.05;  // of the largest violation, by which they violate at least
// Samples of the active set: few where there are few support vectors, most where many of them are free.
inline constexpr Index least_active = 1024, most_active = 6144, full_active = 8192;
inline constexpr double table_bytes = 4.0 * most_active * most_active;  // of the active set's entries where rows are kept too: those get the rest
inline constexpr double level_gap = 0.1;      // the relative gap at which a part of the samples has taught enough
inline constexpr Index patience = 50;         // fresh starts after which a move no longer counts as progress
inline constexpr Index most_stuck = 3;        // refreshes in a row that nothing moves after
inline constexpr double most_steps = 200'000; // pairs of a round, so that a bound on time is heard
inline constexpr double off = 4.0;            // errors of f up to so many times their mean are expected
inline constexpr double near_share = 10.0;    // largest violations from violating, up to which f is refreshed
inline constexpr double round_share = 0.1;    // share of the violation that a round leaves in its active set
inline constexpr double faced_share = 0.02;   // the same for one with Newton steps
inline constexpr double block_share = 0.1;    // and a block in its own
inline constexpr double groups_share = 0.2;   // the same where all are one block of several groups
inline constexpr double trusted = 0.95;       // of a target: what the engine's own gap has to meet

struct Support {
  Index all = 0, free = 0;  // support vectors, and those between their bounds
};

template <class Dual>
Support support_of(const Dual& dual, Index n, const double* beta) {
  Support found;
  for (Index k = 0; k < n; ++k) {
    found.all += beta[k] != 0.0;
    found.free += dual.lower[k] < beta[k] && beta[k] < dual.upper[k] && beta[k] != 0.0;
  }
  return found;
}

inline Index rounded_up(Index n, Index to) { return (n + to - 1) / to * to; }

inline Index entering_at_most(Support support) { return std::clamp(rounded_up(support.all / 2, 256), least_enter, most_enter); }

// How many of n samples the active set may hold, `most` by its memory and `room` so far: all free support vectors, as far as there is room, and those
// that enter.
inline Index active_limit(Index n, Index most, Index room, Support support, bool keeps_rows) {
  if (n <= whole) return most;
  const Index wanted = rounded_up(5 * support.free / 4 + entering_at_most(support), 1024);
  const Index usual = std::min(most_active, rounded_up(block_size + 3 * support.all / 2, 1024));
  const Index full = keeps_rows ? most_active : full_active;  // rows have the room beyond
  return std::min(most, std::max({room, usual, std::min(wanted, full), least_active}));
}

inline double distance_of(const std::vector<double>& one, const std::vector<double>& other) {
  double square = 0.0;
  for (std::size_t k = 0; k < one.size(); ++k) square += (one[k] - other[k]) * (one[k] - other[k]);
  return std::sqrt(square);
}

}  // namespace gapless::smo
