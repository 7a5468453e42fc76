// The sizes of the rounds of SMO. The sizes of blocks and active sets, and how many samples enter, are the best of those tried on rows of
// benchmarks/kernel.py; the shares and bounds are choices that held there.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/span.hpp"

namespace gapless::smo {

inline constexpr Index whole = 2048;       // the most samples of a problem whose samples all are in the active set; in float64 it is one block
inline constexpr Index one_block = 1024;   // the most samples of a table that are one block of pairs, without being copied
inline constexpr Index block_size = 512;   // variables of a block: its kernel matrix is a MiB of float32
// Samples that enter the active set in a round: half as many as there are support vectors, within these bounds.
inline constexpr Index least_enter = 1024, most_enter = 2048;
inline constexpr double enter_share = 0.05;  // a sample enters where its violation is at least this share of the largest one
// Samples of the active set: at least so many, usually at most so many, and at most full_active where so many support vectors are free.
inline constexpr Index least_active = 1024, most_active = 6144, full_active = 8192;
inline constexpr double table_bytes = 4.0 * most_active * most_active;  // memory of the active set where rows are kept; rows get the rest
inline constexpr double level_gap = 0.1;      // the relative gap on a part of the samples at which the part is doubled
inline constexpr Index patience = 50;         // refreshes of f after which moves no longer count as progress
inline constexpr Index most_stuck = 3;        // refreshes of f without progress in between after which the solve is stalled
inline constexpr double most_steps = 200'000; // the most pairs of a round, some tenths of a second, so that a bound on time is heard
inline constexpr double off = 4.0;            // errors of f are taken to be up to so many times their mean
inline constexpr double near_share = 10.0;    // f is refreshed for samples that are up to so many times the largest violation from violating
inline constexpr double round_share = 0.1;    // a round ends at this share of the violation that its active set began with
inline constexpr double faced_share = 0.02;   // a round with Newton steps ends at this share
inline constexpr double block_share = 0.1;    // a block ends at this share of the violation that it began with
inline constexpr double groups_share = 0.2;   // a block ends at this share where all samples are one block of several groups
inline constexpr double walk_share = 0.1;     // a walk over faces goes on to this share of the violation that is asked for: its last steps are few
inline constexpr double walk_room = 4.0;      // the work of a walk, as a multiple of the work of the pairs before it
inline constexpr double trusted = 0.95;       // the engine is ready where its own gap is at most this share of the target

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

// All free support vectors, those that may become free, and those that enter.
inline Index wanted_active(Support support) { return rounded_up(5 * support.free / 4 + entering_at_most(support), 1024); }

// How many of n samples the active set may hold: all free support vectors and those that enter, as far as memory goes (`most`); never less than the
// `room` that it has already.
inline Index active_limit(Index n, Index most, Index room, Support support, bool keeps_rows) {
  if (n <= whole) return most;
  const Index usual = std::min(most_active, rounded_up(block_size + 3 * support.all / 2, 1024));
  const Index full = keeps_rows ? most_active : full_active;  // kept rows take the memory beyond
  return std::min(most, std::max({room, usual, std::min(wanted_active(support), full), least_active}));
}

inline double distance_of(const std::vector<double>& one, const std::vector<double>& other) {
  double square = 0.0;
  for (std::size_t k = 0; k < one.size(); ++k) square += (one[k] - other[k]) * (one[k] - other[k]);
  return std::sqrt(square);
}

}  // namespace gapless::smo
