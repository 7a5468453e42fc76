// Loops over tiles of dense rows, for every level.
//
// Rows are packed side by side, feature by feature, in panels: `tile_rows` rows on the left, `tile_columns` on the right, the lanes of two vectors.
// The sums of one tile stay in registers from the first feature on, through the exponential (or power, or tanh) of each, until the entries are used.
//
// RBF: with rows a = (x − centre) √(2γ log₂ e) and b likewise of z, log₂ k = ⟨a, b⟩ − ½‖a‖² − ½‖b‖²; the sums begin at the two norms.
// Long rows in float32 are summed in stretches of features, and the stretches added up, so that the error of a long sum is that of a short one.
#pragma once

#include "core/isa.hpp"
#include "core/span.hpp"
#include "kernels/expression.hpp"

namespace gapless {

// A float32 sum of n terms is off by up to n u: 256 u = 1.5e-5 at most, and rows of 1,000 features, in 8 stretches of 128, have 136 u.
constexpr Index undivided_features = 256;  // features up to which a row in float32 is one stretch
constexpr Index feature_stretch = 128;     // features of a stretch of longer rows

// The function that turns the product of two rows into an entry.
template <class T>
struct Formula {
  Expression::Kind kind;  // linear, polynomial, sigmoid, rbf or laplacian
  T gamma, coef0;         // of polynomial and sigmoid
  int degree;
  Index d;                // features
};

// Panels of packed rows, and for RBF the norm −½‖a‖² of each row.
template <class T>
struct Packed {
  const T *values, *norms;
};

template <class T>
struct DenseLoops {
  Index tile_rows, tile_columns;
  // out[j] += Σ over the left rows of c k, for each right row j: in precision T over the rows of one left panel, in float64 over the panels.
  void (*sum)(const Formula<T>&, Packed<T> left, const T* c, Index left_panels, Packed<T> right, Index right_panels, double* out);
  // The same for two weights: c, where every term is added in float64, and e, in precision T over a panel. For RBF alone.
  void (*sum_two)(const Formula<T>&, Packed<T> left, const double* c, const T* e, Index left_panels, Packed<T> right,
                  Index right_panels, double* out_c, double* out_e);
  // Each entry for both of its rows: out[j] += Σ over the left rows of c k, and for each left row i, Σ over the right rows of e k, added to its
  // `lanes` partial sums from out_left[lanes i] on.
  void (*sum_both)(const Formula<T>&, Packed<T> left, const T* c, Index left_panels, Packed<T> right, const T* e,
                   Index right_panels, double* out, double* out_left);
  // out[i stride + j] = k of left row i and right row j.
  void (*tile)(const Formula<T>&, Packed<T> left, Index rows, Packed<T> right, Index columns, T* out, Index stride);
  // out[m tile_columns + j] += Σ over i of weight(m, i) k(i, j). The weights are packed like left rows whose features are the samples i; the entries
  // k(i, j) are rows of tile_columns numbers.
  void (*multiply)(const T* weights, Index panels, const T* entries, Index n, double* out);
  Index lanes;  // numbers of type T in a vector
};

struct DenseTable {
  DenseLoops<float> single;
  DenseLoops<double> twice;

  template <class T>
  const DenseLoops<T>& of() const {
    if constexpr (sizeof(T) == 4)
      return single;
    else
      return twice;
  }
};

GAPLESS_DECLARE_LEVELS(DenseTable, dense_table)

}  // namespace gapless
