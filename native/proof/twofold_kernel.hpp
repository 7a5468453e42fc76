// Kernel entries and decision values in numbers of twice the digits (twofold.hpp), for proofs that float64 is too coarse for. They are slow, one
// entry at a time. Every formula is evaluated as it is stated, distances from differences of features; entries that are given, by a matrix or by a
// function, are exact by definition. Errors are bounded by kernels/rounding.py, whose unit is smaller here.
#pragma once

#include <vector>

#include "core/rows.hpp"
#include "core/span.hpp"
#include "proof/twofold.hpp"

namespace gapless::proof {

// A kernel's formula as a tree. Each leaf that is a function of features holds the rows of features that it is evaluated on.
struct Formula {
  enum class Kind { linear, polynomial, sigmoid, rbf, laplacian, cosine, chi2, matern, constant, given, scaled, power, sum, product, exp, series };

  Kind kind = Kind::linear;
  double a = 0.0, b = 0.0;           // γ and c₀; for matern length scale and ν; for constant and scaled the number itself
  int degree = 1;                    // the degree of polynomial, the exponent of power
  std::vector<double> coefficients;  // the coefficients of series, the constant first
  std::vector<Formula> parts;
  Rows rows;
  Matrix<const double> entries;      // the entries of given: all samples (rows) with the chosen ones (columns)
};

struct TwoVector {
  double *hi, *lo;

  Two at(Index i) const { return {hi[i], lo[i]}; }
  void set(Index i, Two value) const { hi[i] = value.hi, lo[i] = value.lo; }
};

// Writes out[i] = Σ c_j k(x_i, x_chosen[j]) for the samples i < n.
void twofold_expansion(const Formula& kernel, Places chosen, Vector c, Index n, TwoVector out);

// Write w = Σ β_i x_i, and out[i] = ⟨w, x_i⟩ for a given w; `sizes` receives the same sums of absolute values, in float64.
void twofold_weights(const Rows& rows, Vector beta, TwoVector w, Out sizes);
void twofold_products(const Rows& rows, Vector w, TwoVector out, Out sizes);

}  // namespace gapless::proof
