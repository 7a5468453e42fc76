// The maximisation of the dual over samples whose kernel matrix is in memory: by blocks of variables, and in each block by pairs (or single
// variables).
#pragma once

#include <vector>

#include "smo/pairs.hpp"
#include "smo/terms.hpp"
#include "smo/violation.hpp"
#include "smo/working_set.hpp"

namespace gapless::smo {

// f += Σ over i of K.row(moved[i]) change[i], for each of the K.columns places of f; threads share the columns.
template <class T>
void spread(Matrix<const T> K, Places moved, const double* change, double* f);

// block(i, j) = K(chosen[i], chosen[j]); further columns of the block become zero.
template <class T, class B>
void gather(Matrix<const T> K, Places chosen, Matrix<B> block);

// A square matrix whose rows begin at lines of the cache and are filled up to whole lines, so that sweeps over them need vectors only.
template <class T>
class Square {
 public:
  Matrix<T> make(Index side) {
    const Index stride = (side + 15) / 16 * 16;
    if (count(store_.size()) < side * stride + 16) store_.resize(side * stride + 16);
    T* data = reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(store_.data()) + 63) / 64 * 64);
    return {data, side, stride, stride};
  }

 private:
  std::vector<T> store_;
};

template <class Dual, class T>
class BlockSolver {
 public:
  // The problem of solve(): the dual of the samples whose kernel matrix is K.
  struct Part {
    const Dual& dual;
    const double* diagonal;
    TableRows<T> K;
    Groups groups;
    bool coupled, second_order;
  };

  // Maximises until no violation is above `target`, by blocks of at most `size` variables, each of which stops at `share` of the violation that it
  // began with. Writes beta and f; returns the steps taken, at most `max_steps`.
  Index solve(const Part& part, Index size, double share, double target, Index max_steps, double* beta, double* f);

  // Maximises over one block, whose groups are side by side and begin at `starts`. Writes beta, and f in the precision of K; returns the steps taken.
  template <class B>
  Index solve_block(const Dual& dual, const double* diagonal, const TableRows<B>& K, const std::vector<Index>& starts, bool coupled, bool second_order,
                    double target, Index max_steps, double* beta, double* f);

 private:
  Index solve_copy(const Part& part, Matrix<const T> from, const Dual& dual, double target, Index max_steps);
  template <class B>
  Index entropy_pairs(const Dual& dual, const double* diagonal, const TableRows<B>& K, bool second_order, Index max_steps, double* beta, double* f);
  template <class B>
  Index singles(const Dual& dual, const double* diagonal, const TableRows<B>& K, double target, Index max_steps, double* beta, double* f);

  Selection selection_;
  WorkingSet set_;
  TakenTerms<Dual> terms_;
  Square<float> single_;
  Square<double> full_;
  std::vector<char> last_;  // 1 for a variable of the last block, 2 where it has moved in it
  Index together_ = 0;  // the pairs so far that were made with all samples in one block
  std::vector<double> up_, down_, diagonal_, beta_, old_, f_, room_, change_;
  std::vector<Index> moved_;
};

}  // namespace gapless::smo
