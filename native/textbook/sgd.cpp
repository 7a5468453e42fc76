#include "textbook/sgd.hpp"

#include <cmath>

namespace gapless {
namespace {

// a is folded into v where it is smaller: v is then 1e4 times as large as w, and w = a v still has twelve digits.
constexpr double least_scale = 1e-4;

constexpr double largest = 1e75;  // LARGEST of gapless/data/scale.py, where it is derived

template <class R, class Dual>
SgdScalars descend(const R& rows, const Dual& dual, Places piece, Vector steps, const SgdIntercept& intercept, SgdScalars now, Out v, Out u,
                   Out q) {
  const double n = static_cast<double>(rows.size());
  bool diverged = false;
  for (std::size_t k = 0; k < piece.size() && !diverged; ++k) {
    const Index i = piece[k];
    const double eta = steps[k];
    const double g = n * dual.called(i, now.scale * rows.dot(i, v.data()) + now.b);
    if (!(eta * std::fabs(g) <= largest)) break;
    now.scale *= 1.0 - eta;
    now.b += eta * (intercept.reach * g - intercept.penalty * now.b);
    const double size = std::fabs(now.scale);
    if (!(least_scale <= size && size <= 1.0 / least_scale)) {
      for (double& value : v) {
        value *= now.scale;
        diverged = diverged || !(std::fabs(value) <= largest);
      }
      for (std::size_t j = 0; j < u.size(); ++j) {
        q[j] -= now.sum_scale * u[j];
        u[j] *= now.scale;
      }
      now.scale = 1.0;
      now.sum_scale = 0.0;
    }
    if (g != 0.0) {
      const double change = eta * g / now.scale;
      rows.add(i, change, v.data());
      u[static_cast<std::size_t>(i)] += change;
      q[static_cast<std::size_t>(i)] += now.sum_scale * change;
    }
    now.sum_scale += now.scale;
    now.sum_b += now.b;
    ++now.made;
  }
  return now;
}

}  // namespace

SgdScalars descend_sgd(const Rows& rows, const DualTerms& dual, Places piece, Vector steps, const SgdIntercept& intercept, SgdScalars now,
                       Out v, Out u, Out q) {
  return std::visit(
      [&](const auto& all, const auto& terms) { return descend(all, terms, piece, steps, intercept, now, v, u, q); }, rows, dual);
}

}  // namespace gapless
