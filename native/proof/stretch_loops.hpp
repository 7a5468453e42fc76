// Sums over the samples of a point β for models that are stretched to or beyond the margin (proof/table_proof.cpp), many samples at a time.
#pragma once

#include "core/dual.hpp"
#include "core/isa.hpp"

namespace gapless {

// f and β are those of the best multiple `scale` of a point whose decision values had the errors `sizes`.
struct StretchTask {
  DualBox box;
  const double *beta, *f, *sizes;
  double scale;
};

struct StretchSums {
  double slack, products;  // Σ |β| · error and Σ |β f|
  double lowest, highest;  // of the f of samples that have a weight: the least with p > 0, and the largest of the others
  bool full;               // whether a β is as long as its box is wide
};

// The least margin p (f + b) of some samples, and the least margin less its error; infinite where there is no such sample.
struct LeastMargins {
  double plain, margin;
};

// The losses of a model with offset b that is divided by `margins`: an upper bound, and as computed.
struct StretchedLosses {
  double above, plain;
};

struct StretchLoops {
  StretchSums (*sums)(const StretchTask&);
  LeastMargins (*margins)(const StretchTask&, double b);       // of all samples that have a weight
  LeastMargins (*free_margins)(const StretchTask&, double b);  // of the samples between their bounds, where β is not zero
  bool (*fits)(const StretchTask&, double stretch);            // whether no β, so many times as long, is longer than its box is wide
  StretchedLosses (*losses)(const StretchTask&, double b, const LeastMargins& margins);
};

GAPLESS_DECLARE_LEVELS(StretchLoops, stretch_loops)

}  // namespace gapless
