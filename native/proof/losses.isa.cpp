// This file is compiled without contraction, as all of the proof is: each operation rounds once, and the constants below count on that.
#include "proof/losses.hpp"

#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using proof::unit;

constexpr Index block = 256;  // samples whose offsets are copied to an array of their own at a time: 2 KB, which stays in the first cache

// A sum by lanes that keeps what rounding loses, lane by lane (core/sums.hpp does it for one sum).
struct KeptSum {
  Lanes<double> total{}, lost{};
  double rest = 0.0, lost_of_rest = 0.0;

  template <class V>
  GAPLESS_INLINE static void add(const V& value, V& total, V& lost) {
    const V sum = total + value, part = sum - total;
    lost += (total - (sum - part)) + (value - part);
    total = sum;
  }
  template <class V>
  GAPLESS_INLINE void add(const V& value) {
    if constexpr (std::is_same_v<V, Lanes<double>>)
      add(value, total, lost);
    else
      add(value, rest, lost_of_rest);
  }
  double value() {
    for (int k = 0; k < lanes<double>; ++k) {
      add(lane<double>(total, k), rest, lost_of_rest);
      lost_of_rest += lane<double>(lost, k);
    }
    return rest + lost_of_rest;
  }
};

// One side of a sample's loss, s = `over` beyond its kink, where u is the bound on that side. The loss is t (s − ½ d t) at t = s/d, or at t = u where
// u is less (`called` is that t); s − ½ d t ≥ ½ s, so that nothing cancels.
template <class V>
struct Side {
  V called, value;

  GAPLESS_INLINE Side(const V& over, const V& u, const V& d) {
    called = d > V{} ? smaller<V>(over / d, u) : u;
    value = over > V{} ? called * (over - 0.5 * d * called) : V{};
  }
};

template <class V>
struct Sample {
  V p, epsilon, d, up, down, f, v, apart;

  GAPLESS_INLINE Sample(const LossTask& task, Index i, const double* offset)
      : p(read<V>(task.p + i)), epsilon(read<V>(task.epsilon + i)), d(read<V>(task.d + i)), up(read<V>(task.upper + i)),
        down(-read<V>(task.lower + i)), f(read<V>(task.f + i)), v(f + read<V>(offset)), apart(p - v) {}

  GAPLESS_INLINE V plain() const {
    const V over = larger<V>(size_of<V>(apart) - epsilon, V{});
    return Side<V>(over, apart > V{} ? up : down, d).value + 0.0 * apart;  // NaN stays NaN
  }
  // A bound on the error of p − v as computed, from that of f. The loss is largest at an end of the interval of p − v (proof/loss.hpp). d (1/2c, say)
  // was rounded twice at most.
  GAPLESS_INLINE V error(const V& of_f) const {
    return of_f + unit * size_of<V>(v) + 2.0 * unit * (size_of<V>(p) + size_of<V>(v)) + 4.0 * unit * (size_of<V>(apart) + epsilon);
  }
};

// Calls body<V>(i, offset) for all samples by lanes; `offset` points to the offset of sample i.
template <class Body>
GAPLESS_INLINE void by_samples(const LossTask& task, const Body& body) {
  double offsets[block];
  for (Index k = 0; k < block; ++k) offsets[k] = task.offsets[0];
  for (Index begin = task.begin; begin < task.end; begin += block) {
    const Index end = task.end - begin < block ? task.end : begin + block;
    if (task.groups != nullptr)
      for (Index i = begin; i < end; ++i) offsets[i - begin] = task.offsets[task.groups[i]];
    by_lanes(begin, end, [&]<class V>(Index i) { body.template operator()<V>(i, offsets + (i - begin)); });
  }
}

LossSums bounds(const LossTask& task) {
  KeptSum above, plain;
  LaneSum rounding;
  by_samples(task, [&]<class V>(Index i, const double* offset) {
    const Sample<V> sample(task, i, offset);
    const V of_f = task.errors.factor * read<V>(task.errors.sizes.data() + i) + (task.errors.least + task.errors.relative * size_of<V>(sample.f));
    const V e = sample.error(of_f), reach = e - sample.epsilon;
    const V above_p = larger<V>(reach + sample.apart, V{}), below_p = larger<V>(reach - sample.apart, V{});
    const Side<V> up(above_p, sample.up, sample.d), down(below_p, sample.down, sample.d);
    const V value = larger<V>(up.value, down.value) * (1.0 + 16.0 * unit), called = up.value > down.value ? up.called : down.called;
    above.add(V(value + 0.0 * (sample.apart + e)));  // NaN stays NaN
    rounding.add(V(value > V{} ? called * e + 20.0 * unit * value : V{}));
    plain.add(sample.plain());
  });
  return {above.value(), rounding.total(), plain.value()};
}

double plain(const LossTask& task) {
  KeptSum sum;
  by_samples(task, [&]<class V>(Index i, const double* offset) { sum.add(Sample<V>(task, i, offset).plain()); });
  return sum.value();
}

}  // namespace

extern const LossLoops loss_loops = {bounds, plain};

}  // namespace gapless::GAPLESS_LEVEL
