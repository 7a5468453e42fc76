// The passes of the barrier method over the samples (barrier.hpp), block by block.
//
// With s = c − α and e = us + ξα + dαs, T is αs/e, and of the affine direction dα = αs q/e, du = −u(1 + dα/α), dξ = −ξ(1 − dα/s): the loops divide as
// rarely as they can. A half without a price (c = 0) counts for nothing: its e is taken as one and its terms as zero.
#include "interior_point/barrier.hpp"

#include "core/row_products.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

constexpr Index block = 256;  // samples whose terms are computed before their rows are multiplied: with 60 features 120 KiB, which stay in the cache

Index end_of(const BarrierTask& task, Index i) { return task.end - i < block ? task.end : i + block; }

// total += Aᵀ rhs over the rows from `begin` to `end`.
void combine(const BarrierTask& task, Index begin, Index end) {
  Index which[block];
  for (Index k = begin; k < end; ++k) which[k - begin] = k;
  add_rows(task.A, which, task.rhs + begin, end - begin, task.total);
}

// One half of a sample, or of as many samples as V has lanes: a is α, x is ξ.
template <class V>
struct Half {
  V c, a, u, x, sigma, target, d, s, inverse;  // s = c − α, and 1/e

  GAPLESS_INLINE Half(const BarrierTask& task, Index at)
      : c(read<V>(task.price + at)), a(read<V>(task.alpha + at)), u(read<V>(task.surplus + at)), x(read<V>(task.slack + at)),
        sigma(read<V>(task.sign + at)), target(read<V>(task.target + at)), d(read<V>(task.bend + at)), s(c - a) {
    const V e = u * s + x * a + d * a * s, one = constant<V>(1.0);
    inverse = 1.0 / (c > V{} ? e : one);
  }
  GAPLESS_INLINE V shortfall(const V& f) const { return target - sigma * f - d * a; }
};

// The second-order terms cμ − du dα and cμ + dξ dα of the corrector, from the predictor's dα = αs·part.
template <class V>
struct Second {
  V u, x;

  GAPLESS_INLINE Second(const Half<V>& half, const V& part, double mu) {
    const V da = half.a * half.s * part;
    u = half.c * mu + half.u * (1.0 + half.s * part) * da;
    x = half.c * mu - half.x * (1.0 - half.a * part) * da;
  }
};

BarrierSums predictor(const BarrierTask& task) {
  const Index n = task.A.n;
  for (Index i = task.begin; i < task.end; i += block) {
    const Index end = end_of(task, i);
    by_lanes(i, end, [&]<class V>(Index k) {
      V weight{}, rhs{};
      for (int h = 0; h < task.halves; ++h) {
        const Half<V> half(task, h * n + k);
        const V T = half.a * half.s * half.inverse;
        weight += T;
        rhs += half.sigma * (half.a + T * half.shortfall(read<V>(task.f + k)));
      }
      write<V>(weight, task.weight + k);
      write<V>(rhs, task.rhs + k);
    });
    combine(task, i, end);
  }
  return {};
}

BarrierSums predict(const BarrierTask& task) {
  const Index n = task.A.n;
  LaneMost blocking(1.0);
  LaneSum zero, two, total;
  for (Index i = task.begin; i < task.end; i += block) {
    const Index end = end_of(task, i);
    dots(task.A, i, end - i, task.direction, 0.0, task.aimed + i);
    by_lanes(i, end, [&]<class V>(Index k) {
      for (int h = 0; h < task.halves; ++h) {
        const Half<V> half(task, h * n + k);
        const V part = half.shortfall(read<V>(task.f + k) + read<V>(task.aimed + k)) * half.inverse;
        const V by_a = half.s * part, by_s = half.a * part;  // dα/α, dα/s
        blocking.add<V>(larger<V>(larger<V>(-by_a, 1.0 + by_a), larger<V>(by_s, 1.0 - by_s)));
        zero.add<V>(half.u * half.a + half.x * half.s);
        two.add<V>(half.a * by_a * (half.x * (1.0 - by_s) - half.u * (1.0 + by_a)));
        total.add<V>(2.0 * half.c);
      }
    });
  }
  return {.blocking = blocking.total(), .zero = zero.total(), .two = two.total(), .total = total.total(), .lacking = 0.0, .loss = 0.0};
}

