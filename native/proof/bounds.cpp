#include "proof/bounds.hpp"

#include <vector>

#include "core/sums.hpp"
#include "proof/dual_side.hpp"
#include "proof/pieces.hpp"

namespace gapless::proof {

namespace {

struct Square {
  double value, b;
};

Square square_of(Vector beta, Vector f, double norm, double shift) {
  struct Part {
    double product = 0.0, total = 0.0, sizes = 0.0;
  };
  const bool known = !std::isnan(norm);
  Sum product, total;
  double sizes = 0.0;
  for (const Part& part : by_pieces<Part>(length(f), [&](Index begin, Index end) {
         Sum product, total;
         Part part;
         for (Index i = begin; i < end; ++i) part.sizes += 0.0 * f[i];  // NaN and infinities stay in it
         if (!known)
           for (Index i = begin; i < end; ++i) product.add(beta[i] * f[i]);
         if (shift != 0.0)
           for (Index i = begin; i < end; ++i) total.add(beta[i]);
         part.product = product.value();
         part.total = total.value();
         return part;
       })) {
    product.add(part.product);
    total.add(part.total);
    sizes += part.sizes;
  }
  const double b = shift * total.value();
  const double value = (known ? norm : product.value()) + b * total.value() + sizes;
  return {std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN(), b};
}

}  // namespace

Bounds bounds(const DualTerms& dual, Places groups, Vector totals, Options options, Out beta, Out f, double norm, double shift,
              std::span<Interval> offsets) {
  const auto [square, b] = square_of(beta, f, norm, shift);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(square)) return {nan, 1.0, -infinity, nan, infinity};
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
  Bounds out{square, scale, best.value, nan, infinity};
  const Index n_groups = length(totals);
  if (box != nullptr) out.violation = largest_violation(*box, beta, f, scale * b, groups, n_groups, options.free);
  for (Interval& each : offsets) each = {scale * b, scale * b};
  if (!options.primal) return out;
  double price = 0.0;
  std::vector<double> middles(n_groups);
  for (Index g = 0; g < n_groups; ++g) {
    if (options.free) offsets[g] = best_offset(dual, groups, g, totals[g], f);
    middles[g] = 0.5 * (offsets[g].low + offsets[g].high);
    price += totals[g] * middles[g];
  }
  const double value = 0.5 * scale * scale * square + loss_sum(dual, groups, middles, f) + price;
  if (std::isfinite(value)) out.primal = value;
  return out;
}

}  // namespace gapless::proof
