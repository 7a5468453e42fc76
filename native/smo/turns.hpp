// A small problem in turns: pairs until they have taken as long as a walk over faces is expected to, then the walk; where that takes much longer than
// expected, pairs again, for twice as long. Whichever is the better method, not much more than twice its time is taken.
#pragma once

#include "smo/block.hpp"
#include "smo/face_walk.hpp"

namespace gapless::smo {

class Turns {
 public:
  // Maximises the dual over all n samples until no violation is above `target`. Writes beta and f; returns the steps taken, at most about `max_steps`:
  // pairs, and as many for a walk as take as long.
  Index solve(BlockSolver<DualBox, double>& blocks, const BlockSolver<DualBox, double>::Part& part, const double* totals, double target,
              Index max_steps, double* beta, double* f);

  // Whether the next solve() goes on with a walk.
  bool is_walking() const { return first_ || walk_left_ > 0.0; }

  // The next solve() begins with a walk.
  void walk_first() { first_ = true; }

  // The next solve() has other samples: a walk begins anew, also where one found no way.
  void change_samples() {
    walk_.forget();
    lost_ = false;
  }

  Index walks() const { return walks_; }  // the number of walks that moved a variable

 private:
  FaceWalk walk_;
  double pairs_ = 0.0;      // since the last walk that did not reach its end
  double patience_ = 1.0;   // how many times as long as a walk pairs take before the next one
  double walk_left_ = 0.0;  // the work that is left for the walk that goes on; 0 where none does
  bool first_ = false;      // whether a walk comes first
  bool lost_ = false;       // whether a walk found no way
  Index walks_ = 0;
};

}  // namespace gapless::smo
