// The loss of a sample, from its dual term alone: c ℓ(y, v) = max over t in its box of h(t) − v t (Fenchel; core/dual.hpp states h).
//
//     box:      with s = |p − v| − ε > 0 and u the bound on the side of p − v:   s²/2d where s/d ≤ u,   s u − ½ d u² where not,   0 where s ≤ 0
//     entropy:  c log(1 + exp(−y v))
//
// In this form one loop serves every loss, and P is computed from the same five (or four) vectors as D.
#pragma once

#include "core/dual.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

// c ℓ(y, v) of a box term, from apart = p − v.
GAPLESS_INLINE double loss_apart(const DualBox& box, Index i, double apart) {
  const double e = box.epsilon[i], d = box.d[i], up = box.upper[i], down = -box.lower[i];
  // Where h is straight the loss is the larger of its two sides, or zero: there is no branch for a processor to mispredict. NaN stays NaN.
  if (d == 0.0) return std::max(std::max((apart - e) * up, (-apart - e) * down), 0.0);
  const double s = std::fabs(apart) - e, u = apart > 0.0 ? up : down;
  if (std::isnan(apart)) return apart;
  if (!(s > 0.0) || !(u > 0.0)) return 0.0;
  return s < d * u ? 0.5 * s * (s / d) : s * u - 0.5 * d * u * u;
}

GAPLESS_INLINE double loss(const DualBox& box, Index i, double v) { return loss_apart(box, i, box.p[i] - v); }

GAPLESS_INLINE double loss(const DualEntropy& entropy, Index i, double v) {
  if (entropy.cost[i] <= 0.0) return 0.0;
  const double margin = entropy.y[i] * v;
  return entropy.cost[i] * (std::max(-margin, 0.0) + std::log1p(std::exp(-std::fabs(margin))));
}

// `value`: a number that the loss is not above wherever p − v is within `error` of `apart`; `excess`: how much of it, at most, is added for that
// error and for rounding. A convex function is largest at an end of an interval, which holds for each side of a box by itself. d (1/2c, say) was
// rounded twice at most.
struct Largest {
  double value, excess;
};

// One side of the loss, s beyond its kink, where u is the bound on that side and e the error in s. The loss is t (s − ½ d t) at t = s/d, or at t = u
// where u is less; s − ½ d t ≥ ½ s, so that nothing cancels.
GAPLESS_INLINE Largest side_of(double s, double e, double u, double d) {
  const double over = std::max(s, 0.0), called = d > 0.0 ? std::min(over / d, u) : u;
  const double value = over > 0.0 ? called * (over - 0.5 * d * called) : 0.0;
  return {value * (1.0 + 16.0 * unit), over > 0.0 ? called * e + 20.0 * unit * value : 0.0};
}

// The larger of both sides; a side whose bound is zero has no loss. There is no branch for a processor to mispredict.
GAPLESS_INLINE Largest largest_loss_apart(const DualBox& box, Index i, double apart, double error) {
  const double e = error + 4.0 * unit * (std::fabs(apart) + box.epsilon[i]), reach = e - box.epsilon[i];
  const Largest up = side_of(apart + reach, e, box.upper[i], box.d[i]), down = side_of(reach - apart, e, -box.lower[i], box.d[i]);
  const bool first = up.value > down.value;
  const double doubt = 0.0 * (apart + e);  // NaN stays NaN
  return {(first ? up.value : down.value) + doubt, first ? up.excess : down.excess};
}

// The same for the logistic loss, whose slope is at most c; `value` is the loss as computed.
GAPLESS_INLINE Largest largest_loss(const DualEntropy& entropy, Index i, double value, double error) {
  const double c = entropy.cost[i];
  if (c <= 0.0) return {0.0, 0.0};
  const double above = c * (error * (1.0 + 8.0 * unit) + 1e-300);  // 1e-300 stands for an exponential that underflows
  return {value * (1.0 + 32.0 * unit) + above, above + 40.0 * unit * value};
}

}  // namespace gapless::proof
