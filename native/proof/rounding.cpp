#include "proof/rounding.hpp"

#include <cmath>

#include "core/sums.hpp"
#include "proof/point_loops.hpp"

namespace gapless::proof {

// A bound on what underflow loses of an entry of K, for each unit of its coefficient.
constexpr double underflow = 1e-300;

namespace {

Bounded sum_of(Vector values) {
  Sum sum;
  double sizes = 0.0;
  for (const double value : values) {
    sum.add(value);
    sizes += std::fabs(value);
  }
  if (!std::isfinite(sizes) || !std::isfinite(sum.value())) return {0.0, infinity};
  return {sum.value(), sum_error(length(values), sum.value(), sizes)};
}

}  // namespace

double sum_above(Vector values) { return std::nextafter(sum_of(values).above(), infinity); }
double sum_below(Vector values) { return std::nextafter(sum_of(values).below(), -infinity); }

ExpansionError ExpansionSizes::error(double u, double terms) const { return {u * (terms * reach + rough), u * reach, least_error + underflow * size}; }

double expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Out errors) {
  const PointLoops& loops = point_loops();
  const ReachSums sums = loops.reach(beta.data(), g.data(), r.data(), length(beta));
  loops.errors(sums.sizes.error(u, terms), g.data(), r.data(), length(errors), errors.data());
  return sums.largest;
}

}  // namespace gapless::proof
