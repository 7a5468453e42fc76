// The proof of a dual point whose samples are rows of a given Gram matrix: from a feasible β (proof/feasible.hpp) and its decision values Kβ
// (core/block_sums.hpp) to the values of D and P (proof/bounds.hpp) and, where classes are separated, P of the stretched model.
// gapless/proof/certificate.py (`evaluate`) and gapless/proof/hard.py (`separating`) do the same step by step for problems of every kind.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "proof/feasible.hpp"
#include "proof/primal_side.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

// A problem with free offsets and finite costs.
struct TableProblem {
  DualBox box;
  Places groups;
  Vector totals;
  Vector g, r;   // of each sample: bounds on its kernel entries and on their errors, as kernels/rounding.py defines them
  bool margins;  // whether the loss is the hinge: a multiple of β is as feasible as β, and the best model may have no loss at all
  Vector factors = {};  // what f was summed with, where that is not β: of samples that are the same, one may have the sum of their β, and the others 0
};

struct TableProof {
  double primal = infinity, dual = -infinity;              // P* is between them
  double rounding = 0.0;                                   // the part of their distance that was added for rounding
  double violation = infinity;                             // the largest violation of the optimality conditions
  double outside = 0.0, off = 0.0;                         // how far the given β was from its box, and from its sums
  double plain_primal = infinity, plain_dual = -infinity;  // P and D of the given point, as computed
  bool own = true;                                         // whether the model is the dual point's own, and not a stretched one
  double margin = 1.0;                                     // what β of a stretched model is to be divided by; else 1
  double apart = infinity, apart_rounding = 0.0;           // a bound on ‖w − w*‖² for w of the dual point or of the model, and its part for rounding
};

// Arrays for the samples of one problem, which the next problem uses again.
struct TableRoom {
  std::vector<double> sizes;
  std::vector<Interval> plain;
};

// Writes f = Kβ of the samples `places` of the matrix K, and returns the number of entries of β that are not zero, each of which is one rounding of a
// sum.
Index expand(Matrix<const double> K, Places places, Vector beta, Out f);

// A bound on the errors of sums over a table, Σ β_j k(x, x_j) in `roundings` roundings each.
ExpansionError sum_error(const ExpansionSizes& sizes, double roundings);

// `beta` is a feasible point, `repair` tells how it became one, and f are its decision values, sums of `terms` products each. Writes the best multiple
// of both into beta and f, and for each group the interval of the best offsets of the proven model, in the middle of which is the model's. Where the
// proven model is stretched, beta and f are not. Nothing is proven where a value is not finite.
TableProof prove(const TableProblem& problem, const Repair& repair, Out beta, Out f, double terms, std::span<Interval> offsets, TableRoom& room);

}  // namespace gapless::proof
