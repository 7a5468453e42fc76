// How far a computed number may be from the exact one. Bounds are in units of u = 2⁻⁵³, the relative error of one operation, and generous: a
// factor of two costs nothing that anybody notices, and a term forgotten would cost the proof.
#pragma once

#include "core/span.hpp"

namespace gapless::proof {

constexpr double unit = 0x1p-53;

// A computed number and a bound on its distance from the exact one.
struct Bounded {
  double value = 0.0, error = 0.0;

  // A number that is certainly not below the exact one, and one that is certainly not above it.
  double above() const { return value + error * (1.0 + 4.0 * unit) + 2.0 * unit * (value < 0.0 ? -value : value); }
  double below() const { return value - error * (1.0 + 4.0 * unit) - 2.0 * unit * (value < 0.0 ? -value : value); }
};

// How far decision values may be from the exact ones: factor · size of the sample, and what its own value rounds by.
struct Errors {
  Vector sizes;
  double factor = 1.0, least = 0.0, relative = 0.0;

  GAPLESS_INLINE double at(Index i, double f) const { return factor * sizes[i] + (least + relative * (f < 0.0 ? -f : f)); }
};

// How far Σ β_j k(x_i, x_j), computed in `terms` roundings of relative size u, is from the exact sum, where |k(x, z)| ≤ g(x) g(z) and entries are off
// by at most u (r(x) g(z) + g(x) r(z)) (kernels/rounding.py); what of an entry underflows counts too.
void expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Out errors);

// The error that Neumaier's sum of n terms adds to those of the terms: one rounding of its value, and of n² u² of their sizes.
inline double sum_error(Index n, double value, double sizes) {
  const double many = static_cast<double>(n) * unit;
  return 2.0 * unit * (value < 0.0 ? -value : value) + 2.0 * many * many * sizes;
}

}  // namespace gapless::proof
