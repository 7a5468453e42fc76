// The second-order finish of SMO: Newton's method on the face of the box on which the optimum lies, or nearly.
//
// Near the end hardly a variable reaches or leaves a bound any more, and pairs take thousands of steps for one digit where the kernel matrix is badly
// conditioned. There the dual is maximised over the face at once. With F the variables between their bounds (and those at a bound that violate),
// M = K_FF + D + ridge and g the slope of the dual, the step δ solves
//
//     M δ + Ec = g,   Eᵀδ = 0   (E: which group a variable is in; c = 0 without free offsets).
//
// Variables that δ would carry past a bound are held at it, as further constraints of the same system, until no variable passes its bound. With
// M = LLᵀ each constraint takes a column of L⁻¹ and no new factorisation. Variables that leave the face later are held in the same way, and those
// that join it are appended to L. A step along δ cannot lower the dual, so that nothing is lost where the method gives up.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "core/span.hpp"
#include "smo/violation.hpp"

namespace gapless::smo {

// The most variables of a face that Newton steps pay for at the beginning of the next round of pairs: its factorisation takes no longer than the last
// round's `pairs` did, and its matrix fits into `room` bytes. 0 where the face is larger already, and where more than few variables came to a bound in
// that round, or left one.
Index paying_face(const DualBox& dual, Index n, const double* before, const double* after, double pairs, double room);

// The variables of a face, and the factor L of their M = K + bend.
template <class T>
class Face {
 public:
  Face(Matrix<const T> K, std::vector<double> bend) : K_(K), bend_(std::move(bend)) {}

  // Takes in the variables that are wanted; false where M cannot be factored. Variables that are no longer wanted stay in the factor, to be held,
  // unless they are many.
  bool become(const std::vector<char>& wanted);
  // The step δ with least ≤ δ ≤ most, zero at the places `out` and in the sum of each of the `groups`, of which a variable of `rows` has one; without
  // groups no sum is given. Empty where too many variables would be held.
  std::vector<double> step(const std::vector<double>& g, Groups groups, const std::vector<double>& least, const std::vector<double>& most,
                           const std::vector<Index>& out) const;

  std::vector<Index> rows;
  std::vector<double> L;  // by columns, the lower triangle

 private:
  Matrix<const T> K_;
  std::vector<double> bend_;
};

// Maximises the dual of the samples of K until no violation is above `target`, a step cannot be found or the face has more than `most` variables;
// writes beta and f. Returns how often a variable moved.
template <class T>
Index solve_face(const DualBox& dual, const double* diagonal, Matrix<const T> K, Groups groups, bool coupled, double target, Index most,
                 double* beta, double* f);

}  // namespace gapless::smo
