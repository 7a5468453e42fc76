// SMO on a block of variables whose kernel matrix is in memory: pairs (i up, j down) that share an offset, one after the other (Platt 1998; Fan, Chen
// & Lin 2005).
//
// i has the largest rise − f; j has the least fall − f or, to second order, is the k whose pair gains most, (slope of the pair)² / its curvature. A
// step takes two sweeps over the block, in the precision of its matrix: one finds j, the other moves f and finds the next i. In float32 the sweeps
// move f less its value at the margin, so that it has all its digits where they matter; the step itself is computed in float64. Half of the time of a
// short sweep is spent on waiting for its end, so that small problems are solved several at a time.
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

// How far apart vectors are in the scratch memory of a block whose matrix has so many columns, and the numbers in float64 of that memory.
constexpr Index pair_apart(Index columns) { return (columns + 31) / 16 * 16; }
constexpr Index pair_room(Index columns) { return 5 * pair_apart(columns); }

// A problem: pairs are made until no violation is above `target`, at most `max_steps` of them. Its beta is written, and f in the precision of K.
template <class T>
struct PairTask {
  PairBlock<T> block;
  bool second_order;
  double target;
  Index max_steps;
  double *beta, *f;
  double* room;     // pair_room(K's columns) numbers
  Index steps = 0;  // is written: the pairs that were made
};

inline constexpr Index most_pair_tasks = 8;

// Each loop solves some problems at a time, at most `most_pair_tasks`; what becomes of one does not depend on the others.
struct PairLoops {
  void (*single)(PairTask<float>* tasks, Index count);
  void (*full)(PairTask<double>* tasks, Index count);
};

GAPLESS_DECLARE_LEVELS(PairLoops, pair_loops)

}  // namespace gapless::smo
