// The kernel perceptron's walk along its samples: β_i ← β_i + y_i whenever y_i f(x_i) ≤ 0, with f = Kβ (Rosenblatt 1958; Aizerman et al. 1964).
//
// There is a function for each class against the rest, whose signs are y. The first samples of the pool are stored ones of former batches; the batch
// itself begins at `first`.
#pragma once

#include <vector>

#include "core/span.hpp"

namespace gapless {

// A row of K for each sample that has one: that of sample i of the pool is rows(slot_of[i], ·).
struct KeptRows {
  Matrix<const double> rows;
  Places slot_of;             // −1 where there is none
  Span<const bool> admitted;  // whether a sample may be stored
};

struct Mistake {
  Index sample, function, time;
  double sign;
};

// What has been learned: a row for each function. F has the values of f on the batch, delayed Σ t Δβ, from which averages follow.
struct Functions {
  Matrix<double> beta, delayed, F;
  Index seen;
};

// Goes on from order[position]: a sample of which all functions are right is passed, and one with mistakes teaches them. Stops, and returns the
// position, at a sample with mistakes that has no row or is not admitted, or at the end. Writes what was learned, and adds to the mistakes.
Index walk_perceptron(Places order, Index position, Matrix<const double> signs, Index first, const KeptRows& kept, Functions& learned,
                      std::vector<Mistake>& mistakes);

}  // namespace gapless
