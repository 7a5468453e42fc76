// This file is compiled without contraction, as all of the proof is: each operation rounds once, and the constants below count on that.
#include "proof/losses.hpp"

#include "proof/kept_sum.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using proof::unit;

constexpr Index block = 256;  // samples whose offsets are copied to an array of their own at a time: 2 KB, which stays in the first cache

// One side of a sample's loss, s = `over` beyond its kink, where u is the bound on that side. The loss is t (s − ½ d t) at t = s/d, or at t = u where
// u is less (`called` is that t); s − ½ d t ≥ ½ s, so that nothing cancels.
// Where `straight` says that d is zero, nothing is divided.
template <bool straight, class V>
struct Side {
  V called, value;

  GAPLESS_INLINE Side(const V& over, const V& u, const V& d) {
    called = u;
    if constexpr (!straight) called = d > V{} ? smaller<V>(over / d, u) : u;
    value = over > V{} ? called * (straight ? over : over - 0.5 * d * called) : V{};
  }
};

template <bool straight, class V>
struct Sample {
  V p, epsilon, d, up, down, f, v, apart;

  GAPLESS_INLINE Sample(const LossTask& task, Index i, const double* offset)
      : p(read<V>(task.p + i)), epsilon(read<V>(task.epsilon + i)), d(read<V>(task.d + i)), up(read<V>(task.upper + i)),
        down(-read<V>(task.lower + i)), f(read<V>(task.f + i)), v(f + read<V>(offset)), apart(p - v) {}

  GAPLESS_INLINE V plain() const {
    const V over = larger<V>(size_of<V>(apart) - epsilon, V{});
    return Side<straight, V>(over, apart > V{} ? up : down, d).value + 0.0 * apart;  // NaN stays NaN
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

bool is_straight(const LossTask& task) {
  LaneMost most(0.0);
  by_lanes(task.begin, task.end, [&]<class V>(Index i) { most.add(read<V>(task.d + i)); });
  return most.total() == 0.0;
}

template <bool straight>
LossSums bounds_of(const LossTask& task) {
  KeptSum above, plain;
  LaneSum rounding;
  by_samples(task, [&]<class V>(Index i, const double* offset) {
    const Sample<straight, V> sample(task, i, offset);
    const V of_f = task.errors.factor * read<V>(task.errors.sizes.data() + i) + (task.errors.least + task.errors.relative * size_of<V>(sample.f));
    const V e = sample.error(of_f), reach = e - sample.epsilon;
    const V above_p = larger<V>(reach + sample.apart, V{}), below_p = larger<V>(reach - sample.apart, V{});
    const Side<straight, V> up(above_p, sample.up, sample.d), down(below_p, sample.down, sample.d);
    const V value = larger<V>(up.value, down.value) * (1.0 + 16.0 * unit), called = up.value > down.value ? up.called : down.called;
    above.add(V(value + 0.0 * (sample.apart + e)));  // NaN stays NaN
    rounding.add(V(value > V{} ? called * e + 20.0 * unit * value : V{}));
    plain.add(sample.plain());
  });
  return {above.value(), rounding.total(), plain.value()};
}

LossSums bounds(const LossTask& task) { return is_straight(task) ? bounds_of<true>(task) : bounds_of<false>(task); }

template <bool straight>
double plain_of(const LossTask& task) {
  KeptSum sum;
  by_samples(task, [&]<class V>(Index i, const double* offset) { sum.add(Sample<straight, V>(task, i, offset).plain()); });
  return sum.value();
}

double plain(const LossTask& task) { return is_straight(task) ? plain_of<true>(task) : plain_of<false>(task); }

}  // namespace

extern const LossLoops loss_loops = {bounds, plain};

}  // namespace gapless::GAPLESS_LEVEL
