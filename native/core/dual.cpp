#include "core/dual.hpp"

namespace gapless {
namespace {

constexpr int most_steps = 200;     // a guard: Newton takes some 5 steps, and bisection alone some 60 to the last digit of a bracket
constexpr double rounding = 1e-15;  // a step below this share of the variable, some 4 units of float64, is the last

double xlogx(double a) { return a > 0.0 ? a * std::log(a) : 0.0; }

}  // namespace

double DualEntropy::step(Index i, double f, double beta, double q) const {
  if (cost[i] <= 0.0) return 0.0;
  const double a = y[i] * beta / cost[i], pull = q * cost[i], margin = y[i] * f;
  double low = margin - pull * a, high = margin + pull * (1.0 - a);
  double t = margin, last = high - low;
  for (int k = 0; k < most_steps; ++k) {
    const double s = 1.0 / (1.0 + std::exp(std::min(t, 700.0)));
    const double h = t - margin - pull * (s - a);
    (h > 0.0 ? high : low) = t;
    double next = t - h / (1.0 + pull * s * (1.0 - s));
    // A Newton step that leaves the bracket, or is longer than half of the last step and so might cycle, is replaced by bisection.
    if (!(low <= next && next <= high) || std::fabs(next - t) > 0.5 * last) next = 0.5 * (low + high);
    last = std::fabs(next - t);
    t = next;
    if (last <= rounding * (1.0 + std::fabs(t))) break;
  }
  return y[i] * cost[i] / (1.0 + std::exp(std::min(t, 700.0)));
}

double DualEntropy::term(Index i, double beta) const {
  if (cost[i] <= 0.0) return 0.0;
  const double a = std::min(std::max(y[i] * beta / cost[i], 0.0), 1.0);
  return -cost[i] * (xlogx(a) + xlogx(1.0 - a));
}

void DualEntropy::pair(Index i, Index j, double f_i, double f_j, double& beta_i, double& beta_j, double eta) const {
  const double room = std::min(upper[i] - beta_i, beta_j - lower[j]);
  double low = 0.0, high = room, delta = 0.5 * room, last = room;
  for (int k = 0; k < most_steps; ++k) {
    const double slope = rise(i, beta_i + delta) - fall(j, beta_j - delta) - (f_i - f_j) - eta * delta;
    (slope > 0.0 ? low : high) = delta;
    const double a_i = y[i] * (beta_i + delta) / cost[i], a_j = y[j] * (beta_j - delta) / cost[j];
    const double bend_i = 1.0 / (cost[i] * std::max(a_i * (1.0 - a_i), 1e-300));
    const double bend_j = 1.0 / (cost[j] * std::max(a_j * (1.0 - a_j), 1e-300));
    double next = delta + slope / (eta + bend_i + bend_j);
    if (!(low < next && next < high) || std::fabs(next - delta) > 0.5 * last) next = 0.5 * (low + high);
    last = std::fabs(next - delta);
    delta = next;
    if (last <= rounding * room) break;
  }
  beta_i += delta;
  beta_j -= delta;
}

}  // namespace gapless
