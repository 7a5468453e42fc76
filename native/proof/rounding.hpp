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

// A bound on the error of Σ β_j k(x, x_j), for a sample x whose numbers g and r are given: |k(x, z)| ≤ g(x) g(z), and entries are off by at most
// u (r(x) g(z) + g(x) r(z)) (kernels/rounding.py). It counts underflow too.
struct ExpansionError {
  double of_g = 0.0, of_r = 0.0, floor = 0.0;
  double at(double g, double r) const { return of_g * g + of_r * r + floor; }
};

// The sizes of the terms of such a sum: Σ |β_j|, Σ |β_j| g_j and Σ |β_j| r_j.
struct ExpansionSizes {
  double size = 0.0, reach = 0.0, rough = 0.0;

  GAPLESS_INLINE void add(double beta, double g, double r) {
    const double b = beta < 0.0 ? -beta : beta;
    size += b;
    reach += b > 0.0 ? g * b : 0.0;  // g and r may be infinite, and 0 · ∞ is NaN
    rough += b > 0.0 ? r * b : 0.0;
  }
  void operator+=(const ExpansionSizes& other) {
    size += other.size;
    reach += other.reach;
    rough += other.rough;
  }
  // The error of a sum that is computed in `terms` roundings of relative size u.
  ExpansionError error(double u, double terms) const;
};

// Writes bounds on the errors of Σ β_j k(x_i, x_j), computed in `terms` roundings of relative size u, and returns the largest g, or zero.
double expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Out errors);

// A bound on the error that Neumaier's sum of n terms adds to the errors of the terms: a rounding of the sum, and n² u² times the sum of their sizes
// (twice each; Ogita, Rump & Oishi 2005). Sums by L ≤ 8 lanes (proof/kept_sum.hpp) have at most n/L + 2L additions between a term and the sum, and
// n/L + 3L between what is lost and the sum: the product of both is below 2 (n + 16)², whatever n is.
inline double sum_error(Index n, double value, double sizes) {
  const double many = static_cast<double>(n + 16) * unit;
  return 2.0 * unit * (value < 0.0 ? -value : value) + 2.0 * many * many * sizes;
}

// A number that the exact sum is below, or one that it is above; infinite on that side where a number is not finite, or where the sum overflows.
double sum_above(Vector values);
double sum_below(Vector values);

}  // namespace gapless::proof
