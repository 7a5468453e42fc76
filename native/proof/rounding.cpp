#include "proof/rounding.hpp"

#include "proof/point_loops.hpp"

namespace gapless::proof {

// A bound on what underflow loses of an entry of K, for each unit of its coefficient.
constexpr double underflow = 1e-300;

ExpansionError ExpansionSizes::error(double u, double terms) const { return {u * (terms * reach + rough), u * reach, least_error + underflow * size}; }

double expansion_errors(Vector beta, Vector g, Vector r, double u, double terms, Out errors) {
  const PointLoops& loops = point_loops();
  const ReachSums sums = loops.reach(beta.data(), g.data(), r.data(), length(beta));
  loops.errors(sums.sizes.error(u, terms), g.data(), r.data(), length(errors), errors.data());
  return sums.largest;
}

}  // namespace gapless::proof
