// How far variables violate the optimality conditions of the dual.
//
// up[k] and down[k] are the slopes of the dual for a rise and for a fall of β_k: a pair (i, j) of samples that share an offset violates by
// up[i] − down[j]. Without a common constraint each sample violates by itself, by up[k] or −down[k]. The slopes of an entropy are logarithms, which
// are large even where a step gains nothing; its up and down are the gains of a step, to second order, against a common level.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "core/span.hpp"

namespace gapless::smo {

constexpr double big = 1e300;  // in the place of an infinite slope, where β cannot move

// Samples fall into groups, each with an offset of its own.
struct Groups {
  const Index* of;  // the group of each sample
  Index count;      // the number of groups
};

struct Violation {
  double noise;  // the rounding of f: a violation below it tells nothing
  double worst;  // the largest violation
};

// Writes up and down of n samples.
template <class Dual>
Violation survey(const Dual& dual, Index n, const double* diagonal, const double* beta, const double* f, Groups groups, bool coupled, double* up,
                 double* down);

// The largest violation.
double largest_violation(Index n, const double* up, const double* down, Groups groups, bool coupled);

// Writes by how much each variable violates for given offsets; a negative number is its distance from violating. The two worst of each group get
// infinity.
void outlying(Index n, const double* up, const double* down, Groups groups, const double* offsets, double* out);

// The variables that violate, or are at most `reach` from violating.
std::vector<Index> near_violating(Index n, const double* up, const double* down, Groups groups, const double* offsets, double reach);

// The gain of a step of β_k along `slope`, where f is its decision value; for an entropy at most the slope times the way to the β that f calls for.
template <class Dual>
GAPLESS_INLINE double gain_of(const Dual& dual, Index k, double slope, double curvature, double beta, double f) {
  double gain = slope * slope / std::max(curvature, 1e-300);
  if constexpr (Dual::is_entropy) gain = std::min(gain, std::fabs(slope * (dual.called(k, f) - beta)));
  return gain;
}

// A violation below this is rounding; those of an entropy are gains, squares of slopes.
template <class Dual>
double least_violation(double noise) {
  return Dual::is_entropy ? noise * noise : noise;
}

}  // namespace gapless::smo
