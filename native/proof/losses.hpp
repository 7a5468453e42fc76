// The losses of box terms (proof/loss.hpp states them), many samples at a time: what most of a certificate's time goes into.
#pragma once

#include "core/isa.hpp"
#include "proof/rounding.hpp"

namespace gapless {

// The samples from `begin` to `end`; a decision value is f plus the offset of its group, or the first offset where there are no groups.
struct LossTask {
  const double *p, *epsilon, *d, *lower, *upper;  // the box (core/dual.hpp)
  const double *f, *offsets;
  const Index* groups;
  proof::Errors errors;
  Index begin, end;
};

struct LossSums {
  double above;     // a number that the sum is not above wherever decision values are within their errors of f, but for the rounding of the sum
  double rounding;  // about how much of it is owed to these errors
  double plain;     // the sum itself, as computed
};

struct LossLoops {
  LossSums (*bounds)(const LossTask&);
  double (*plain)(const LossTask&);
};

GAPLESS_DECLARE_LEVELS(LossLoops, loss_loops)

}  // namespace gapless
