// The primal side of a certificate: Σ c ℓ(y, f + b) with the best offset b of each group, found exactly.
//
// The slope of P in b is S(b) = total − Σ t_i(b), where t_i(b) = −c ℓ′(y, f_i + b) is the β that the decision value calls for; S never falls. For box
// terms S is made of ramps, one for each side of each sample's box: it rises by the bound u over a width of d u (a step where d = 0, a half-line
// where u is infinite). Where all ramps are steps, the best b is a weighted quantile. The best offsets are the interval on which S is zero; an S
// below the rounding of its own sum counts as zero, so that a tie gives the whole interval and not one of its ends.
#pragma once

#include "core/dual.hpp"
#include "proof/losses.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

struct Interval {
  double low, high;
};

// The interval of every b that minimises Σ c ℓ(y, f + b) + total b over the samples of group g, where a box with d = 0 has finite bounds.
// Where S does not cross zero (the total is the largest sum that the boxes of the group allow) the interval ends at the outermost ramp. `near` is
// where the interval is expected, or null where some samples belong to other groups: it saves time where it is right, and never changes the interval.
Interval best_offset(const DualTerms& dual, Places groups, Index g, double total, Vector f, const Interval* near = nullptr);

// What counts as zero of an S with so many ramps, where `height` is the sum of the sizes of its parts.
inline double slope_rounding(double ramps, double height) { return 4.0 * ramps * std::numeric_limits<double>::epsilon() * height; }

// Σ c ℓ(y, f + offsets[group]); here `above` counts the rounding of the sum too.
LossSums loss_bounds(const DualTerms& dual, Places groups, Vector offsets, Vector f, const Errors& errors);

// The same sum as computed: the `plain` of loss_bounds alone.
double losses_at(const DualTerms& dual, Places groups, Vector offsets, Vector f);

}  // namespace gapless::proof
