// The kernel perceptron along its samples: β_i ← β_i + y_i whenever y_i f(x_i) ≤ 0, with f = Kβ (Rosenblatt 1958; Aizerman et al. 1964).
//
// There is one function f for each class against the rest, with signs y of its own. Samples are numbered in a pool: the first ones were stored from
// former batches, and the present batch begins at `first`.
#pragma once

#include <vector>

#include "core/span.hpp"

namespace gapless {

// The rows of K that are kept: the row of sample i of the pool is rows(slot_of[i], ·).
struct KeptRows {
  Matrix<const double> rows;
  Places slot_of;             // −1 where a sample has no row
  Span<const bool> admitted;  // whether a sample may be stored
};

struct Mistake {
  Index sample, function, time;
  double sign;
};

// The state of all functions, a row for each: β, the values F of f on the batch, and `delayed` = Σ t Δβ over the updates at times t, from which the
// average of β over all times follows.
struct Functions {
  Matrix<double> beta, delayed, F;
  Index seen;  // the number of samples passed so far: the time
};

// Goes on from order[position]. A sample on which all functions are right is passed; where some are wrong, their β is updated. Stops, and returns the
// position, at the end, or at a sample with mistakes that has no row of K or is not admitted. Writes `learned`, and appends to `mistakes`.
Index walk_perceptron(Places order, Index position, Matrix<const double> signs, Index first, const KeptRows& kept, Functions& learned,
                      std::vector<Mistake>& mistakes);

}  // namespace gapless
