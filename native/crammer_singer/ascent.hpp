// The sequential dual method (Keerthi et al. 2008) for Crammer and Singer's machine: D is maximised over the block of one sample after the other.
//
// With a = ‖x̃_i‖² and g_m = f_m(x_i) + [m ≠ y], the new block minimises ½a‖β‖² + ⟨g − aβ_old, β⟩ over Σβ = 0, β ≤ bound (c at y, 0 elsewhere). Its
// solution is β_m = min(bound_m, (level − g_m)/a + β_old_m), for the one level at which the sum is zero. The search begins as if no class were at its
// bound; the level only rises when classes go to their bounds, so that a few rounds find it exactly (Michelot 1986). Writes beta, W, b and moved.
#pragma once

#include "core/random.hpp"
#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

struct BlockProblem {
  Rows rows;
  Places codes;             // the class y of each sample
  Vector cost, curvature;   // c and a of each sample
  double shift;             // s² of a regularised intercept, else 0
  double entries;           // the stored entries of an average row: the work of one class of a block
};

struct BlockModel {
  Matrix<double> beta;  // (n, k)
  Matrix<double> W;     // (k, d) for dense rows, which are multiplied with a class's weights; (d, k) for sparse rows, with those of a feature
  Out b;
  Span<bool> moved;     // the samples whose block has moved
};

struct BlockPass {
  Index position;  // the place in `order` after the last block
  double work;     // the entries that were read or written
  double gain;     // by how much D has risen
  double gap;      // with `whole`, the sum of c max_m(f_m + [m ≠ y]) − c f_y + ⟨β, f + [m ≠ y]⟩ over the blocks as they were met: P − D, were W the same
};

// Maximises D over the block of each sample of `order` from `position` on until `budget` entries are met, at least one block. Unless `whole`, a block
// has only its true class and the classes whose β is not zero.
BlockPass ascend_blocks(const BlockProblem& problem, Places order, Index position, double budget, bool whole, const BlockModel& model);

// Passes over the same samples, and over the classes of their blocks whose β is not zero, each in another order.
struct InnerPasses {
  Index position = 0;  // the place in the order
  double gain = 0.0;   // of the present pass, so far
  Index passes = 0;    // that have ended
  double work = 0.0;   // the entries that the last call has met
  bool ended = false;  // whether a pass has gained at most `enough`, or as many as allowed have ended
};

// Goes on with passes over `order`, which it shuffles, until `budget` entries are met or the passes have ended.
void ascend_again(const BlockProblem& problem, Span<Index> order, double enough, Index most, double budget, Random& random, InnerPasses& state,
                  const BlockModel& model);

}  // namespace gapless
