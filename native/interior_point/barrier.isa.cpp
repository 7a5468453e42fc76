// The passes of the barrier method over the samples (barrier.hpp), block by block.
//
// With s = c − α and e = us + ξα, T is αs/e, and of the affine direction dα = αs q/e, du = −u(1 + dα/α), dξ = −ξ(1 − dα/s): the loops divide as
// rarely as they can. A half without a price (c = 0) counts for nothing: its e is taken as one and its terms as zero.
#include "interior_point/barrier.hpp"

#include "newton/box.hpp"
#include "newton/products.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

constexpr Index block = 256;

Index length_of(const BarrierTask& task, Index i) { return task.end - i < block ? task.end - i : block; }

void combine(const BarrierTask& task, Index i, Index count) {
  Index which[block];
  for (Index k = 0; k < count; ++k) which[k] = i + k;
  add_rows(task.A, which, task.rhs + i, count, task.total);
}

BarrierSums predictor(const BarrierTask& task) {
  const Index n = task.A.n;
  for (Index i = task.begin; i < task.end; i += block) {
    const Index count = length_of(task, i);
    for (Index k = i; k < i + count; ++k) task.weight[k] = task.rhs[k] = 0.0;
    for (int h = 0; h < task.halves; ++h) {
      const Index at = h * n;
      for (Index k = i; k < i + count; ++k) {
        const double c = task.price[at + k], a = task.alpha[at + k], sigma = task.sign[at + k], s = c - a;
        const double e = c > 0.0 ? task.surplus[at + k] * s + task.slack[at + k] * a : 1.0;
        const double T = c > 0.0 ? a * s / e : 0.0;
        task.weight[k] += T;
        task.rhs[k] += sigma * (a + T * (task.target[at + k] - sigma * task.f[k]));
      }
    }
    combine(task, i, count);
  }
  return {};
}

BarrierSums predict(const BarrierTask& task) {
  const Index n = task.A.n;
  BarrierSums sums{.blocking = 1.0, .zero = 0.0, .two = 0.0, .total = 0.0, .lacking = 0.0, .loss = 0.0};
  double blocking[block], zero[block], two[block], total[block];
  for (Index i = task.begin; i < task.end; i += block) {
    const Index count = length_of(task, i);
    dots(task.A, i, count, task.direction, 0.0, task.aimed + i);
    for (int h = 0; h < task.halves; ++h) {
      const Index at = h * n + i;
      for (Index k = 0; k < count; ++k) {
        const double c = task.price[at + k], a = task.alpha[at + k], u = task.surplus[at + k], x = task.slack[at + k];
        const double s = c - a, sigma = task.sign[at + k];
        const double e = c > 0.0 ? u * s + x * a : 1.0;
        const double part = (task.target[at + k] - sigma * (task.f[i + k] + task.aimed[i + k])) / e;
        const double by_a = s * part, by_s = a * part;  // dα/α, dα/s
        blocking[k] = c > 0.0 ? larger(larger(-by_a, 1.0 + by_a), larger(by_s, 1.0 - by_s)) : 1.0;
        zero[k] = u * a + x * s;
        two[k] = a * by_a * (x * (1.0 - by_s) - u * (1.0 + by_a));
        total[k] = 2.0 * c;
      }
      sums.blocking = largest_of(blocking, count, sums.blocking);
      sums.zero += sum_of(zero, count);
      sums.two += sum_of(two, count);
      sums.total += sum_of(total, count);
    }
  }
  return sums;
}

