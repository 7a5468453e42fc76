#include "proof/rounding.hpp"

#include <cmath>
#include <limits>

namespace gapless::proof {

// A bound on what underflow loses of an entry of K, for each unit of its coefficient.
constexpr double underflow = 1e-300;

ExpansionError ExpansionSizes::error(double u, double terms) const { return {u * (terms * reach + rough), u * reach, least_error + underflow * size}; }

void expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Out errors) {
  ExpansionSizes sizes;
  for (Index j = 0; j < length(beta); ++j) sizes.add(beta[j], g[j], r[j]);
  const ExpansionError bound = sizes.error(u, terms);
  for (Index i = 0; i < length(errors); ++i) {
    const double error = bound.at(g[i], r[i]);
    errors[i] = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
}

}  // namespace gapless::proof
