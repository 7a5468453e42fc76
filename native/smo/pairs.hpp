// SMO on a block of variables whose kernel matrix is in memory: pairs (i up, j down) that share an offset, one after the other (Platt 1998; Fan, Chen
// & Lin 2005).
//
// i has the largest rise − f; j has the least fall − f or, to second order, is the k whose pair gains most, (slope of the pair)² / its curvature. A
// step takes two sweeps over the block, in the precision of its matrix: one finds j, the other moves f and finds the next i. In float32 the sweeps
// move f less its value at the margin, so that it has all its digits where they matter; the step itself is computed in float64.
#pragma once

#include "core/dual.hpp"
#include "core/isa.hpp"
#include "core/span.hpp"
#include "smo/table_rows.hpp"

namespace gapless::smo {

// A block, whose groups are side by side: group g has the places from starts[g] to starts[g + 1]. K has n rows and at least n columns; where there is
// one group, further columns of zeros may fill up the vectors.
template <class T>
struct PairBlock {
  const DualBox& dual;
  const double* diagonal;
  TableRows<T> K;
  Index n;
  const Index* starts;
  Index n_groups;
};

// The numbers in float64 of scratch memory for a block whose matrix has so many columns.
constexpr Index pair_room(Index columns) { return 5 * (columns + 64); }

// Each loop makes pairs until no violation is above `target`, at most `max_steps`. It writes beta, and f in the precision of K, and returns the steps
// taken.
struct PairLoops {
  Index (*single)(const PairBlock<float>& block, bool second_order, double target, Index max_steps, double* beta, double* f, double* room);
  Index (*full)(const PairBlock<double>& block, bool second_order, double target, Index max_steps, double* beta, double* f, double* room);
};

GAPLESS_DECLARE_LEVELS(PairLoops, pair_loops)

}  // namespace gapless::smo
