#include "smo/pairs.hpp"

#include <new>

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

// Adds the change of f to g, and finds the top among the places from `first` to `last`, and where it is asked for the bottom.
template <bool bottom_too, class T>
GAPLESS_INLINE Ends<T> move(const Sweeps<T>& s, const T* row, const T* other, T change_i, T change_j, Index first, Index last) {
  using Int = typename Lanes<T>::Int;
  using I = typename Lanes<T>::I;
  constexpr Index w = width<T>;
  const T least = static_cast<T>(-3.0 * never);
  Largest<T> top(least), bottom(least), top2(least), bottom2(least);
  const auto c_i = all(change_i), c_j = all(change_j);
  I places = lanes_from<T>(first);
  const auto see = [&](Index k, I at, Largest<T>& tops, Largest<T>& bottoms) {
    const auto value = load(s.g + k) + (c_i * load(row + k) + c_j * load(other + k));
    store(s.g + k, value);
    tops.see(load(s.rise + k) - value, at);
    if constexpr (bottom_too) bottoms.see(value - load(s.fall + k), at);
  };
  Index k = first;
  for (; k + 2 * w <= last; k += 2 * w) {
    const I after = places + static_cast<Int>(w);
    see(k, places, top, bottom);
    see(k + w, after, top2, bottom2);
    places = after + static_cast<Int>(w);
  }
  if (k + w <= last) {
    see(k, places, top, bottom);
    k += w;
  }
  Ends<T> found = {best_of(top, top2), best_of(bottom, bottom2)};
  for (; k < last; ++k) {
    const T value = s.g[k] + (change_i * row[k] + change_j * other[k]);
    s.g[k] = value;
    if (s.rise[k] - value > found.top.value) found.top = {s.rise[k] - value, static_cast<Int>(k)};
    if (value - s.fall[k] > found.bottom.value) found.bottom = {value - s.fall[k], static_cast<Int>(k)};
  }
  return found;
}

// The place whose pair with i gains most, −1 where none gains, and the largest slope of a pair with i: the violation.
template <class T>
struct Partner {
  Index place;
  T violation;
};

