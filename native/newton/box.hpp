// One sample of a loss whose dual term is a box (core/dual.hpp), as a function of its shortfall e = p − f:
//
//     φ(f) = max over lower ≤ β ≤ upper of β e − ε|β| − ½ d β²
//
// A β of the box costs φ(f) − (β e − ε|β| − ½ d β²) ≥ 0 more than the best one: Fenchel's gap, whose sum over the samples is what
// P − D consists of where w is β's own.
#pragma once

#include "core/span.hpp"

namespace gapless {

GAPLESS_INLINE double larger(double a, double b) { return a > b ? a : b; }
GAPLESS_INLINE double smaller(double a, double b) { return a < b ? a : b; }
GAPLESS_INLINE double size_of(double a) { return a < 0.0 ? -a : a; }

// e drawn towards zero by ε.
GAPLESS_INLINE double softened(double e, double epsilon) { return larger(e - epsilon, 0.0) + smaller(e + epsilon, 0.0); }

// The best β where d > 0, given 1/d.
GAPLESS_INLINE double answer(double e, double epsilon, double inverse, double lower, double upper) {
  return smaller(larger(softened(e, epsilon) * inverse, lower), upper);
}

// The best β for any d ≥ 0; where d = 0, that is a bound or zero.
GAPLESS_INLINE double best_answer(double e, double epsilon, double d, double lower, double upper) {
  const double pull = softened(e, epsilon);
  const double end = pull > 0.0 ? upper : (pull < 0.0 ? lower : 0.0);
  const double inner = smaller(larger(pull / (d > 0.0 ? d : 1.0), lower), upper);
  return d > 0.0 ? inner : end;
}

// β e − ε|β| − ½ d β².
GAPLESS_INLINE double box_term(double e, double epsilon, double d, double beta) {
  return beta * e - epsilon * size_of(beta) - 0.5 * d * beta * beta;
}

// The gap of β against the best one, as one product: the difference of two terms would cancel.
GAPLESS_INLINE double fenchel_gap(double e, double epsilon, double d, double best, double beta) {
  return (best - beta) * (e - 0.5 * d * (best + beta)) - epsilon * (size_of(best) - size_of(beta));
}

}  // namespace gapless
