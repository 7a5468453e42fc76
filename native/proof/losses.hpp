// The losses of box terms (proof/loss.hpp states them), many samples at a time: most of a certificate's time goes into these loops.
#pragma once

#include "core/isa.hpp"
#include "proof/rounding.hpp"

namespace gapless {

// The samples from `begin` to `end`. The decision value of a sample is f plus the offset of its group, or plus offsets[0] where `groups` is null.
struct LossTask {
  const double *p, *epsilon, *d, *lower, *upper;  // the box (core/dual.hpp)
  const double *f, *offsets;
  const Index* groups;
  proof::Errors errors;
  Index begin, end;
};

struct LossSums {
  double above;     // a number that the sum of the losses is not above for any decision values within their errors; the rounding of the sum itself
                    // comes on top
  double rounding;  // about how much of `above` is added for these errors
  double plain;     // the sum of the losses as computed
};

struct LossLoops {
  LossSums (*bounds)(const LossTask&);
  double (*plain)(const LossTask&);
};

GAPLESS_DECLARE_LEVELS(LossLoops, loss_loops)

}  // namespace gapless
