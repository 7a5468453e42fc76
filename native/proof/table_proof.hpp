// The proof of a dual point whose samples are rows of a given Gram matrix, from the point alone to both bounds: a feasible β (proof/feasible.hpp), its
// decision values Kβ with a bound on their errors, the values of D and P (proof/bounds.hpp) and, where classes are separated, P of the stretched
// model. gapless/proof/certificate.py (`evaluate`) and gapless/proof/hard.py (`separating`) do the same step by step for problems of every kind.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "proof/primal_side.hpp"

namespace gapless::proof {

// A problem with free offsets and finite costs, whose sample i is row places[i] of the symmetric matrix K.
struct TableProblem {
  DualBox box;
  Places groups;
  Vector totals;
  Matrix<const double> K;
  Places places;
  Vector g, r;   // of each row of K: bounds on its entries and on their errors, as kernels/rounding.py defines them
  bool margins;  // whether the loss is the hinge: a multiple of β is as feasible as β, and the best model may have no loss at all
};

struct TableProof {
  double primal = infinity, dual = -infinity;              // P* is between them
  double rounding = 0.0;                                   // the part of their distance that was added for rounding
  double violation = infinity;                             // the largest violation of the optimality conditions
  double outside = 0.0, off = 0.0;                         // how far the given β was from its box, and from its sums
  double plain_primal = infinity, plain_dual = -infinity;  // P and D of the given point, as computed
  bool own = true;                                         // whether the model is the dual point's own, and not a stretched one
};

// Arrays for the samples of one problem, which the next problem uses again.
struct TableRoom {
  std::vector<double> f, sizes, g, r;
  std::vector<Interval> plain;
};

// Writes the coefficients of the proven model, and for each group the interval of its best offsets, in the middle of which is the model's. Nothing is
// proven where a value is not finite.
TableProof prove(const TableProblem& problem, Vector point, Out beta, std::span<Interval> offsets, TableRoom& room);

}  // namespace gapless::proof
