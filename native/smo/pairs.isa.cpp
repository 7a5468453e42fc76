#include "smo/pairs.hpp"

#include "smo/lanes.hpp"

namespace gapless::smo::GAPLESS_LEVEL {
namespace {

constexpr double never = 1e30;  // in the place of an infinite slope, where β cannot move; finite in float32

// The vectors of the block: g is f less its value at the margin, rise and fall are the slopes of h for a rise and for a fall of β, both is K_kk + d.
template <class T>
struct Sweeps {
  T *g, *rise, *fall, *both;
};

template <class T>
struct Ends {
  Found<T> top, bottom;  // the largest rise − g, and the largest g − fall
};

// Adds the change of f to g, and finds both ends among the places from `first` to `last`; of the bottom, to second order, the value alone.
template <bool second_order, class T>
GAPLESS_INLINE Ends<T> move(const Sweeps<T>& s, const T* row, const T* other, T change_i, T change_j, Index first, Index last) {
  using Int = typename Lanes<T>::Int;
  using I = typename Lanes<T>::I;
  constexpr Index w = width<T>;
  const T least = static_cast<T>(-3.0 * never);
  Largest<T> top(least), bottom(least), top2(least), bottom2(least);
  const auto c_i = all(change_i), c_j = all(change_j);
  Int lane[w];
  for (Index h = 0; h < w; ++h) lane[h] = static_cast<Int>(first + h);
  I places;
  std::memcpy(&places, lane, sizeof places);
  Index k = first;
  for (; k + 2 * w <= last; k += 2 * w) {
    const auto value = load(s.g + k) + (c_i * load(row + k) + c_j * load(other + k));
    const auto value2 = load(s.g + k + w) + (c_i * load(row + k + w) + c_j * load(other + k + w));
    store(s.g + k, value);
    store(s.g + k + w, value2);
    top.see(load(s.rise + k) - value, places);
    bottom.see(value - load(s.fall + k), places);
    const I after = places + static_cast<Int>(w);
    top2.see(load(s.rise + k + w) - value2, after);
    bottom2.see(value2 - load(s.fall + k + w), after);
    places = after + static_cast<Int>(w);
  }
  if (k + w <= last) {
    const auto value = load(s.g + k) + (c_i * load(row + k) + c_j * load(other + k));
    store(s.g + k, value);
    top.see(load(s.rise + k) - value, places);
    bottom.see(value - load(s.fall + k), places);
    k += w;
  }
  top.see(top2);
  bottom.see(bottom2);
  Ends<T> found = {best_of(top), second_order ? Found<T>{value_of(bottom), -1} : best_of(bottom)};
  for (; k < last; ++k) {
    const T value = s.g[k] + (change_i * row[k] + change_j * other[k]);
    s.g[k] = value;
    if (s.rise[k] - value > found.top.value) found.top = {s.rise[k] - value, static_cast<Int>(k)};
    if (value - s.fall[k] > found.bottom.value) found.bottom = {value - s.fall[k], static_cast<Int>(k)};
  }
  return found;
}

// The place k whose pair with i gains most, −1 where none gains; `up` is rise − g of i, `own` its curvature.
template <class T>
GAPLESS_INLINE Index partner(const Sweeps<T>& s, const T* row, T own, T up, Index first, Index last) {
  using Int = typename Lanes<T>::Int;
  using I = typename Lanes<T>::I;
  constexpr Index w = width<T>;
  const T tiny = own * static_cast<T>(sizeof(T) == 4 ? 1e-6 : 1e-12);  // the least curvature of a pair: below it, rounding is all that is left of it
  const auto ups = all(up), owns = all(own), least = all(tiny), zero = all(T(0));
  LargestRatio<T> best, best2;
  Int lane[w];
  for (Index h = 0; h < w; ++h) lane[h] = static_cast<Int>(first + h);
  I places;
  std::memcpy(&places, lane, sizeof places);
  const auto see = [&](LargestRatio<T>& ratios, Index at, I of) {
    auto slope = ups - (load(s.fall + at) - load(s.g + at));
    slope = slope > zero ? slope : zero;
    const auto entry = load(row + at);
    auto bend = owns + load(s.both + at) - (entry + entry);
    bend = bend > least ? bend : least;
    ratios.see(slope * slope, bend, of);
  };
  Index k = first;
  for (; k + 2 * w <= last; k += 2 * w) {
    see(best, k, places);
    const I after = places + static_cast<Int>(w);
    see(best2, k + w, after);
    places = after + static_cast<Int>(w);
  }
  if (k + w <= last) {
    see(best, k, places);
    k += w;
  }
  Largest<T> gains = best.ratio();
  gains.see(best2.ratio());
  Found<T> found = best_of(gains);
  for (; k < last; ++k) {
    const T slope = up - (s.fall[k] - s.g[k]), bend = own + s.both[k] - (row[k] + row[k]);
    if (slope <= 0) continue;
    const T value = slope * slope / (bend > tiny ? bend : tiny);
    if (value > found.value) found = {value, static_cast<Int>(k)};
  }
  return static_cast<Index>(found.place);
}

// The middle between both ends of the violation: where p − f is about that, a sample is at the margin.
GAPLESS_INLINE double middle_of(const DualBox& dual, Index n, const double* beta, const double* f) {
  double top = -infinity, bottom = infinity;
  for (Index k = 0; k < n; ++k) {
    const double up = dual.rise(k, beta[k]) - f[k], down = dual.fall(k, beta[k]) - f[k];
    top = up > top ? up : top;
    bottom = down < bottom ? down : bottom;
  }
  const double middle = 0.5 * (top + bottom);
  return middle - middle == 0.0 ? middle : 0.0;
}

template <class T>
GAPLESS_INLINE void set_slopes(const DualBox& dual, Index k, double beta, const Sweeps<T>& s) {
  // In float32 slopes are less p, as g is f less p: what is left of them at the margin is small, or zero, and has all its digits.
  const double less = sizeof(T) == 4 ? dual.p[k] : 0.0, rise = dual.rise(k, beta) - less, fall = dual.fall(k, beta) - less;
  s.rise[k] = static_cast<T>(rise > -never ? rise : -never);
  s.fall[k] = static_cast<T>(fall < never ? fall : never);
}

template <class T>
Index solve(const PairBlock<T>& block, bool second_order, double target, Index max_steps, double* beta, double* f, double* room) {
  const DualBox& dual = block.dual;
  const double* diagonal = block.diagonal;
  const TableRows<T>& K = block.K;
  const Index q = block.n, wide = block.n_groups == 1 ? K.matrix.columns : q;
  const Index apart = (wide + 31) / 16 * 16;
  double* near = room;
  T* place = reinterpret_cast<T*>(room + apart);
  const Sweeps<T> s = {place, place + apart, place + 2 * apart, place + 3 * apart};
  const double middle = sizeof(T) == 4 ? middle_of(dual, q, beta, f) : 0.0;
  for (Index k = 0; k < q; ++k) {
    near[k] = sizeof(T) == 4 ? dual.p[k] - middle : 0.0;
    s.g[k] = static_cast<T>(f[k] - near[k]);
    s.both[k] = static_cast<T>(diagonal[k] + dual.d[k]);
    set_slopes(dual, k, beta[k], s);
  }
  for (Index k = q; k < wide; ++k) {
    s.g[k] = 0;
    s.both[k] = 1;
    s.rise[k] = static_cast<T>(-never);
    s.fall[k] = static_cast<T>(never);
  }
  Index i = 0, j = 0, step = 0, begin = 0, end = 0;
  T change_i = 0, change_j = 0;
  for (;;) {
    Index next_i = -1, next_j = -1;
    double worst = target;
    for (Index group = 0; group < block.n_groups; ++group) {
      const Index first = block.starts[group], last = block.n_groups == 1 ? wide : block.starts[group + 1];
      if (first == last) continue;
      const Ends<T> ends = second_order ? move<true>(s, K.row(i), K.row(j), change_i, change_j, first, last)
                                        : move<false>(s, K.row(i), K.row(j), change_i, change_j, first, last);
      const T up = ends.top.value, down = -ends.bottom.value;
      if (up > -0.5 * never && down < 0.5 * never && up - down > worst) {
        next_i = ends.top.place;
        next_j = ends.bottom.place;
        worst = up - down;
        begin = first;
        end = last;
      }
    }
    i = next_i;
    j = next_j;
    if (i < 0 || step == max_steps) break;
    if (second_order) j = partner(s, K.row(i), s.both[i], s.rise[i] - s.g[i], begin, end);
    if (j < 0 || i == j) break;
    const double sum = diagonal[i] + diagonal[j];
    double eta = sum - 2.0 * K.row(i)[j];
    eta = eta > 1e-12 * sum ? eta : 1e-12 * sum;
    eta = eta > 1e-300 ? eta : 1e-300;
    double new_i = beta[i], new_j = beta[j];
    dual.pair(i, j, static_cast<double>(s.g[i]) + near[i], static_cast<double>(s.g[j]) + near[j], new_i, new_j, eta);
    if (new_i == beta[i] && new_j == beta[j]) break;
    change_i = static_cast<T>(new_i - beta[i]);
    change_j = static_cast<T>(new_j - beta[j]);
    beta[i] = new_i;
    beta[j] = new_j;
    set_slopes(dual, i, new_i, s);
    set_slopes(dual, j, new_j, s);
    ++step;
  }
  for (Index k = 0; k < q; ++k) f[k] = static_cast<double>(s.g[k]) + near[k];
  return step;
}

}  // namespace

extern const PairLoops pair_loops = {solve<float>, solve<double>};

}  // namespace gapless::smo::GAPLESS_LEVEL
