// What decision values prove: Σ c ℓ(y, f + b) with the best offset b of each group, found exactly.
//
// The slope of P in b is S(b) = total − Σ t_i(b), with t_i(b) the β that the decision value f_i + b calls for: it never falls. For box terms it is
// made of ramps, one on each side of zero of each sample: it rises by the bound u over a width of d u (a step where d = 0, a half-line where u is
// infinite). Where all are steps, b is a weighted quantile. The best offsets are the interval on which S is zero; an S below the rounding of its
// own sum counts as zero, so that ties give an interval and not one of its ends.
#pragma once

#include "core/dual.hpp"
#include "proof/losses.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

struct Interval {
  double low, high;
};

// Every b that minimises Σ c ℓ(y, f + b) + total b over the samples of group g; all bounds of the boxes finite where their d is zero.
// Without a crossing of S (the total is all that the group can carry) it ends at the outermost ramp.
Interval best_offset(const DualTerms& dual, Places groups, Index g, double total, Vector f);

// Σ c ℓ(y, f + offsets[group]): `above` counts the rounding of the sum too.
LossSums loss_bounds(const DualTerms& dual, Places groups, Vector offsets, Vector f, const Errors& errors);

// `plain` alone.
double losses_at(const DualTerms& dual, Places groups, Vector offsets, Vector f);

}  // namespace gapless::proof
