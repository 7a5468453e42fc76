// Pairs on a kernel matrix nearly all of whose entries are negligible, as those of a narrow Gaussian are.
//
// A change of two variables changes f of the few samples that are near theirs. The largest slopes of some samples side by side are kept, and found
// anew only where an f among them has changed: a pair costs what its neighbours cost, and no entry is copied.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dual.hpp"
#include "core/span.hpp"
#include "smo/single_pairs.hpp"

namespace gapless::smo {

// The entries of a symmetric matrix that are not negligible, row by row, without the diagonal.
class SparseRows {
 public:
  // Takes them from K, if they are few. Next to the least entry of the diagonal a negligible entry is less than the rounding of float32. Returns
  // whether they are few; a part of the rows is looked at first.
  bool take(Matrix<const float> K, const double* diagonal);

  bool empty() const { return starts_.empty(); }
  Index size() const { return count(starts_.size()) - 1; }
  std::span<const std::int32_t> columns(Index i) const { return {columns_.data() + starts_[i], static_cast<std::size_t>(starts_[i + 1] - starts_[i])}; }
  const float* entries(Index i) const { return entries_.data() + starts_[i]; }

 private:
  std::vector<Index> starts_;
  std::vector<std::int32_t> columns_;
  std::vector<float> entries_;
};

class SparsePairs {
 public:
  // As SinglePairs::solve.
  void solve(SingleProblem& problem, const double* diagonal, const SparseRows& K);

 private:
  void set_slopes(const DualBox& dual, Index k, double beta);
  void look(Index block, Index n, const double* f);
  bool step(const DualBox& dual, const double* diagonal, const SparseRows& K, double target, double* beta, double* f);

  std::vector<double> rise_, fall_;    // of each sample
  std::vector<double> top_, bottom_;   // of each block of samples the largest rise − f, and the largest f − fall
  std::vector<Index> changed_;         // the blocks that are to be looked at
  std::vector<char> is_changed_;
};

}  // namespace gapless::smo
