// One pass over some rows of a linear problem: decisions along a direction, the β that they call for, the loss and its derivatives, and Σ β a,
// each while the row is in the cache.
#pragma once

#include <cstdint>

#include "core/isa.hpp"
#include "core/rows.hpp"

namespace gapless {

// A loss that is quadratic between kinks: the box of each sample (newton/box.hpp), with 1/d in place of d.
struct SmoothBox {
  const double *p, *epsilon, *inverse, *lower, *upper;
};

// The sums that a pass leaves.
struct SweepSums {
  double loss = 0.0;       // Σ φ, of the loss itself
  double lacking = 0.0;    // Σ of Fenchel's gaps of β, likewise
  double slope = 0.0;      // d/dt Σ φ̃(f + t df), of the smooth loss
  double curvature = 0.0;  // d²/dt²

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
  // p and d of the loss itself; whether it is rounded off at all: if not, β is the best there is and lacks nothing.
  const double *p, *d;
  bool rounded;
  const double* direction;  // not null: A·direction is written to `product`, which is df or f
  double* product;
  const double* df;  // null: f alone counts
  const double* f;
  double t;
  // Written, where beta is not null: β at f + t df, those decisions, and who is inside a quadratic piece. `last` is a former β.
  const double* last;
  double *beta, *decisions;
  std::uint8_t* inside;
  double* total;  // += Σ (β − last) a; null: not asked for
};

struct SweepLoops {
  SweepSums (*pass[5])(const void* rows, const Sweep& task);  // by the place of the rows' type in `Rows`
  SweepSums (*along)(const Sweep& task);                      // slope and curvature alone, df being known
  // out += Σ over the places [begin, end) of weight[k] (⟨a, v⟩) a for the rows chosen[k].
  void (*multiply[5])(const void* rows, const Index* chosen, const double* weight, Index begin, Index end, bool ones,
                      const double* v, double* out);
  // out[i] = Σ_j weight_j x_ij² of the rows [begin, end).
  void (*squares[5])(const void* rows, const double* weight, Index begin, Index end, double* out);
};

GAPLESS_DECLARE_LEVELS(SweepLoops, sweep_loops)

}  // namespace gapless
