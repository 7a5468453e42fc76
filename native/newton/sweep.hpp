// One pass over some rows of a linear problem, which computes decisions along a direction, the β that they call for, the loss and its derivatives,
// and Σ β a, all while a row is in the cache.
#pragma once

#include <cstdint>

#include "core/isa.hpp"
#include "core/rows.hpp"

namespace gapless {

// A loss that is quadratic between kinks: the box of each sample (newton/box.hpp), with 1/d in place of d.
struct SmoothBox {
  const double *p, *epsilon, *inverse, *lower, *upper;
};

// The sums that a pass returns.
struct SweepSums {
  double loss = 0.0;       // Σ φ of the loss as it is, not rounded off
  double lacking = 0.0;    // the sum of Fenchel's gaps of β, of the loss as it is
  double slope = 0.0;      // d/dt Σ φ̃(f + t df) of the loss rounded off
  double curvature = 0.0;  // the second derivative of the same sum

  GAPLESS_INLINE void add(const SweepSums& other) {
    loss += other.loss;
    lacking += other.lacking;
    slope += other.slope;
    curvature += other.curvature;
  }
};

struct Sweep {
  Index begin, end;
  bool ones;         // whether a = (x, 1)
  SmoothBox smooth;  // the loss, rounded off
  const double *p, *d;  // p and d of the loss as it is
  bool rounded;         // whether the loss is rounded off; if not, β is the best one and its gap is zero
  const double* direction;  // where it is not null, A · direction is written to `product`, which is df or f
  double* product;
  const double* df;  // null where t df is zero
  const double* f;
  double t;
  // Where beta is not null, the pass writes β at f + t df, the decisions f + t df, and whether a sample is inside a quadratic piece.
  const double* last;  // a former β, or null for zero
  double *beta, *decisions;
  std::uint8_t* inside;
  double* total;  // Σ (β − last) a is added to it; null where it is not needed
};

struct SweepLoops {
  SweepSums (*pass[5])(const void* rows, const Sweep& task);  // indexed by the place of the rows' type in the variant `Rows`
  SweepSums (*along)(const Sweep& task);                      // slope and curvature alone, where df is known
  // out += Σ over k in [begin, end) of weight[k] ⟨a, v⟩ a for the rows chosen[k].
  void (*multiply[5])(const void* rows, const Index* chosen, const double* weight, Index begin, Index end, bool ones,
                      const double* v, double* out);
  // out[i] = Σ_j weight_j x_ij² of the rows [begin, end).
  void (*squares[5])(const void* rows, const double* weight, Index begin, Index end, double* out);
};

GAPLESS_DECLARE_LEVELS(SweepLoops, sweep_loops)

}  // namespace gapless
