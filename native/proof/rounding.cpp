#include "proof/rounding.hpp"

#include <cmath>
#include <limits>

namespace gapless::proof {

// A bound on what underflow loses of an entry of K, for each unit of its coefficient.
constexpr double underflow = 1e-300;

void expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Out errors) { expansion_errors(beta, g, r, u, terms, g, r, errors); }

void expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Vector own_g, Vector own_r, Out errors) {
  double reach = 0.0, rough = 0.0, size = 0.0;
  for (Index j = 0; j < length(beta); ++j) {
    const double b = std::fabs(beta[j]);
    if (b == 0.0) continue;  // r may be infinite, and 0 · ∞ is NaN
    reach += g[j] * b;
    rough += r[j] * b;
    size += b;
  }
  const double of_g = u * (terms * reach + rough), of_r = u * reach, floor = least_error + underflow * size;
  for (Index i = 0; i < length(errors); ++i) {
    const double error = of_g * own_g[i] + of_r * own_r[i] + floor;
    errors[i] = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
}

}  // namespace gapless::proof
