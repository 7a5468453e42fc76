// Pairs on a kernel matrix in float32, whose sweeps and copies take half the time of those in float64.
//
// f is float64, entries are float32: a change of β leaves an error in f of some 1e-8 of the change. The caller computes f anew in float64, as a proof
// does, and calls again where that is not enough: the next changes are smaller, and so are their errors.
#pragma once

#include <span>
#include <vector>

#include "smo/block.hpp"

namespace gapless::smo {

// A problem of samples that share one offset, and what becomes of it: beta and f are written.
struct SingleProblem {
  // No violation is above the target; pairs have taken as long as a walk over faces is expected to (face_walk.hpp), or all their steps; or rounding
  // hides the way.
  enum class End { reached, tired, lost };

  DualBox dual;
  double target, max_steps;
  double *beta, *f;
  End end = End::reached;
  double steps = 0.0;  // the pairs that were made
};

class SinglePairs {
 public:
  // Maximises the duals of problems on the samples whose kernel matrix is K, each until no violation is above its target. Further columns of K are
  // zeros, which fill up the last vector of a row. What becomes of a problem does not depend on the others.
  void solve(std::span<SingleProblem> problems, const double* diagonal, Matrix<const float> K);

 private:
  void solve_together(std::span<SingleProblem> problems, const double* diagonal, Matrix<const float> K);

  BlockSolver<DualBox, float> blocks_;
  std::vector<double> up_, down_, room_;
  std::vector<Index> groups_;
};

}  // namespace gapless::smo
