// Bounds on the distance of a computed number from the exact one, in units of u = 2⁻⁵³, the relative error of one operation. They are generous: a
// factor of two in them is never noticed, while a forgotten term would make the proof wrong.
#pragma once

#include "core/span.hpp"

namespace gapless::proof {

constexpr double unit = 0x1p-53;
// A bound on what underflow loses of any sum, each of whose terms loses less than 1e-307: LEAST of gapless/proof/outward.py.
constexpr double least_error = 1e-290;

// A computed number and a bound on its distance from the exact one.
struct Bounded {
  double value = 0.0, error = 0.0;

  // A number that the exact one is certainly not above, and a number that it is certainly not below.
  double above() const { return value + error * (1.0 + 4.0 * unit) + 2.0 * unit * (value < 0.0 ? -value : value); }
  double below() const { return value - error * (1.0 + 4.0 * unit) - 2.0 * unit * (value < 0.0 ? -value : value); }
};

// Bounds on the errors of decision values: factor · sizes[i] + least + relative · |f_i|.
struct Errors {
  Vector sizes;
  double factor = 1.0, least = 0.0, relative = 0.0;

  GAPLESS_INLINE double at(Index i, double f) const { return factor * sizes[i] + (least + relative * (f < 0.0 ? -f : f)); }
};

// Writes bounds on the errors of Σ β_j k(x_i, x_j), computed in `terms` roundings of relative size u, where |k(x, z)| ≤ g(x) g(z) and entries are off
// by at most u (r(x) g(z) + g(x) r(z)) (kernels/rounding.py); the bounds count underflow too.
void expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Out errors);
// The same where the x_i are other samples than the x_j, with numbers of their own.
void expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Vector own_g, Vector own_r, Out errors);

// A bound on the error that Neumaier's sum of n terms adds to the errors of the terms: a rounding of the sum, and n² u² times the sum of their sizes
// (twice each; Ogita, Rump & Oishi 2005).
inline double sum_error(Index n, double value, double sizes) {
  const double many = static_cast<double>(n) * unit;
  return 2.0 * unit * (value < 0.0 ? -value : value) + 2.0 * many * many * sizes;
}

}  // namespace gapless::proof
