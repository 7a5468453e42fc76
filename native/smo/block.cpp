#include "smo/block.hpp"

#include "core/cancel.hpp"
#include "core/pool.hpp"
#include "smo/table_loops.hpp"

namespace gapless::smo {
namespace {

constexpr double fine = 2e-5;           // a target below this share of the range of p − f, some 300 roundings of float32, is solved in float64
constexpr Index piece = 1024;           // columns that a thread adds up at a time, whatever the number of threads
constexpr Index strip = 64;             // rows that a thread gathers at a time
constexpr double worth_sharing = 5e4;   // entries from which on the work takes longer than the hand-over to a second thread
// Where all samples are one block: after `tired_turns` pairs a sample the block is left for smaller ones, of at least `least_block` variables.
constexpr Index tired_turns = 8, least_block = 64;
constexpr Index least_steps = 1000, most_turns = 10;  // the most pairs of a block: so many, or so many for each of its variables where that is more

// Where each group begins, and the end; empty where members of different groups mix, so that a block has to gather them.
std::vector<Index> side_by_side(const Groups& groups, Index m) {
  std::vector<Index> starts = {0};
  if (groups.count > 1)
    for (Index k = 1; k < m; ++k)
      if (groups.of[k] != groups.of[k - 1]) starts.push_back(k);
  starts.push_back(m);
  if (count(starts.size()) != groups.count + 1) starts.clear();
  return starts;
}

// The range of p − f.
double range(const DualBox& dual, Index n, const double* f) {
  double least = infinity, most = -infinity;
  for (Index k = 0; k < n; ++k) {
    least = std::min(least, dual.p[k] - f[k]);
    most = std::max(most, dual.p[k] - f[k]);
  }
  return most - least;
}

}  // namespace

template <class T>
void spread(Matrix<const T> K, Places moved, const double* change, double* f) {
  const Index n = length(moved), m = K.columns;
  if (n == 0) return;
  std::vector<const T*> rows(n);
  std::vector<T> factor(n);
  for (Index i = 0; i < n; ++i) {
    rows[i] = K.row(moved[i]);
    factor[i] = static_cast<T>(change[i]);
  }
  const auto& sweeps = table_sweeps<T>();
  if (static_cast<double>(n) * static_cast<double>(m) < worth_sharing) {
    sweeps.spread(rows.data(), factor.data(), n, 0, m, f);
    return;
  }
  share((m + piece - 1) / piece, [&](Index k, int) {
    sweeps.spread(rows.data(), factor.data(), n, k * piece, std::min((k + 1) * piece, m), f);
  });
}

template <class T, class B>
void gather(Matrix<const T> K, Places chosen, Matrix<B> block) {
  const Index q = length(chosen), strips = (q + strip - 1) / strip;
  const auto& sweeps = table_sweeps<T>();
  const auto one = [&](Index k, int) {
    const Index first = k * strip, last = std::min((k + 1) * strip, q);
    if constexpr (sizeof(B) == 4)
      sweeps.gather_single(K, chosen.data(), q, first, last, block);
    else
      sweeps.gather_full(K, chosen.data(), q, first, last, block);
  };
  if (static_cast<double>(q) * static_cast<double>(q) < worth_sharing)
    for (Index k = 0; k < strips; ++k) one(k, 0);
  else
    share(strips, one);
  for (Index i = 0; i < q; ++i) std::fill(block.row(i) + q, block.row(i) + block.columns, B(0));
}

template void spread(Matrix<const float>, Places, const double*, double*);
template void spread(Matrix<const double>, Places, const double*, double*);
template void gather(Matrix<const float>, Places, Matrix<float>);
template void gather(Matrix<const float>, Places, Matrix<double>);
template void gather(Matrix<const double>, Places, Matrix<float>);
template void gather(Matrix<const double>, Places, Matrix<double>);

template <class Dual, class T>
Index BlockSolver<Dual, T>::solve(const Part& part, Index size, double share, double target, Index max_steps, double* beta, double* f) {
  const Index m = part.K.matrix.rows;
  const Groups groups = part.groups;
  up_.resize(m);
  down_.resize(m);
  last_.assign(m, 0);
  Index steps = 0;
  const std::vector<Index> starts = m <= size && sizeof(T) == 8 ? side_by_side(groups, m) : std::vector<Index>();
  for (;;) {
    listen();
    const auto [noise, worst] = survey(part.dual, m, part.diagonal, beta, f, groups, part.coupled, up_.data(), down_.data());
    if (worst <= target || worst <= least_violation<Dual>(noise) || steps >= max_steps) return steps;
    Index most = size;
    if (!starts.empty()) {
      // All samples are one block, without being gathered, until many pairs have shown that few variables move: a pair of a smaller block costs less.
      if (together_ >= tired_turns * m) {
        Index free = 0;
        for (Index k = 0; k < m; ++k) free += part.dual.lower[k] < beta[k] && beta[k] < part.dual.upper[k] && beta[k] != 0.0;
        most = std::max(least_block, 2 * free);
      }
      if (2 * most > m) most = m;
    }
    if (!starts.empty() && most == m) {
      const Index budget = std::min(max_steps - steps, std::max(least_steps, (together_ < tired_turns * m ? 1 : most_turns) * m));
      const Index taken =
          solve_block<T>(part.dual, part.diagonal, part.K, starts, part.coupled, part.second_order, target, budget, beta, f);
      steps += taken;
      together_ += taken;
      if (taken == 0) return steps;
      continue;
    }
    for (Index k = 0; k < m; ++k) last_[k] = part.dual.lower[k] < beta[k] && beta[k] < part.dual.upper[k] ? last_[k] : 0;
    selection_.block(m, up_.data(), down_.data(), last_, groups, part.coupled, most, set_);
    const Places chosen = set_.chosen;
    const Index q = length(chosen);
    const Matrix<const T> from = part.K.with(chosen);
    const Dual& dual = terms_.take(part.dual, chosen);
    diagonal_.resize(q);
    beta_.resize(q);
    f_.resize(q);
    for (Index k = 0; k < q; ++k) {
      diagonal_[k] = part.diagonal[chosen[k]];
      beta_[k] = beta[chosen[k]];
      f_[k] = f[chosen[k]];
    }
    old_ = beta_;
    const double stop = std::max(0.5 * target, share * worst);
    const Index budget = std::min(max_steps - steps, std::max(least_steps, most_turns * q));
    const Index taken = solve_copy(part, from, dual, stop, budget);
    steps += taken;
    std::fill(last_.begin(), last_.end(), 0);
    moved_.clear();
    change_.clear();
    for (Index k = 0; k < q; ++k) {
      last_[chosen[k]] = 1;
      beta[chosen[k]] = beta_[k];
      if (beta_[k] != old_[k]) {
        last_[chosen[k]] = 2;
        moved_.push_back(chosen[k]);
        change_.push_back(beta_[k] - old_[k]);
      }
    }
    const Matrix<const T> K = part.K.with(moved_);
    spread<T>({K.data, m, m, K.stride}, moved_, change_.data(), f);
    if (taken == 0 || moved_.empty()) return steps;
  }
}

// A block that is copied from the table, of the variables set_.chosen, whose terms, β and f are gathered already: in float32, whose sweeps take half
// the time, unless the violation to reach is too small for it.
template <class Dual, class T>
Index BlockSolver<Dual, T>::solve_copy(const Part& part, Matrix<const T> from, const Dual& dual, double target, Index max_steps) {
  const Index q = count(set_.chosen.size());
  bool single = sizeof(T) == 4;
  if constexpr (!Dual::is_entropy) single = part.coupled && target >= fine * range(dual, q, f_.data());
  const auto solve = [&]<class B>(Square<B>& room) {
    const Matrix<B> block = room.make(q);
    gather<T, B>(from, set_.chosen, block);
    return solve_block<B>(dual, diagonal_.data(), Matrix<const B>{block.data, q, block.columns, block.stride}, set_.starts, part.coupled,
                          part.second_order, target, max_steps, beta_.data(), f_.data());
  };
  return single ? solve(single_) : solve(full_);
}

template <class Dual, class T>
template <class B>
Index BlockSolver<Dual, T>::solve_block(const Dual& dual, const double* diagonal, const TableRows<B>& K, const std::vector<Index>& starts, bool coupled,
                                        bool second_order, double target, Index max_steps, double* beta, double* f) {
  if (!coupled) return singles<B>(dual, diagonal, K, target, max_steps, beta, f);
  if constexpr (Dual::is_entropy) {
    return entropy_pairs<B>(dual, diagonal, K, second_order, max_steps, beta, f);
  } else {
    room_.resize(pair_room(K.matrix.columns));
    PairTask<B> task = {{dual, diagonal, K, K.matrix.rows, starts.data(), count(starts.size()) - 1}, second_order, target, max_steps, beta, f, room_.data()};
    if constexpr (sizeof(B) == 4)
      pair_loops().single(&task, 1);
    else
      pair_loops().full(&task, 1);
    return task.steps;
  }
}

// SMO by pairs where the dual has an entropy: i and j are chosen by what a step gains.
template <class Dual, class T>
template <class B>
Index BlockSolver<Dual, T>::entropy_pairs(const Dual& dual, const double* diagonal, const TableRows<B>& K, bool second_order, Index max_steps,
                                          double* beta, double* f) {
  const Index q = K.matrix.rows;
  std::vector<double> up(q), down(q);
  for (Index step = 0; step < max_steps; ++step) {
    if (step % 64 == 63) listen();
    const double noise = survey(dual, q, diagonal, beta, f, {nullptr, 1}, true, up.data(), down.data()).noise;
    const Index i = std::max_element(up.begin(), up.end()) - up.begin();
    Index j = std::min_element(down.begin(), down.end()) - down.begin();
    if (up[i] <= -big || down[j] >= big || up[i] - down[j] <= noise * noise) return step;
    const B* row = K.row(i);
    if (second_order) {
      j = -1;
      double best = 0.0;
      const double top = dual.rise(i, beta[i]) - f[i];
      for (Index k = 0; k < q; ++k) {
        const double sum = diagonal[i] + diagonal[k];
        double eta = std::max(sum - 2.0 * row[k], 1e-12 * sum);
        eta += dual.bend(i, beta[i], true) + dual.bend(k, beta[k], false);
        const double slope = std::max(top - (dual.fall(k, beta[k]) - f[k]), 0.0);
        const double gain = gain_of(dual, k, slope, eta, beta[k], f[k] + top);
        if (gain > best && k != i) {
          best = gain;
          j = k;
        }
      }
    }
    if (j < 0 || j == i) return step;
    const B* other = K.row(j);
    const double sum = diagonal[i] + diagonal[j], eta = std::max({sum - 2.0 * row[j], 1e-12 * sum, 1e-300});
    double new_i = beta[i], new_j = beta[j];
    dual.pair(i, j, f[i], f[j], new_i, new_j, eta);
    const double change_i = new_i - beta[i], change_j = new_j - beta[j];
    if (change_i == 0.0 && change_j == 0.0) return step;
    beta[i] = new_i;
    beta[j] = new_j;
    for (Index k = 0; k < q; ++k) f[k] += change_i * row[k] + change_j * other[k];
  }
  return max_steps;
}

// SMO by single variables, where no constraint couples them: in each step the variable that gains most.
template <class Dual, class T>
template <class B>
Index BlockSolver<Dual, T>::singles(const Dual& dual, const double* diagonal, const TableRows<B>& K, double target, Index max_steps, double* beta,
                                    double* f) {
  const Index q = K.matrix.rows;
  for (Index step = 0; step < max_steps; ++step) {
    if (step % 64 == 63) listen();
    Index i = -1;
    double best = 0.0, worst = 0.0;
    for (Index k = 0; k < q; ++k) {
      const double up = dual.rise(k, beta[k]) - f[k], down = f[k] - dual.fall(k, beta[k]);
      const double slope = std::max(up, down);
      if (!(slope > 0.0)) continue;
      worst = std::max(worst, slope);
      const double gain = gain_of(dual, k, slope, diagonal[k] + dual.bend(k, beta[k], up > down), beta[k], f[k]);
      if (gain > best) {
        best = gain;
        i = k;
      }
    }
    if (i < 0 || (worst <= target && !Dual::is_entropy)) return step;
    const double next = dual.step(i, f[i], beta[i], diagonal[i]), change = next - beta[i];
    if (change == 0.0) return step;
    beta[i] = next;
    const B* row = K.row(i);
    for (Index k = 0; k < q; ++k) f[k] += change * row[k];
  }
  return max_steps;
}

template class BlockSolver<DualBox, float>;
template class BlockSolver<DualBox, double>;
template class BlockSolver<DualEntropy, float>;
template class BlockSolver<DualEntropy, double>;
template Index BlockSolver<DualBox, float>::solve_block(const DualBox&, const double*, const TableRows<float>&, const std::vector<Index>&, bool, bool,
                                                        double, Index, double*, double*);
template Index BlockSolver<DualBox, double>::solve_block(const DualBox&, const double*, const TableRows<double>&, const std::vector<Index>&, bool, bool,
                                                         double, Index, double*, double*);
template Index BlockSolver<DualEntropy, float>::solve_block(const DualEntropy&, const double*, const TableRows<float>&, const std::vector<Index>&, bool,
                                                            bool, double, Index, double*, double*);
template Index BlockSolver<DualEntropy, double>::solve_block(const DualEntropy&, const double*, const TableRows<double>&, const std::vector<Index>&,
                                                             bool, bool, double, Index, double*, double*);

}  // namespace gapless::smo
