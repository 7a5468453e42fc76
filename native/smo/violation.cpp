#include "smo/violation.hpp"

#include "smo/slope_loops.hpp"

namespace gapless::smo {
namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();

// The intercept that the slopes of an entropy suggest: their mean, weighted by 1 over the curvature of each sample.
double level_of(const DualEntropy& dual, Index n, const double* beta, const double* f) {
  double total = 0.0, weight = 1e-300;
  for (Index k = 0; k < n; ++k) {
    if (dual.cost[k] <= 0.0) continue;
    const double a = dual.y[k] * beta[k] / dual.cost[k];
    const double reach = dual.cost[k] * std::max(a * (1.0 - a), 1e-12);
    total += reach * (dual.rise(k, beta[k]) - f[k]);
    weight += reach;
  }
  return total / weight;
}

// The largest violation of samples that share an offset, or of samples each by itself.
double worst_of(double top, double bottom, bool coupled) {
  if (!coupled) return std::max({0.0, top, -bottom});
  return top > -big && bottom < big ? std::max(0.0, top - bottom) : 0.0;
}

void ends(const DualEntropy& dual, Index n, const double* diagonal, const double* beta, const double* f, double* up, double* down) {
  const double level = level_of(dual, n, beta, f);
  for (Index k = 0; k < n; ++k) {
    up[k] = -big;
    down[k] = big;
    if (dual.cost[k] <= 0.0) continue;
    const double slope = dual.rise(k, beta[k]) - f[k] - level;
    const double gain = gain_of(dual, k, slope, diagonal[k] + dual.bend(k, beta[k], slope > 0.0), beta[k], f[k] + level);
    if (slope > 0.0)
      up[k] = gain;
    else if (slope < 0.0)
      down[k] = -gain;
  }
}

}  // namespace

template <>
Violation survey(const DualBox& dual, Index n, const double*, const double* beta, const double* f, Groups groups, bool coupled, double* up,
                 double* down) {
  const SlopeRange ends = slope_loops().slopes(dual, n, beta, f, up, down);
  const bool one = groups.count == 1;
  return {rounding * (1.0 + ends.size), one ? worst_of(ends.top, ends.bottom, coupled) : largest_violation(n, up, down, groups, coupled)};
}

template <>
Violation survey(const DualEntropy& dual, Index n, const double* diagonal, const double* beta, const double* f, Groups groups, bool coupled,
                 double* up, double* down) {
  double size = 0.0;
  for (Index k = 0; k < n; ++k) size = std::max(size, std::fabs(f[k]));
  ends(dual, n, diagonal, beta, f, up, down);
  return {rounding * (1.0 + size), largest_violation(n, up, down, groups, coupled)};
}

double largest_violation(Index n, const double* up, const double* down, Groups groups, bool coupled) {
  double largest = 0.0;
  for (Index g = 0; g < groups.count; ++g) {
    double top = -big, bottom = big;
    for (Index k = 0; k < n; ++k)
      if (groups.count == 1 || groups.of[k] == g) {
        top = std::max(top, up[k]);
        bottom = std::min(bottom, down[k]);
      }
    largest = std::max(largest, worst_of(top, bottom, coupled));
  }
  return largest;
}

void outlying(Index n, const double* up, const double* down, Groups groups, const double* offsets, double* out) {
  for (Index k = 0; k < n; ++k) {
    const double b = offsets[groups.of[k]];
    out[k] = std::max(up[k] - b, b - down[k]);
  }
  for (Index g = 0; g < groups.count; ++g) {
    Index top = -1, bottom = -1;
    for (Index k = 0; k < n; ++k) {
      if (groups.of[k] != g) continue;
      if (top < 0 || up[k] > up[top]) top = k;
      if (bottom < 0 || down[k] < down[bottom]) bottom = k;
    }
    if (top >= 0) out[top] = out[bottom] = infinity;
  }
}

std::vector<Index> near_violating(Index n, const double* up, const double* down, Groups groups, const double* offsets, double reach) {
  std::vector<double> out(n);
  outlying(n, up, down, groups, offsets, out.data());
  std::vector<Index> near;
  for (Index k = 0; k < n; ++k)
    if (!(-out[k] > reach)) near.push_back(k);
  return near;
}

}  // namespace gapless::smo
