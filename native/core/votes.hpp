// One-vs-one: the votes of pairs of classes. The pairs are (0, 1), (0, 2), …, (1, 2), …; a decision above zero is a vote for the first class of its pair,
// any other for the second. The class with the most votes wins, of several the first.
#pragma once

#include "core/span.hpp"

namespace gapless {

// winners[i] is the class that wins by the decisions of row i.
void winners(Matrix<const double> decisions, Index classes, Index* winners);

// possible(i, c) is 1 where class c may win in row i by decisions between low(i, :) and high(i, :): where, with all its open pairs won, it is not behind
// what another class is sure of; else 0.
void possible_winners(Matrix<const double> low, Matrix<const double> high, Index classes, Matrix<bool> possible);

}  // namespace gapless
