#include "smo/starts.hpp"

#include <algorithm>
#include <cmath>

#include "smo/slope_loops.hpp"

namespace gapless::smo {
namespace {

constexpr double past = 1e-12;  // of the width of a box: a line that is farther outside left it

// The number of variables that violate by more than `kkt`, for the offset with which they are fewest.
Index violators(const FamilySamples& samples, const MemberFit& fit, const std::vector<double>& beta, const std::vector<double>& f, double kkt) {
  const DualBox dual = samples.box(fit);
  std::vector<double> up(samples.size()), down(samples.size());
  const SlopeRange ends = slope_loops().slopes(dual, samples.size(), beta.data(), f.data(), up.data(), down.data());
  return slope_loops().violators(samples.size(), up.data(), down.data(), ends.top, ends.bottom, kkt);
}

// Begins with that point where fewer variables violate.
void take_fewer(const FamilySamples& samples, MemberFit& fit, double kkt, const std::vector<double>& beta, const std::vector<double>& f) {
  const Index found = violators(samples, fit, beta, f, kkt);
  if (found >= fit.violating) return;
  fit.violating = found;
  fit.beta = beta;
  fit.f = f;
}

// The line through β and f at the last two C's, at the next one; empty where only one is known.
void draw_line(MemberFit& fit, double C) {
  const std::size_t n = fit.beta.size();
  fit.line_beta.clear();
  if (fit.last_beta.size() != n || !(fit.last_C < fit.C)) return;
  const double part = (C - fit.C) / (fit.C - fit.last_C);
  fit.line_beta.resize(n);
  fit.line_f.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    fit.line_beta[i] = fit.beta[i] + part * (fit.beta[i] - fit.last_beta[i]);
    fit.line_f[i] = fit.f[i] + part * (fit.f[i] - fit.last_f[i]);
  }
}

// Whether there is such a β, and within the bounds but for rounding, to which it is then clipped.
bool is_within(const MemberFit& fit, std::vector<double>& beta) {
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const double slack = past * (fit.upper[i] - fit.lower[i]);
    if (!(beta[i] >= fit.lower[i] - slack && beta[i] <= fit.upper[i] + slack)) return false;
  }
  for (std::size_t i = 0; i < beta.size(); ++i) beta[i] = std::clamp(beta[i], fit.lower[i], fit.upper[i]);
  return !beta.empty();
}

// The dual's value.
double value(const FamilySamples& samples, const MemberFit& fit, const std::vector<double>& beta, const std::vector<double>& f) {
  const DualBox dual = samples.box(fit);
  double sum = 0.0;
  for (Index i = 0; i < samples.size(); ++i) sum += dual.term(i, beta[i]) - 0.5 * beta[i] * f[i];
  return sum;
}

}  // namespace

bool begin(const FamilySamples& samples, MemberFit& fit) {
  fit.beta.assign(samples.size(), 0.0);
  fit.f.assign(samples.size(), 0.0);
  if (!samples.margins) return false;
  double up = 0.0, down = 0.0, square = 0.0;
  for (Index i = 0; i < samples.size(); ++i) {
    up += fit.upper[i];
    down -= fit.lower[i];
  }
  const double most = std::min(up, down);
  if (!(most > 0.0)) return false;
  for (Index i = 0; i < samples.size(); ++i) {
    fit.next_beta[i] = fit.upper[i] * (most / up) + fit.lower[i] * (most / down);
    square += fit.next_beta[i] * fit.next_beta[i] * samples.diagonal[i];
  }
  return 2.0 * most > square;  // βᵀKβ is at least about that, unless classes cancel
}

