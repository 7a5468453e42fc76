#include "interior_point/kinks.hpp"

#include <algorithm>
#include <cmath>

#include "newton/box.hpp"

namespace gapless {
namespace {

constexpr double on_kink = 1e-14;  // some 50 roundings: for a decision nearer to its kink rounding decides the side, which does not count

// The β that maximises β e − ε|β|, where e = p − f: a bound, or zero.
double called(const DualBox& box, std::size_t i, double e) {
  return e > box.epsilon[i] ? box.upper[i] : (e < -box.epsilon[i] ? box.lower[i] : 0.0);
}

}  // namespace

double fenchel_gap(const DualBox& box, Vector f, Vector beta) {
  double total = 0.0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double e = box.p[i] - f[i];
    const Box<double> sample{box.epsilon[i], box.d[i], box.lower[i], box.upper[i]};
    total += sample.gap(e, sample.best(e), beta[i]);
  }
  return total;
}

void kink_pieces(const DualBox& box, Vector f, Vector beta, Vector gamma, std::span<std::int8_t> piece) {
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double v = beta[i] + gamma[i] * (box.p[i] - f[i]), edge = gamma[i] * box.epsilon[i];
    if (v > edge && box.upper[i] > 0.0)
      piece[i] = v >= box.upper[i] + edge ? 2 : 1;
    else if (v < -edge && box.lower[i] < 0.0)
      piece[i] = v <= box.lower[i] - edge ? -2 : -1;
    else
      piece[i] = 0;
  }
}

double loss_slope(const DualBox& box, Vector f, Vector df, double t) {
  double total = 0.0;
  for (std::size_t i = 0; i < f.size(); ++i) total -= called(box, i, box.p[i] - f[i] - t * df[i]) * df[i];
  return total;
}

void wrong_side(const DualBox& box, Vector f, Vector beta, std::span<bool> wrong) {
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double e = box.p[i] - f[i];
    wrong[i] = beta[i] != called(box, i, e) && std::fabs(std::fabs(e) - box.epsilon[i]) > on_kink;
  }
}

void survey(const DualBox& box, Vector f, Out beta, Out distance) {
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double e = box.p[i] - f[i], epsilon = box.epsilon[i];
    beta[i] = called(box, i, e);
    distance[i] = infinity;
    if (box.upper[i] > 0.0) distance[i] = std::fabs(e - epsilon);
    if (box.lower[i] < 0.0) distance[i] = std::min(distance[i], std::fabs(e + epsilon));
  }
}

}  // namespace gapless
