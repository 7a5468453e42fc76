// Kernel entries and decision values in numbers of twice the digits (twofold.hpp), for proofs that float64 is too coarse for: slow, one entry at a
// time. Every formula is evaluated as it is stated, distances from differences; entries that are given, by a matrix or by a function, are exact by
// definition. An operation counts as one of kernels/rounding.py's, with a smaller unit.
#pragma once

#include <vector>

#include "core/rows.hpp"
#include "core/span.hpp"
#include "proof/twofold.hpp"

namespace gapless::proof {

// A kernel's formula as a tree. A leaf that has a formula has rows of its own: those that its formula is of.
struct Formula {
  enum class Kind { linear, polynomial, sigmoid, rbf, laplacian, cosine, chi2, matern, constant, given, scaled, power, sum, product, exp, series };

  Kind kind = Kind::linear;
  double a = 0.0, b = 0.0;           // γ and c₀ (length scale and ν of matern); the constant or the scale of those that have one
  int degree = 1;                    // of polynomial and power
  std::vector<double> coefficients;  // of series, the constant first
  std::vector<Formula> parts;
  Rows rows;
  Matrix<const double> entries;      // given: of all samples (down) with the chosen ones (across)
};

struct TwoVector {
  double *hi, *lo;

  Two at(Index i) const { return {hi[i], lo[i]}; }
  void set(Index i, Two value) const { hi[i] = value.hi, lo[i] = value.lo; }
};

// out[i] = Σ c_j k(x_i, x_chosen[j]) for samples i below n.
void twofold_expansion(const Formula& kernel, Places chosen, Vector c, Index n, TwoVector out);

// w = Σ β_i x_i, and out[i] = ⟨w, x_i⟩ of a given w; `sizes` are the same sums of absolute values, in float64.
void twofold_weights(const Rows& rows, Vector beta, TwoVector w, Out sizes);
void twofold_products(const Rows& rows, Vector w, TwoVector out, Out sizes);

}  // namespace gapless::proof
