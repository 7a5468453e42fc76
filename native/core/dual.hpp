// The separable part h of the dual, and the maximisers of D in one and in two variables. Loops over samples are templates on the type of the terms,
// so that one loop serves every loss.
//
//     D(β) = Σ h_i(β_i) − ½ βᵀKβ,   lower_i ≤ β_i ≤ upper_i
//     box:      h(β) = p β − ε|β| − ½ d β²            (hinge, squared hinge, smoothed hinge, ε-insensitive and its square, ν-forms)
//     entropy:  h(β) = −c (a log a + (1−a) log(1−a)),  a = y β / c          (logistic loss)
//
// A step changes β_i alone, or raises β_i and lowers β_j by the same amount; f is the decision value of a sample without intercept, and q = K_ii its
// curvature. The loss of a sample is the conjugate of its term: c ℓ(y, v) = max over t of h(t) − v t.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "core/span.hpp"

namespace gapless {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct DualBox {
  const double *p, *epsilon, *d, *lower, *upper;
  Index n;

  static constexpr bool is_entropy = false;

  // The β_i that maximises D along coordinate i: clip(soft(p − f + qβ, ε) / (q + d)). With a Lipschitz constant L for q it is a projected gradient
  // step.
  GAPLESS_INLINE double step(Index i, double f, double beta, double q) const {
    double target = p[i] - f + q * beta;
    const double curvature = q + d[i], e = epsilon[i];
    if (target > e)
      target -= e;
    else if (target < -e)
      target += e;
    else if (curvature > 0.0 || e > 0.0)
      target = 0.0;
    else
      return beta;
    double best;
    if (curvature > 0.0)
      best = target / curvature;
    else if (target == 0.0)
      best = 0.0;
    else
      best = target > 0.0 ? infinity : -infinity;
    best = std::min(std::max(best, lower[i]), upper[i]);
    // Where D rises along β_i without bound (x_i = 0 under a hard margin) β_i stays; the separability test (proof/separability.py) reports the ray.
    return std::isfinite(best) ? best : beta;
  }
  // −c ℓ′(y, f): the β that a decision value calls for (a sub-gradient; zero at a kink).
  GAPLESS_INLINE double called(Index i, double f) const { return step(i, f, 0.0, 0.0); }
  // The derivative of h for a rise of β_i; −∞ at the upper bound, where β_i cannot rise.
  GAPLESS_INLINE double rise(Index i, double beta) const {
    if (beta >= upper[i]) return -infinity;
    return p[i] - d[i] * beta - (beta >= 0.0 ? epsilon[i] : -epsilon[i]);
  }
  // The derivative of h for a fall of β_i; +∞ at the lower bound, where β_i cannot fall.
  GAPLESS_INLINE double fall(Index i, double beta) const {
    if (beta <= lower[i]) return infinity;
    return p[i] - d[i] * beta - (beta > 0.0 ? epsilon[i] : -epsilon[i]);
  }
  // The curvature of h that a step of β_i meets: −h″.
  GAPLESS_INLINE double bend(Index i, double, bool) const { return d[i]; }
  GAPLESS_INLINE double term(Index i, double beta) const {
    return p[i] * beta - epsilon[i] * std::fabs(beta) - 0.5 * d[i] * beta * beta;
  }
  // Raises β_i and lowers β_j by the same best amount, where η = K_ii + K_jj − 2 K_ij > 0. The slope of D along that way is piecewise linear, with
  // kinks where a variable passes zero (ε > 0): at most three pieces.
  GAPLESS_INLINE void pair(Index i, Index j, double f_i, double f_j, double& beta_i, double& beta_j, double eta) const {
    for (int piece = 0; piece < 4; ++piece) {
      const double curvature = eta + d[i] + d[j];
      const double slope = rise(i, beta_i) - fall(j, beta_j) - (f_i - f_j);
      if (!(slope > 0.0)) break;
      double delta = slope / curvature;
      const double room_i = upper[i] - beta_i, room_j = beta_j - lower[j];
      double limit = std::min(room_i, room_j);
      if (epsilon[i] > 0.0 && beta_i < 0.0) limit = std::min(limit, -beta_i);
      if (epsilon[j] > 0.0 && beta_j > 0.0) limit = std::min(limit, beta_j);
      const bool done = delta < limit || limit == room_i || limit == room_j;
      delta = std::min(delta, limit);
      // A variable that reaches its bound is set to it exactly, so that whether it is at its bound is a comparison without a tolerance.
      beta_i = delta == room_i ? upper[i] : beta_i + delta;
      beta_j = delta == room_j ? lower[j] : beta_j - delta;
      if (done) break;
      f_i += 0.5 * eta * delta;
      f_j -= 0.5 * eta * delta;
    }
  }
};

struct DualEntropy {
  const double *y, *cost, *lower, *upper;
  Index n;

  static constexpr bool is_entropy = true;

  // The β_i that maximises D along coordinate i, y c σ(−t) with t the root of t = y f + q c (σ(−t) − a), by Newton's method inside a bracket.
  double step(Index i, double f, double beta, double q) const;
  // −c ℓ′(y, f). Exponents are cut at 700, below which exp does not overflow.
  GAPLESS_INLINE double called(Index i, double f) const {
    return cost[i] > 0.0 ? y[i] * cost[i] / (1.0 + std::exp(std::min(y[i] * f, 700.0))) : 0.0;
  }
  // h′(β) = y log((1 − a)/a), finite at the ends: 1e-300 stands for zero.
  GAPLESS_INLINE double slope(Index i, double beta) const {
    const double a = y[i] * beta / cost[i];
    return y[i] * (std::log(std::max(1.0 - a, 1e-300)) - std::log(std::max(a, 1e-300)));
  }
  GAPLESS_INLINE double rise(Index i, double beta) const { return cost[i] <= 0.0 ? -infinity : slope(i, beta); }
  GAPLESS_INLINE double fall(Index i, double beta) const { return cost[i] <= 0.0 ? infinity : slope(i, beta); }
  // A curvature of h for a step of β_i. It is 1/(c a (1 − a)), without bound at the ends a = 0 and a = 1: a step towards the nearer end meets at
  // least the curvature at β, and a step away from it soon meets the least one, 4/c.
  GAPLESS_INLINE double bend(Index i, double beta, bool rises) const {
    if (cost[i] <= 0.0) return 0.0;
    const double a = y[i] * beta / cost[i];
    const bool outward = (a < 0.5) != (rises == (y[i] > 0.0));
    return outward ? 1.0 / (cost[i] * std::max(a * (1.0 - a), 1e-300)) : 4.0 / cost[i];
  }
  double term(Index i, double beta) const;
  // As DualBox::pair, by Newton's method inside a bracket.
  void pair(Index i, Index j, double f_i, double f_j, double& beta_i, double& beta_j, double eta) const;
};

using DualTerms = std::variant<DualBox, DualEntropy>;

}  // namespace gapless
