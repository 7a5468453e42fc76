// The second-order finish of SMO: Newton's method on the face of the box that the optimum lies on, or nearly.
//
// Near the end hardly a variable reaches or leaves a bound any more, and pairs only mend what a badly conditioned kernel matrix leaves over of f:
// thousands of steps for one digit. There the face is solved at once. With F the variables between their bounds (and those that violate at one),
// M = K_FF + D + ridge and g the slope of the dual,
//
//     M δ + c = g,   Σ δ = 0   (c = 0 without a common constraint).
//
// Variables that δ would carry past a bound are held at it, as further constraints of the same system, until none is: they cost a column of L⁻¹ each,
// M = LLᵀ, and no new factorisation; nor do those that leave the face later, while those that join it are appended to L. A step along δ cannot lower
// the dual, so that giving up loses nothing.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "core/span.hpp"

namespace gapless::smo {

// Whether the next round of pairs is worth beginning with Newton steps: in the last, which took so many `pairs`, few variables came to a bound or left
// one, and a factorisation takes no longer than it did; its matrix fits into `room` bytes.
bool finish_pays(const DualBox& dual, Index n, const double* before, const double* after, double pairs, double room);

// Some variables, and L of their M = K + bend.
template <class T>
class Face {
 public:
  Face(Matrix<const T> K, std::vector<double> bend) : K_(K), bend_(std::move(bend)) {}

  // Take in the variables that are wanted; false where M cannot be factored. Those that no longer are stay, to be held, unless many are.
  bool become(const std::vector<char>& wanted);
  // δ with least ≤ δ ≤ most, zero for the places `out`; empty where too many variables would be held.
  std::vector<double> step(const std::vector<double>& g, bool coupled, const std::vector<double>& least, const std::vector<double>& most,
                           const std::vector<Index>& out) const;

  std::vector<Index> rows;
  std::vector<double> L;  // by columns, the lower triangle

 private:
  Matrix<const T> K_;
  std::vector<double> bend_;
};

// Maximise the dual of the samples of K, all of one group, until nothing violates by more than `target`, or the face turns out not to be known; writes
// beta and f. Returns how often a variable moved.
template <class T>
Index solve_face(const DualBox& dual, const double* diagonal, Matrix<const T> K, bool coupled, double target, double* beta, double* f);

}  // namespace gapless::smo
