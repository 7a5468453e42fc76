// The sequential dual method (Keerthi et al. 2008) for Crammer and Singer's machine: D is maximised over one sample's block after the other.
//
// With a = ‖x̃_i‖² and g = f(x_i) + [m ≠ y] the block minimises ½a‖β‖² + ⟨g − aβ_old, β⟩ over Σβ = 0, β ≤ (c at y, 0 elsewhere), which is
// β_m = min(bound_m, (level − g_m)/a + β_old_m) for the one level where the sum is zero. Starting from no bounds, the level only rises when
// classes go to theirs, so that a few rounds find it exactly (Michelot 1986). Writes beta, W, b and moved.
#pragma once

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

struct BlockProblem {
  Rows rows;
  Places codes;             // the classes
  Vector cost, curvature;   // c and a
  double shift;             // s² of the intercept
  double entries;           // what a class of a row costs, in entries
};

struct BlockModel {
  Matrix<double> beta;  // (n, k)
  Matrix<double> W;     // (d, k): the classes of a feature stand side by side
  Out b;
  Span<bool> moved;     // the samples whose block has moved
};

struct BlockPass {
  Index position;  // in the order, after the last block
  double work;     // entries met
};

// One block for each sample of `order` from `position` on, until `budget` entries are met, at least one. Unless `whole`, classes outside a block
// stay outside.
BlockPass ascend_blocks(const BlockProblem& problem, Places order, Index position, double budget, bool whole, const BlockModel& model);

}  // namespace gapless
