// How far variables violate the optimality conditions of the dual.
//
// up[k] tells how the dual rises with β_k, down[k] how it falls with it: of two samples that share an offset, the pair (i, j) violates by
// up[i] − down[j]. Without a common constraint each violates by itself, by up[k] or −down[k]. The entropy's slopes are logarithms, large where nothing
// is to gain; its ends are what a step gains, to second order, against a common level.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "core/span.hpp"

namespace gapless::smo {

constexpr double big = 1e300;  // stands for "can't move"; finite

// Samples fall into groups, each with an offset of its own.
struct Groups {
  const Index* of;  // the group of each sample
  Index count;      // how many there are
};

struct Violation {
  double noise;  // a violation below it is rounding of f
  double worst;
};

// Fills up and down of n samples.
template <class Dual>
Violation survey(const Dual& dual, Index n, const double* diagonal, const double* beta, const double* f, Groups groups, bool coupled, double* up,
                 double* down);

// The largest violation.
double largest_violation(Index n, const double* up, const double* down, Groups groups, bool coupled);

// How far each variable violates for given offsets; negative: how far it is from that. Both ends of a group come first, as infinity.
void outlying(Index n, const double* up, const double* down, Groups groups, const double* offsets, double* out);

// The variables that violate, or are at most `reach` from that.
std::vector<Index> near_violating(Index n, const double* up, const double* down, Groups groups, const double* offsets, double reach);

// What a step of β_k gains along `slope` where f is its decision value; the entropy's, at most the slope times the way to the β that f calls for.
template <class Dual>
GAPLESS_INLINE double gain_of(const Dual& dual, Index k, double slope, double curvature, double beta, double f) {
  double gain = slope * slope / std::max(curvature, 1e-300);
  if constexpr (Dual::is_entropy) gain = std::min(gain, std::fabs(slope * (dual.called(k, f) - beta)));
  return gain;
}

// Below this a violation of the dual's conditions is nobody's: the entropy's are gains, squares of slopes.
template <class Dual>
double least_violation(double noise) {
  return Dual::is_entropy ? noise * noise : noise;
}

}  // namespace gapless::smo
