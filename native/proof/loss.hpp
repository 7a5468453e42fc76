// The loss of a sample, from its dual term alone: c ℓ(y, v) = max over t in its box of h(t) − v t (Fenchel; core/dual.hpp states h).
//
//     box:      with s = |p − v| − ε > 0 and u the bound on the side of p − v:   s²/2d where s/d ≤ u,   s u − ½ d u² where not,   0 where s ≤ 0
//     entropy:  c log(1 + exp(−y v))
//
// So that one loop serves every loss, and the primal value rests on the same five (or four) vectors as the dual one.
#pragma once

#include "core/dual.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

GAPLESS_INLINE double loss(const DualBox& box, Index i, double v) {
  const double apart = box.p[i] - v, e = box.epsilon[i], d = box.d[i], up = box.upper[i], down = -box.lower[i];
  // Where h is straight the larger of both sides is the loss, or zero: no branch that a processor would have to guess. NaN stays NaN.
  if (d == 0.0) return std::max(std::max((apart - e) * up, (-apart - e) * down), 0.0);
  const double s = std::fabs(apart) - e, u = apart > 0.0 ? up : down;
  if (std::isnan(apart)) return apart;
  if (!(s > 0.0) || !(u > 0.0)) return 0.0;
  return s < d * u ? 0.5 * s * (s / d) : s * u - 0.5 * d * u * u;
}

GAPLESS_INLINE double loss(const DualEntropy& entropy, Index i, double v) {
  if (entropy.cost[i] <= 0.0) return 0.0;
  const double margin = entropy.y[i] * v;
  return entropy.cost[i] * (std::max(-margin, 0.0) + std::log1p(std::exp(-std::fabs(margin))));
}

// A number that the loss is not above wherever the decision value is within `error` of v: a convex function is largest at an end. The terms' own
// numbers are within some roundings of what the user stated.
GAPLESS_INLINE double largest_loss(const DualBox& box, Index i, double v, double error) {
  const double e = error + 2.0 * unit * (std::fabs(box.p[i]) + std::fabs(v) + box.epsilon[i]);
  if (std::isnan(v + e)) return v + e;
  return std::max(loss(box, i, v - e), loss(box, i, v + e)) * (1.0 + 16.0 * unit);
}

GAPLESS_INLINE double largest_loss(const DualEntropy& entropy, Index i, double v, double error) {
  if (entropy.cost[i] <= 0.0) return 0.0;
  return loss(entropy, i, v) * (1.0 + 32.0 * unit) + entropy.cost[i] * error * (1.0 + 8.0 * unit);
}

}  // namespace gapless::proof
