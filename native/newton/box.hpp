// One sample of a loss whose dual term is a box (core/dual.hpp), as a function of its shortfall e = p − f:
//
//     φ(f) = max over lower ≤ β ≤ upper of β e − ε|β| − ½ d β²
//
// For a β of the box, φ(f) − (β e − ε|β| − ½ d β²) ≥ 0 is Fenchel's gap: the sum of these gaps over the samples is P − D where w = Σ β_i x_i. The
// template parameter V is one number, or a vector of the level that a file is compiled for (core/lanes.hpp).
#pragma once

#include "core/span.hpp"

namespace gapless {

template <class V>
struct Box {
  V epsilon, d, lower, upper;

  GAPLESS_INLINE static V above(const V& a, const V& b) { return a > b ? a : b; }
  GAPLESS_INLINE static V below(const V& a, const V& b) { return a < b ? a : b; }
  GAPLESS_INLINE static V size(const V& a) { return above(a, -a); }
  GAPLESS_INLINE V clip(const V& beta) const { return below(above(beta, lower), upper); }
  // The soft threshold: e moved towards zero by ε.
  GAPLESS_INLINE V softened(const V& e) const { return above(e - epsilon, V{}) + below(e + epsilon, V{}); }

  // The best β where d > 0, given 1/d.
  GAPLESS_INLINE V answer(const V& e, const V& inverse) const { return clip(softened(e) * inverse); }
  // The best β for any d ≥ 0; where d = 0 it is a bound or zero.
  GAPLESS_INLINE V best(const V& e) const {
    const V pull = softened(e), none{};
    const V side = pull < none ? lower : none;
    const V end = pull > none ? upper : side;
    const V bend = d > none ? d : none + 1.0;
    const V inner = clip(pull / bend);
    return d > none ? inner : end;
  }
  // β e − ε|β| − ½ d β².
  GAPLESS_INLINE V term(const V& e, const V& beta) const { return beta * e - epsilon * size(beta) - 0.5 * d * beta * beta; }
  // Fenchel's gap of β, where `best` is the best β, as one product: the difference of two terms would lose digits.
  GAPLESS_INLINE V gap(const V& e, const V& best, const V& beta) const {
    return (best - beta) * (e - 0.5 * d * (best + beta)) - epsilon * (size(best) - size(beta));
  }
};

}  // namespace gapless
