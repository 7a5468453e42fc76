// Loops over tiles of dense rows, for every level.
//
// Rows are packed side by side, feature by feature: `tile_rows` on the left, `tile_columns` on the right, which are the lanes of two vectors.
// The sums of one tile stay in registers from its first feature to its use, through the exponential (or power, or tanh) of each.
//
// RBF: with rows a = (x − centre) √(2γ log₂ e), log₂ k = ⟨a, b⟩ − ½‖a‖² − ½‖b‖²; the sum of the two norms is where the product begins.
// Features come in stretches whose sums are added up, so that the error of a long sum in float32 is that of a short one.
#pragma once

#include "core/isa.hpp"
#include "core/span.hpp"
#include "kernels/expression.hpp"

namespace gapless {

constexpr Index undivided_features = 256;  // that are one stretch, in float32
constexpr Index feature_stretch = 128;     // of longer rows

// What turns a product into an entry.
template <class T>
struct Formula {
  Expression::Kind kind;  // linear, polynomial, sigmoid, rbf or laplacian
  T gamma, coef0;         // of polynomial and sigmoid
  int degree;
  Index d;                // features
};

// Whole panels of packed rows, with −½‖a‖² of each row for RBF.
template <class T>
struct Packed {
  const T *values, *norms;
};

template <class T>
struct DenseLoops {
  Index tile_rows, tile_columns;
  // out[j] += Σ over the left rows of c k for each right column, in T over the rows of one panel and in float64 over panels.
  void (*sum)(const Formula<T>&, Packed<T> left, const T* c, Index left_panels, Packed<T> right, Index right_panels, double* out);
  // For two weights, c whose every term is added in float64, and e like c above; RBF alone.
  void (*sum_two)(const Formula<T>&, Packed<T> left, const double* c, const T* e, Index left_panels, Packed<T> right,
                  Index right_panels, double* out_c, double* out_e);
  // An entry for both of its samples: out[j] += Σ c k over the left rows, and for each left row as many float64 lanes as a vector of T has,
  // out_left[lanes i + …] += e k over the right columns.
  void (*sum_both)(const Formula<T>&, Packed<T> left, const T* c, Index left_panels, Packed<T> right, const T* e,
                   Index right_panels, double* out, double* out_left);
  // out[i stride + j] = k of left row i and right column j.
  void (*tile)(const Formula<T>&, Packed<T> left, Index rows, Packed<T> right, Index columns, T* out, Index stride);
  // out[m tile_columns + j] += Σ over i of weights k, with weights packed as left rows whose features are the samples i, and k(i, j) in
  // rows of tile_columns.
  void (*multiply)(const T* weights, Index panels, const T* entries, Index n, double* out);
  Index lanes;
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
