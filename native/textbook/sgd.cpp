#include "textbook/sgd.hpp"

namespace gapless {
namespace {

// A product of so small an a and a v so large still has twelve digits.
constexpr double least_scale = 1e-4;

template <class R, class Dual>
SgdScalars descend(const R& rows, const Dual& dual, Places piece, double t, const SgdRule& rule, SgdScalars now, Out v, Out u, Out q) {
  const double n = static_cast<double>(rows.size());
  for (const Index i : piece) {
    const double eta = std::min(rule.constant ? rule.eta : rule.eta / (t + rule.t0), 1.0);
    const double g = n * dual.called(i, now.scale * rows.dot(i, v.data()) + now.b);
    t += 1.0;
    now.scale *= 1.0 - eta;
    now.b += eta * (rule.reach * g - rule.penalty * now.b);
    if (now.scale < least_scale) {
      for (double& value : v) value *= now.scale;
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
  }
  return now;
}

}  // namespace

SgdScalars descend_sgd(const Rows& rows, const DualTerms& dual, Places piece, double t, const SgdRule& rule, SgdScalars now, Out v, Out u,
                       Out q) {
  return std::visit([&](const auto& all, const auto& terms) { return descend(all, terms, piece, t, rule, now, v, u, q); }, rows, dual);
}

}  // namespace gapless
