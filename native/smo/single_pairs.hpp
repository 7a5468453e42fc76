// Pairs on a kernel matrix in float32, whose sweeps and copies take half the time of those in float64.
//
// f is float64, entries are float32: a change of β leaves an error in f of some 1e-8 of the change. The caller computes f anew in float64, as a proof
// does, and calls again where that is not enough: the next changes are smaller, and so are their errors.
#pragma once

#include <vector>

#include "smo/block.hpp"

namespace gapless::smo {

class SinglePairs {
 public:
  // No violation is above the target; pairs have taken as long as a walk over faces is expected to (face_walk.hpp), or all their steps; or rounding
  // hides the way.
  enum class End { reached, tired, lost };

  // Maximises the dual of the samples whose kernel matrix is K, and which share one offset, until no violation is above `target`. Writes beta and f.
  // Further columns of K are zeros, which fill up the last vector of a row.
  End solve(const DualBox& dual, const double* diagonal, Matrix<const float> K, double target, double max_steps, double* beta, double* f);

  double steps() const { return steps_; }  // the pairs of the last call

 private:
  BlockSolver<DualBox, float> blocks_;
  std::vector<double> up_, down_, room_;
  std::vector<Index> groups_;
  double steps_ = 0.0;
};

}  // namespace gapless::smo
