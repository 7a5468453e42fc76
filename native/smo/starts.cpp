#include "smo/starts.hpp"

#include <algorithm>
#include <cmath>

#include "smo/violation.hpp"

namespace gapless::smo {
namespace {

constexpr int halvings = 24;  // of a bracket of offsets: more would tell no violators apart

// An offset above as many slopes for a rise as it is below slopes for a fall, or about so: with it the fewest variables violate.
double middle(const std::vector<double>& up, const std::vector<double>& down) {
  double low = big, high = -big;
  for (std::size_t k = 0; k < up.size(); ++k) {
    low = std::min(low, down[k]);
    high = std::max(high, up[k]);
  }
  if (!(low < big && high > -big)) return 0.0;
  if (low >= high) return 0.5 * (low + high);
  for (int pass = 0; pass < halvings; ++pass) {
    const double offset = 0.5 * (low + high);
    Index above = 0, below = 0;
    for (std::size_t k = 0; k < up.size(); ++k) {
      above += up[k] > offset;
      below += down[k] < offset;
    }
    if (above == below) return offset;
    (above > below ? low : high) = offset;
  }
  return 0.5 * (low + high);
}

// The number of variables that violate by more than `kkt`, for the offset with which they are fewest.
Index violators(const FamilySamples& samples, const MemberFit& fit, const std::vector<double>& beta, const std::vector<double>& f, double kkt) {
  const DualBox dual = samples.box(fit);
  std::vector<double> up(samples.size()), down(samples.size());
  survey(dual, samples.size(), samples.diagonal.data(), beta.data(), f.data(), {samples.groups.data(), 1}, true, up.data(), down.data());
  const double offset = middle(up, down);
  Index found = 0;
  for (Index i = 0; i < samples.size(); ++i) found += up[i] - offset > kkt || offset - down[i] > kkt;
  return found;
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

bool go_on(const FamilySamples& samples, MemberFit& fit, double ratio) {
  double linear = 0.0, square = 0.0, total = 0.0, room_up = 0.0, room_down = 0.0;
  bool bounded = false;
  fit.free.clear();
  for (Index i = 0; i < samples.size(); ++i) {
    const double b = fit.beta[i];
    if (b == 0.0) continue;
    linear += samples.p[i] * b - fit.epsilon[i] * std::fabs(b);
    square += b * fit.f[i];
    if (b <= fit.lower[i] || b >= fit.upper[i]) {
      bounded = true;
      total += ratio * b;
    } else {
      fit.free.push_back(i);
      const double within = std::clamp(b, ratio * fit.lower[i], ratio * fit.upper[i]);
      total += within;
      room_up += ratio * fit.upper[i] - within;
      room_down += within - ratio * fit.lower[i];
    }
  }
  if (bounded) {
    const double part = total > 0.0 ? -std::min(1.0, total / room_down) : total < 0.0 ? std::min(1.0, -total / room_up) : 0.0;
    for (const Index i : fit.free) {
      const double low = ratio * fit.lower[i], high = ratio * fit.upper[i], within = std::clamp(fit.beta[i], low, high);
      const double to = within + (part < 0.0 ? part * (within - low) : part * (high - within));
      fit.next_beta[i] = std::clamp(to, low, high) - ratio * fit.beta[i];
    }
    bounded = std::fabs(total) <= (total > 0.0 ? room_down : room_up);  // else the sum is out of reach that way
  }
  const double best = square > 0.0 ? linear / square : ratio;
  fit.scale = std::clamp(best, 0.0, ratio);
  return bounded;
}

void end_going_on(const FamilySamples& samples, MemberFit& fit, double ratio, bool bounded) {
  for (Index i = 0; i < samples.size(); ++i) {
    if (bounded) {
      fit.next_beta[i] = std::clamp(ratio * fit.beta[i] + fit.next_beta[i], fit.lower[i], fit.upper[i]);
      fit.next_f[i] += ratio * fit.f[i];
    }
    fit.beta[i] = std::clamp(fit.scale * fit.beta[i], fit.lower[i], fit.upper[i]);
    fit.f[i] *= fit.scale;
  }
}

void take_better(const FamilySamples& samples, MemberFit& fit, double kkt) {
  const bool better =
      fit.fresh ? value(samples, fit, fit.next_beta, fit.next_f) > value(samples, fit, fit.beta, fit.f)
                : violators(samples, fit, fit.next_beta, fit.next_f, kkt) < violators(samples, fit, fit.beta, fit.f, kkt);
  if (!better) return;
  fit.beta = fit.next_beta;
  fit.f = fit.next_f;
}

}  // namespace gapless::smo