void nearest_first(const FamilySamples& samples, MemberFit& fit) {
  double up = 0.0, down = 0.0;
  for (Index i = 0; i < samples.size(); ++i) {
    up += fit.upper[i];
    down -= fit.lower[i];
  }
  const double sign = up > down ? 1.0 : -1.0;
  std::vector<Index> order;
  for (Index i = 0; i < samples.size(); ++i)
    if (samples.p[i] == sign) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return sign * fit.f[i] < sign * fit.f[j]; });
  double left = std::min(up, down);
  for (const Index i : order) {
    const double size = std::min(left, sign > 0.0 ? fit.upper[i] : -fit.lower[i]);
    fit.next_beta[i] = sign * size;
    left -= size;
  }
}

void leave(const FamilySamples& samples, MemberFit& fit, double C) {
  fit.ratio = C / fit.C;
  double linear = 0.0, square = 0.0, total = 0.0, room_up = 0.0, room_down = 0.0;
  fit.free.clear();
  fit.bounded = false;
  for (Index i = 0; i < samples.size(); ++i) {
    const double b = fit.beta[i];
    if (b == 0.0) continue;
    linear += samples.p[i] * b - fit.epsilon[i] * std::fabs(b);
    square += b * fit.f[i];
    if (b <= fit.lower[i] || b >= fit.upper[i]) {
      fit.bounded = true;
      total += fit.ratio * b;
    } else {
      fit.free.push_back(i);
      const double within = std::clamp(b, fit.ratio * fit.lower[i], fit.ratio * fit.upper[i]);
      total += within;
      room_up += fit.ratio * fit.upper[i] - within;
      room_down += within - fit.ratio * fit.lower[i];
    }
  }
  const double best = square > 0.0 ? linear / square : fit.ratio;
  fit.scale = std::clamp(best, 0.0, fit.ratio);
  fit.bounded = fit.bounded && std::fabs(total) <= (total > 0.0 ? room_down : room_up);  // else the sum is out of reach that way
  fit.part = !fit.bounded ? 0.0 : total > 0.0 ? -total / room_down : total < 0.0 ? -total / room_up : 0.0;
  draw_line(fit, C);
  fit.last_C = fit.C;
  std::swap(fit.last_beta, fit.beta);
  std::swap(fit.last_f, fit.f);
}

bool arrive(const FamilySamples& samples, MemberFit& fit, double kkt) {
  const Index n = samples.size();
  fit.beta.resize(n);
  fit.f.resize(n);
  for (Index i = 0; i < n; ++i) {
    fit.beta[i] = std::clamp(fit.scale * fit.last_beta[i], fit.lower[i], fit.upper[i]);
    fit.f[i] = fit.scale * fit.last_f[i];
  }
  fit.violating = violators(samples, fit, fit.beta, fit.f, kkt);
  if (fit.violating > 0 && is_within(fit, fit.line_beta)) take_fewer(samples, fit, kkt, fit.line_beta, fit.line_f);
  if (fit.violating == 0 || !fit.bounded) return false;
  for (const Index i : fit.free) {
    const double within = std::clamp(fit.last_beta[i], fit.lower[i], fit.upper[i]);
    const double to = within + fit.part * (fit.part < 0.0 ? within - fit.lower[i] : fit.upper[i] - within);
    fit.next_beta[i] = std::clamp(to, fit.lower[i], fit.upper[i]) - fit.ratio * fit.last_beta[i];
  }
  return true;
}

void stay_at_bounds(const FamilySamples& samples, MemberFit& fit, double kkt) {
  for (Index i = 0; i < samples.size(); ++i) {
    fit.next_beta[i] = std::clamp(fit.ratio * fit.last_beta[i] + fit.next_beta[i], fit.lower[i], fit.upper[i]);
    fit.next_f[i] += fit.ratio * fit.last_f[i];
  }
  take_fewer(samples, fit, kkt, fit.next_beta, fit.next_f);
}

void take_larger(const FamilySamples& samples, MemberFit& fit) {
  if (!(value(samples, fit, fit.next_beta, fit.next_f) > value(samples, fit, fit.beta, fit.f))) return;
  fit.beta = fit.next_beta;
  fit.f = fit.next_f;
}

}  // namespace gapless::smo