BarrierSums corrector(const BarrierTask& task) {
  const Index n = task.A.n;
  for (Index i = task.begin; i < task.end; i += block) {
    const Index end = end_of(task, i);
    by_lanes(i, end, [&]<class V>(Index k) {
      V rhs{};
      for (int h = 0; h < task.halves; ++h) {
        const Half<V> half(task, h * n + k);
        const V shortfall = half.shortfall(read<V>(task.f + k));
        const Second<V> second(half, (shortfall - half.sigma * read<V>(task.aimed + k)) * half.inverse, task.mu);
        rhs += half.sigma * (half.a + (half.a * half.s * shortfall + half.s * second.u - half.a * second.x) * half.inverse);
      }
      write<V>(rhs, task.rhs + k);
    });
    combine(task, i, end);
  }
  return {};
}

BarrierSums correct(const BarrierTask& task) {
  const Index n = task.A.n;
  LaneMost blocking(1e-300);
  for (Index i = task.begin; i < task.end; i += block) {
    const Index end = end_of(task, i);
    dots(task.A, i, end - i, task.direction, 0.0, task.df + i);
    by_lanes(i, end, [&]<class V>(Index k) {
      for (int h = 0; h < task.halves; ++h) {
        const Index at = h * n + k;
        const Half<V> half(task, at);
        const V shortfall = half.shortfall(read<V>(task.f + k));
        const Second<V> second(half, (shortfall - half.sigma * read<V>(task.aimed + k)) * half.inverse, task.mu);
        const auto counts = half.c > V{};
        const V one = constant<V>(1.0), by_a = 1.0 / (counts ? half.a : one), by_s = 1.0 / (counts ? half.s : one);
        const V to = half.a * half.s * (shortfall - half.sigma * read<V>(task.df + k));
        const V da = (to + half.s * second.u - half.a * second.x) * half.inverse;
        const V du = (second.u - half.u * da) * by_a - half.u, dx = (second.x + half.x * da) * by_s - half.x;
        write<V>(da, task.dalpha + at);
        write<V>(counts ? du : V{}, task.dsurplus + at);
        write<V>(counts ? dx : V{}, task.dslack + at);
        const V most = larger<V>(larger<V>(-da * by_a, da * by_s), larger<V>(-du / half.u, -dx / half.x));
        blocking.add<V>(counts ? most : V{});
      }
    });
  }
  return {.blocking = blocking.total(), .zero = 0.0, .two = 0.0, .total = 0.0, .lacking = 0.0, .loss = 0.0};
}

BarrierSums move(const BarrierTask& task) {
  const Index n = task.A.n;
  LaneSum lacking, loss;
  for (int h = 0; h < task.halves; ++h)
    by_lanes(task.begin, task.end, [&]<class V>(Index k) {
      const Index at = h * n + k;
      const V c = read<V>(task.price + at);
      const V a = smaller<V>(read<V>(task.alpha + at) + task.step * read<V>(task.dalpha + at), c);
      const V u = read<V>(task.surplus + at) + task.step * read<V>(task.dsurplus + at);
      const V x = read<V>(task.slack + at) + task.step * read<V>(task.dslack + at);
      write<V>(a, task.alpha + at);
      write<V>(u, task.surplus + at);
      write<V>(x, task.slack + at);
      lacking.add<V>(u * a + x * (c - a));
      const V r = larger<V>(V{}, read<V>(task.target + at) - read<V>(task.sign + at) * read<V>(task.f + k));
      const V d = read<V>(task.bend + at), bent = d > V{} ? d : constant<V>(1.0), inner = smaller<V>(r / bent, c);
      const V best = d > V{} ? inner : c;
      loss.add<V>(best * (r - 0.5 * d * best));
    });
  return {.blocking = 0.0, .zero = 0.0, .two = 0.0, .total = 0.0, .lacking = lacking.total(), .loss = loss.total()};
}

}  // namespace

extern const BarrierLoops barrier_loops = {predictor, predict, corrector, correct, move};

}  // namespace gapless::GAPLESS_LEVEL
