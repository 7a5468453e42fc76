#include "textbook/pegasos.hpp"

namespace gapless {
namespace {

template <class R>
PegasosClock walk(const R& rows, const double* y, const double* cost, double shift, Places piece, PegasosClock clock, double* theta,
                  double* errors, double* weighted) {
  const double n = static_cast<double>(rows.size());
  for (const Index i : piece) {
    clock.t += 1.0;
    clock.harmonic += 1.0 / clock.t;
    const double f = (rows.dot(i, theta) + clock.theta_b) / clock.t;
    if (!(y[i] * f < 1.0 && cost[i] > 0.0)) continue;
    const double change = n * cost[i] * y[i];
    rows.add(i, change, theta);
    clock.theta_b += shift * change;
    errors[i] += 1.0;
    weighted[i] += clock.harmonic;
  }
  return clock;
}

}  // namespace

PegasosClock walk_pegasos(const Rows& rows, Vector y, Vector cost, double shift, Places piece, PegasosClock clock, Out theta, Out errors,
                          Out weighted) {
  return std::visit(
      [&](const auto& all) {
        return walk(all, y.data(), cost.data(), shift, piece, clock, theta.data(), errors.data(), weighted.data());
      },
      rows);
}

}  // namespace gapless
