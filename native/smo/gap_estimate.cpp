#include "smo/gap_estimate.hpp"

#include <utility>

namespace gapless::smo {
namespace {

constexpr int halvings = 60;  // of a bracket: float64 has 53 bits
constexpr double far = 50.0;  // a decision value beyond ±50 calls for β = 0 or β = c to within e⁻⁵⁰ of the cost, less than float64 resolves

// The β that a decision value calls for, where costs are finite: DualBox::called without branches that a processor would mispredict.
GAPLESS_INLINE double called_by(const DualBox& dual, Index k, double v) {
  const double slope = dual.p[k] - v, e = dual.epsilon[k];
  const double rest = std::max(slope - e, 0.0) + std::min(slope + e, 0.0);
  if (dual.d[k] > 0.0) return std::min(std::max(rest / dual.d[k], dual.lower[k]), dual.upper[k]);
  const double end = rest < 0.0 ? dual.lower[k] : 0.0;
  return rest > 0.0 ? dual.upper[k] : end;
}
GAPLESS_INLINE double called_by(const DualEntropy& dual, Index k, double v) { return dual.called(k, v); }

// A bracket of the best offset. Above the largest rise − f no sample calls for more than its β, below the least fall − f none calls for less, and β
// has the right total. Where these ends are not finite, the bracket contains every kink of the samples.
void bracket(const DualBox& dual, const double* beta, const double* f, const std::vector<Index>& members, double& low, double& high) {
  low = infinity;
  high = -infinity;
  for (const Index k : members) {
    low = std::min(low, dual.fall(k, beta[k]) - f[k]);
    high = std::max(high, dual.rise(k, beta[k]) - f[k]);
  }
  if (low > high) std::swap(low, high);  // nothing violates, and every offset between both is best
  if (std::isfinite(low) && std::isfinite(high)) return;
  low = infinity;
  high = -infinity;
  for (const Index k : members) {
    low = std::min(low, dual.p[k] - f[k] - dual.epsilon[k]);
    high = std::max(high, dual.p[k] - f[k] + dual.epsilon[k]);
  }
}

void bracket(const DualEntropy&, const double*, const double* f, const std::vector<Index>& members, double& low, double& high) {
  low = infinity;
  high = -infinity;
  for (const Index k : members) {
    low = std::min(low, -f[k] - far);
    high = std::max(high, far - f[k]);
  }
}

template <class Dual>
double best_offset(const Dual& dual, Index n, const double* beta, const double* f, Groups groups, Index g, double total, std::vector<Index>& open) {
  open.clear();
  for (Index k = 0; k < n; ++k)
    if (groups.count == 1 || groups.of[k] == g) open.push_back(k);
  double low, high, settled = -total;
  bracket(dual, beta, f, open, low, high);
  for (int pass = 0; pass < halvings; ++pass) {
    std::size_t left = 0;
    for (const Index k : open) {  // a sample that calls for the same β at both ends calls for it between them, too
      const double called = called_by(dual, k, f[k] + low);
      const bool same = called == called_by(dual, k, f[k] + high);
      settled += same ? called : 0.0;
      open[left] = k;
      left += !same;
    }
    open.resize(left);
    const double b = 0.5 * (low + high);
    if (!(low < b && b < high)) break;
    double surplus = settled;
    for (const Index k : open) surplus += called_by(dual, k, f[k] + b);
    if (surplus == 0.0) return b;
    (surplus > 0.0 ? low : high) = b;
  }
  return 0.5 * (low + high);
}

// ½‖w‖² where w and b, stretched to a smallest margin of one, miss nothing: the primal value of a hard margin, which is one of the hinge loss too.
// Infinite where a sample is not separated, where the stretched β leaves its box, so that the optimum has losses, or where the loss is another one.
double separating_value(const DualBox& dual, Index n, const double* beta, const double* f, Groups groups, bool coupled, double square) {
  if (groups.count != 1) return infinity;
  double positive = infinity, negative = infinity, used = 0.0;  // the least f of one class, −f of the other, and the largest share of a bound
  for (Index k = 0; k < n; ++k) {
    if (dual.p[k] == 0.0 || dual.epsilon[k] != 0.0 || dual.d[k] != 0.0) return infinity;
    if (dual.lower[k] == dual.upper[k]) continue;  // a sample of no weight
    used = std::max(used, beta[k] / (dual.p[k] > 0.0 ? dual.upper[k] : dual.lower[k]));
    double& least = dual.p[k] > 0.0 ? positive : negative;
    least = std::min(least, f[k] / dual.p[k]);
  }
  const double margin = coupled ? 0.5 * (positive + negative) : std::min(positive, negative);
  return margin > 0.0 && used <= margin ? 0.5 * square / (margin * margin) : infinity;
}

double separating_value(const DualEntropy&, Index, const double*, const double*, Groups, bool, double) { return infinity; }

}  // namespace

template <class Dual>
GapEstimate own_gap(const Dual& dual, Index n, const double* beta, const double* f, Groups groups, const double* totals, bool coupled,
                    double* offsets, std::vector<Index>& room) {
  double gap = 0.0, value = 0.0, square = 0.0;
  for (Index g = 0; g < groups.count; ++g) offsets[g] = coupled ? best_offset(dual, n, beta, f, groups, g, totals[g], room) : 0.0;
  for (Index k = 0; k < n; ++k) {
    const double level = f[k] + offsets[groups.count == 1 ? 0 : groups.of[k]], term = dual.term(k, beta[k]);
    const double called = called_by(dual, k, level);
    gap += (dual.term(k, called) - level * called) - (term - level * beta[k]);
    value += term;
    square += beta[k] * f[k];
  }
  const double bound = value - 0.5 * square;
  const double primal = std::min(gap + bound, separating_value(dual, n, beta, f, groups, coupled, square));
  return {primal - bound, primal};
}

template GapEstimate own_gap(const DualBox&, Index, const double*, const double*, Groups, const double*, bool, double*, std::vector<Index>&);
template GapEstimate own_gap(const DualEntropy&, Index, const double*, const double*, Groups, const double*, bool, double*, std::vector<Index>&);

}  // namespace gapless::smo