BarrierSums corrector(const BarrierTask& task) {
  const Index n = task.A.n;
  for (Index i = task.begin; i < task.end; i += block) {
    const Index count = length_of(task, i);
    for (Index k = i; k < i + count; ++k) task.rhs[k] = 0.0;
    for (int h = 0; h < task.halves; ++h) {
      const Index at = h * n;
      for (Index k = i; k < i + count; ++k) {
        const double c = task.price[at + k], a = task.alpha[at + k], u = task.surplus[at + k], x = task.slack[at + k];
        const double s = c - a, sigma = task.sign[at + k];
        const double inverse = 1.0 / (c > 0.0 ? u * s + x * a : 1.0);
        const double shortfall = task.target[at + k] - sigma * task.f[k];
        const double part = (shortfall - sigma * task.aimed[k]) * inverse, da = a * s * part;
        const double second_u = c * task.mu + u * (1.0 + s * part) * da, second_x = c * task.mu - x * (1.0 - a * part) * da;
        task.rhs[k] += sigma * (a + (a * s * shortfall + s * second_u - a * second_x) * inverse);
      }
    }
    combine(task, i, count);
  }
  return {};
}

BarrierSums correct(const BarrierTask& task) {
  const Index n = task.A.n;
  BarrierSums sums{.blocking = 1e-300, .zero = 0.0, .two = 0.0, .total = 0.0, .lacking = 0.0, .loss = 0.0};
  double blocking[block];
  for (Index i = task.begin; i < task.end; i += block) {
    const Index count = length_of(task, i);
    dots(task.A, i, count, task.direction, 0.0, task.df + i);
    for (int h = 0; h < task.halves; ++h) {
      const Index at = h * n + i;
      for (Index k = 0; k < count; ++k) {
        const bool counts = task.price[at + k] > 0.0;
        const double c = task.price[at + k], u = task.surplus[at + k], x = task.slack[at + k];
        const double a = counts ? task.alpha[at + k] : 1.0, s = counts ? c - task.alpha[at + k] : 1.0, sigma = task.sign[at + k];
        const double inverse = 1.0 / (u * s + x * a);
        const double shortfall = task.target[at + k] - sigma * task.f[i + k];
        const double part = (shortfall - sigma * task.aimed[i + k]) * inverse;
        const double first = a * s * part;
        const double second_u = c * task.mu + u * (1.0 + s * part) * first, second_x = c * task.mu - x * (1.0 - a * part) * first;
        const double by_a = 1.0 / a, by_s = 1.0 / s;
        const double da = (a * s * (shortfall - sigma * task.df[i + k]) + s * second_u - a * second_x) * inverse;
        const double du = (second_u - u * da) * by_a - u, dx = (second_x + x * da) * by_s - x;
        task.dalpha[at + k] = counts ? da : 0.0;
        task.dsurplus[at + k] = counts ? du : 0.0;
        task.dslack[at + k] = counts ? dx : 0.0;
        blocking[k] = counts ? larger(larger(-da * by_a, da * by_s), larger(-du / u, -dx / x)) : 0.0;
      }
      sums.blocking = largest_of(blocking, count, sums.blocking);
    }
  }
  return sums;
}

BarrierSums move(const BarrierTask& task) {
  const Index n = task.A.n;
  BarrierSums sums{.blocking = 0.0, .zero = 0.0, .two = 0.0, .total = 0.0, .lacking = 0.0, .loss = 0.0};
  double lacking[block], loss[block];
  for (Index i = task.begin; i < task.end; i += block) {
    const Index count = length_of(task, i);
    for (int h = 0; h < task.halves; ++h) {
      const Index at = h * n + i;
      for (Index k = 0; k < count; ++k) {
        const double c = task.price[at + k];
        const double a = smaller(task.alpha[at + k] + task.step * task.dalpha[at + k], c);
        const double u = task.surplus[at + k] + task.step * task.dsurplus[at + k];
        const double x = task.slack[at + k] + task.step * task.dslack[at + k];
        task.alpha[at + k] = a;
        task.surplus[at + k] = u;
        task.slack[at + k] = x;
        lacking[k] = u * a + x * (c - a);
        loss[k] = c * larger(0.0, task.target[at + k] - task.sign[at + k] * task.f[i + k]);
      }
      sums.lacking += sum_of(lacking, count);
      sums.loss += sum_of(loss, count);
    }
  }
  return sums;
}

}  // namespace

extern const BarrierLoops barrier_loops = {predictor, predict, corrector, correct, move};

}  // namespace gapless::GAPLESS_LEVEL
