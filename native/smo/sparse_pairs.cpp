#include "smo/sparse_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/cancel.hpp"
#include "core/pool.hpp"
#include "smo/slope_loops.hpp"
#include "smo/violation.hpp"

namespace gapless::smo {
namespace {

constexpr float negligible = 0x1p-25f;   // the largest rounding of a number of float32 below one
constexpr double few = 0.05;             // the share of entries up to which pairs of neighbours take less time than blocks (benchmarks/selection.py)
constexpr Index some_rows = 32;          // the rows that are looked at first
constexpr Index strip = 64;              // rows that a thread looks at or copies at a time
constexpr Index block = 64;              // samples whose largest slopes are kept
constexpr Index listen_steps = 4096;     // pairs, of a microsecond or a few, from one look for progress and for Ctrl-C to the next
constexpr double never = 1e300;          // in the place of an infinite slope, where β cannot move
constexpr Index most_idle = 3;           // looks that have not found the violation halved after which pairs are tired,
constexpr double least_turns = 8.0;      // where each sample has had so many

}  // namespace

bool SparseRows::take(Matrix<const float> K, const double* diagonal) {
  const Index n = K.rows;
  double least = infinity;
  for (Index k = 0; k < n; ++k) least = std::min(least, diagonal[k]);
  const float bound = negligible * static_cast<float>(least);
  const auto counted = [&](Index i) { return slope_loops().larger(K.row(i), n, bound) - (std::fabs(K.row(i)[i]) > bound); };
  Index found = 0, looked = 0;
  for (Index i = 0; i < n; i += std::max<Index>(1, n / some_rows), ++looked) found += counted(i);
  if (static_cast<double>(found) > few * static_cast<double>(looked * n)) return false;
  std::vector<Index> starts(n + 1, 0);
  share((n + strip - 1) / strip, [&](Index piece, int) {
    for (Index i = piece * strip; i < std::min((piece + 1) * strip, n); ++i) starts[i + 1] = counted(i);
  });
  for (Index i = 0; i < n; ++i) starts[i + 1] += starts[i];
  if (static_cast<double>(starts[n]) > few * static_cast<double>(n * n)) return false;
  columns_.resize(starts[n]);
  entries_.resize(starts[n]);
  share((n + strip - 1) / strip, [&](Index piece, int) {
    for (Index i = piece * strip; i < std::min((piece + 1) * strip, n); ++i) {
      const float* row = K.row(i);
      Index at = starts[i];
      for (Index j = 0; j < n; ++j)
        if (std::fabs(row[j]) > bound && j != i) {
          columns_[at] = static_cast<std::int32_t>(j);
          entries_[at++] = row[j];
        }
    }
  });
  starts_ = std::move(starts);
  return true;
}

void SparsePairs::set_slopes(const DualBox& dual, Index k, double beta) {
  rise_[k] = std::max(dual.rise(k, beta), -never);
  fall_[k] = std::min(dual.fall(k, beta), never);
}

void SparsePairs::look(Index which, Index n, const double* f) {
  const Index first = which * block, many = std::min(block, n - first);
  slope_loops().ends(rise_.data() + first, fall_.data() + first, f + first, many, top_[which], bottom_[which]);
}

// The pair of the largest rise and the fall that gains most with it; returns whether there is one that violates by more than the target.
bool SparsePairs::step(const DualBox& dual, const double* diagonal, const SparseRows& K, double target, double* beta, double* f) {
  const Index n = K.size();
  const auto largest = [](const std::vector<double>& values) { return std::max_element(values.begin(), values.end()) - values.begin(); };
  const Index high = largest(top_), low = largest(bottom_);
  if (!(top_[high] > -0.5 * never && bottom_[low] > -0.5 * never && top_[high] + bottom_[low] > target)) return false;
  Index i = high * block, j = low * block;
  while (rise_[i] - f[i] != top_[high]) ++i;
  while (f[j] - fall_[j] != bottom_[low]) ++j;
  // Where samples are not near i, a pair gains most where its slope is largest, or about so; a neighbour may gain more with a smaller slope.
  const auto columns = K.columns(i);
  const float* entries = K.entries(i);
  const auto gain = [&](Index k, double entry) {
    const double slope = top_[high] + f[k] - fall_[k], sum = diagonal[i] + diagonal[k];
    return slope > 0.0 && k != i ? slope * slope / std::max(sum - 2.0 * entry + dual.d[i] + dual.d[k], 1e-6 * sum) : 0.0;
  };
  double entry = 0.0;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (columns[k] == j) entry = entries[k];
  double best = gain(j, entry);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const double other = gain(columns[k], entries[k]);
    if (other > best) {
      best = other;
      j = columns[k];
      entry = entries[k];
    }
  }
  if (!(best > 0.0)) return false;
  const double sum = diagonal[i] + diagonal[j], eta = std::max({sum - 2.0 * entry, 1e-12 * sum, 1e-300});
  double new_i = beta[i], new_j = beta[j];
  dual.pair(i, j, f[i], f[j], new_i, new_j, eta);
  if (new_i == beta[i] && new_j == beta[j]) return false;
  const auto mark = [&](Index k) {
    if (std::exchange(is_changed_[k / block], 1) == 0) changed_.push_back(k / block);
  };
  const auto change = [&](Index k, double to) {
    const double by = to - beta[k];
    beta[k] = to;
    set_slopes(dual, k, to);
    f[k] += diagonal[k] * by;
    mark(k);
    const auto near = K.columns(k);
    const float* row = K.entries(k);
    for (std::size_t h = 0; h < near.size(); ++h) {
      f[near[h]] += by * row[h];
      mark(near[h]);
    }
  };
  change(i, new_i);
  change(j, new_j);
  for (const Index which : changed_) {
    look(which, n, f);
    is_changed_[which] = 0;
  }
  changed_.clear();
  return true;
}

void SparsePairs::solve(SingleProblem& problem, const double* diagonal, const SparseRows& K) {
  using End = SingleProblem::End;
  const Index n = K.size(), blocks = (n + block - 1) / block;
  rise_.resize(n);
  fall_.resize(n);
  top_.resize(blocks);
  bottom_.resize(blocks);
  is_changed_.assign(blocks, 0);
  changed_.clear();
  for (Index k = 0; k < n; ++k) set_slopes(problem.dual, k, problem.beta[k]);
  for (Index which = 0; which < blocks; ++which) look(which, n, problem.f);
  double least = infinity;
  for (Index idle = 0;;) {
    listen();
    const double worst = *std::max_element(top_.begin(), top_.end()) + *std::max_element(bottom_.begin(), bottom_.end());
    problem.end = End::reached;
    if (worst <= problem.target) return;
    idle = worst > 0.5 * least ? idle + 1 : 0;
    least = std::min(least, worst);
    problem.end = End::tired;
    if (problem.steps >= problem.max_steps || (idle > most_idle && problem.steps >= least_turns * static_cast<double>(n))) return;
    const Index most = static_cast<Index>(std::min(static_cast<double>(listen_steps), std::ceil(problem.max_steps - problem.steps)));
    Index taken = 0;
    while (taken < most && step(problem.dual, diagonal, K, problem.target, problem.beta, problem.f)) ++taken;
    problem.steps += static_cast<double>(taken);
    problem.end = End::lost;
    if (taken == 0) return;
  }
}

}  // namespace gapless::smo
