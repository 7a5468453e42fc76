// SMO on a block of variables whose kernel matrix is at hand: pairs (i up, j down) that share an offset, one after the other (Platt 1998; Fan, Chen &
// Lin 2005).
//
// i is the largest rise − f; j the least fall − f, or, to second order, the k whose pair gains most, (slope of the pair)² / its curvature. A step is
// two sweeps over the block, in the precision of its matrix: one finds j, the other moves f and finds the next i. In float32 what moves is f less its
// value at the margin, so that it has all its digits where they matter; the step itself is float64.
#pragma once

#include "core/dual.hpp"
#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless::smo {

// A block: its groups are side by side, `starts` (n_groups + 1 places) tells where. K has `n` rows and at least as many columns; further columns,
// which one group may have, are zero, and fill up the vectors.
template <class T>
struct PairBlock {
  const DualBox& dual;
  const double* diagonal;
  Matrix<const T> K;
  Index n;
  const Index* starts;
  Index n_groups;
};

// Doubles of scratch memory for a block of a matrix with so many columns.
constexpr Index pair_room(Index columns) { return 5 * (columns + 64); }

// Each solves pairs until nothing violates by more than `target`, or `max_steps`: writes beta, and f as far as the precision of K goes; returns the
// steps taken.
struct PairLoops {
  Index (*single)(const PairBlock<float>& block, bool second_order, double target, Index max_steps, double* beta, double* f, double* room);
  Index (*full)(const PairBlock<double>& block, bool second_order, double target, Index max_steps, double* beta, double* f, double* room);
};

GAPLESS_DECLARE_LEVELS(PairLoops, pair_loops)

}  // namespace gapless::smo
