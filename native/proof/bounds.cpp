#include "proof/bounds.hpp"

#include <vector>

#include "proof/dual_side.hpp"

namespace gapless::proof {

Bounds bounds(const DualTerms& dual, Places groups, Vector totals, Options options, Out beta, Out f, double square, double b,
              std::span<Interval> offsets) {
  const DualBox* const box = std::get_if<DualBox>(&dual);
  Multiple best{1.0, 0.0};
  if (box != nullptr && options.multiple)
    best = best_multiple(*box, beta, square);
  else
    best.value = dual_sum(dual, beta) - 0.5 * square;
  const double scale = best.scale;
  if (scale != 1.0)
    for (Index i = 0; i < length(beta); ++i) {
      f[i] *= scale;
      beta[i] *= scale;
      // Scaling may round past a bound.
      if (box != nullptr) beta[i] = std::min(std::max(beta[i], box->lower[i]), box->upper[i]);
    }
  Bounds out{scale, best.value, std::numeric_limits<double>::quiet_NaN(), infinity};
  const Index n_groups = length(totals);
  if (box != nullptr) out.violation = largest_violation(*box, beta, f, scale * b, groups, n_groups, options.free);
  if (!options.primal) return out;
  double price = 0.0;
  std::vector<double> middles(n_groups);
  for (Index g = 0; g < n_groups; ++g) {
    offsets[g] = options.free ? best_offset(dual, groups, g, totals[g], f) : Interval{scale * b, scale * b};
    middles[g] = 0.5 * (offsets[g].low + offsets[g].high);
    price += totals[g] * middles[g];
  }
  const double value = 0.5 * scale * scale * square + loss_sum(dual, groups, middles, f) + price;
  if (std::isfinite(value)) out.primal = value;
  return out;
}

}  // namespace gapless::proof