// `up` is rise − g of i, `own` its curvature.
template <class T>
GAPLESS_INLINE Partner<T> partner(const Sweeps<T>& s, const T* row, T own, T up, Index first, Index last) {
  using Int = typename Lanes<T>::Int;
  using I = typename Lanes<T>::I;
  constexpr Index w = width<T>;
  const T tiny = own * static_cast<T>(sizeof(T) == 4 ? 1e-6 : 1e-12);  // the least curvature of a pair: below it, rounding is all that is left of it
  const auto ups = all(up), owns = all(own), least = all(tiny), zero = all(T(0));
  LargestRatio<T> best, best2;
  auto most = zero, most2 = zero;
  I places = lanes_from<T>(first);
  const auto see = [&](Index k, I at, LargestRatio<T>& ratios, auto& slopes) {
    auto slope = ups - (load(s.fall + k) - load(s.g + k));
    slope = slope > zero ? slope : zero;
    slopes = slope > slopes ? slope : slopes;
    const auto entry = load(row + k);
    auto bend = owns + load(s.both + k) - (entry + entry);
    bend = bend > least ? bend : least;
    ratios.see(slope * slope, bend, at);
  };
  Index k = first;
  for (; k + 2 * w <= last; k += 2 * w) {
    const I after = places + static_cast<Int>(w);
    see(k, places, best, most);
    see(k + w, after, best2, most2);
    places = after + static_cast<Int>(w);
  }
  if (k + w <= last) {
    see(k, places, best, most);
    k += w;
  }
  Found<T> found = best_of(best.ratio(), best2.ratio());
  T violation = largest_of<T>(most > most2 ? most : most2);
  for (; k < last; ++k) {
    const T slope = up - (s.fall[k] - s.g[k]), bend = own + s.both[k] - (row[k] + row[k]);
    if (slope <= 0) continue;
    violation = slope > violation ? slope : violation;
    const T value = slope * slope / (bend > tiny ? bend : tiny);
    if (value > found.value) found = {value, static_cast<Int>(k)};
  }
  return {static_cast<Index>(found.place), violation};
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

// A task on its way.
template <class T>
class Run {
 public:
  explicit Run(PairTask<T>& task)
      : task_(task), dual_(task.block.dual), K_(task.block.K), wide_(task.block.n_groups == 1 ? K_.matrix.columns : task.block.n), near_(task.room) {
    const Index q = task.block.n, apart = pair_apart(wide_);
    T* const place = reinterpret_cast<T*>(task.room + apart);
    s_ = {place, place + apart, place + 2 * apart, place + 3 * apart};
    const double middle = sizeof(T) == 4 ? middle_of(dual_, q, task.beta, task.f) : 0.0;
    for (Index k = 0; k < q; ++k) {
      near_[k] = sizeof(T) == 4 ? dual_.p[k] - middle : 0.0;
      s_.g[k] = static_cast<T>(task.f[k] - near_[k]);
      s_.both[k] = static_cast<T>(task.block.diagonal[k] + dual_.d[k]);
      set_slopes(dual_, k, task.beta[k], s_);
    }
    for (Index k = q; k < wide_; ++k) {
      s_.g[k] = 0;
      s_.both[k] = 1;
      s_.rise[k] = static_cast<T>(-never);
      s_.fall[k] = static_cast<T>(never);
    }
    row_i_ = row_j_ = K_.row(0);
    task.steps = 0;
  }

  // Moves f, and finds the i of the next pair, −1 where there is none.
  GAPLESS_INLINE void find_first() {
    if (task_.second_order && task_.block.n_groups == 1) {
      const Found<T> top = move<false>(s_, row_i_, row_j_, change_i_, change_j_, 0, wide_).top;
      i_ = top.value > -0.5 * never ? top.place : -1;
      end_ = wide_;
      return;
    }
    i_ = j_ = -1;
    double worst = task_.target;
    for (Index group = 0; group < task_.block.n_groups; ++group) {
      const Index first = task_.block.starts[group], last = task_.block.n_groups == 1 ? wide_ : task_.block.starts[group + 1];
      if (first == last) continue;
      const Ends<T> ends = move<true>(s_, row_i_, row_j_, change_i_, change_j_, first, last);
      const T up = ends.top.value, down = -ends.bottom.value;
      if (up > -0.5 * never && down < 0.5 * never && up - down > worst) {
        i_ = ends.top.place;
        j_ = ends.bottom.place;
        worst = up - down;
        begin_ = first;
        end_ = last;
      }
    }
  }
  // Finds the j of the pair, −1 where no violation is above the target.
  GAPLESS_INLINE void find_second() {
    if (i_ < 0) return;
    row_i_ = K_.row(i_);
    if (!task_.second_order) return;
    const Partner<T> found = partner(s_, row_i_, s_.both[i_], s_.rise[i_] - s_.g[i_], begin_, end_);
    j_ = found.violation > task_.target ? found.place : -1;
  }
  // Makes the step of the pair; returns whether there was one to make.
  GAPLESS_INLINE bool step() {
    if (i_ < 0 || j_ < 0 || i_ == j_ || task_.steps == task_.max_steps) return false;
    double* const beta = task_.beta;
    const double sum = task_.block.diagonal[i_] + task_.block.diagonal[j_];
    double eta = sum - 2.0 * row_i_[j_];
    eta = eta > 1e-12 * sum ? eta : 1e-12 * sum;
    eta = eta > 1e-300 ? eta : 1e-300;
    double new_i = beta[i_], new_j = beta[j_];
    dual_.pair(i_, j_, static_cast<double>(s_.g[i_]) + near_[i_], static_cast<double>(s_.g[j_]) + near_[j_], new_i, new_j, eta);
    if (new_i == beta[i_] && new_j == beta[j_]) return false;
    row_j_ = K_.row(j_);
    change_i_ = static_cast<T>(new_i - beta[i_]);
    change_j_ = static_cast<T>(new_j - beta[j_]);
    beta[i_] = new_i;
    beta[j_] = new_j;
    set_slopes(dual_, i_, new_i, s_);
    set_slopes(dual_, j_, new_j, s_);
    ++task_.steps;
    return true;
  }
  void write_f() const {
    for (Index k = 0; k < task_.block.n; ++k) task_.f[k] = static_cast<double>(s_.g[k]) + near_[k];
  }

 private:
  PairTask<T>& task_;
  const DualBox dual_;
  const TableRows<T> K_;
  const Index wide_;
  double* const near_;  // what g is less than f
  Sweeps<T> s_;
  Index i_ = -1, j_ = -1, begin_ = 0, end_ = 0;  // the pair, and the places of its group
  T change_i_ = 0, change_j_ = 0;                // of β at the last step, which the next sweep adds to f
  const T *row_i_, *row_j_;
};

// The tasks go on in turns, each by one stage of a pair: while one waits for the end of its search, another one's sweep has begun.
template <class T>
void solve(PairTask<T>* tasks, Index many) {
  alignas(Run<T>) unsigned char memory[most_pair_tasks * sizeof(Run<T>)];
  Run<T>* going[most_pair_tasks];
  for (Index k = 0; k < many; ++k) going[k] = new (memory + k * sizeof(Run<T>)) Run<T>(tasks[k]);
  for (Index left = many; left > 0;) {
    for (Index k = 0; k < left; ++k) going[k]->find_first();
    for (Index k = 0; k < left; ++k) going[k]->find_second();
    Index on = 0;
    for (Index k = 0; k < left; ++k) {
      Run<T>* const run = going[k];
      if (run->step())
        going[on++] = run;
      else
        run->write_f();
    }
    left = on;
  }
}

}  // namespace

extern const PairLoops pair_loops = {solve<float>, solve<double>};

}  // namespace gapless::smo::GAPLESS_LEVEL
