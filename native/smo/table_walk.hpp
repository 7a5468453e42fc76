// A walk over faces (face_walk.hpp) on the entries of some samples of a table: rows of them are copied side by side as the walk asks for them, and
// serve all further walks on the same samples.
#pragma once

#include <vector>

#include "smo/face_walk.hpp"

namespace gapless::smo {

class TableWalk {
 public:
  // Walks are now on these samples of K, of which `ends` are the runs (core/runs.hpp).
  template <class T>
  void stand_on(Matrix<const T> K, Places places, const std::vector<Index>& ends);

  // Maximises the dual of the samples, which share one offset, until no violation is above `target`; whether it came there. Writes beta and f = Kβ.
  bool solve(const DualBox& dual, const double* diagonal, Places groups, Vector totals, double target, double most_work, double* beta, double* f);

  double work() const { return walk_.work(); }  // of the last walk, in the unit of SmoAdvance

 private:
  template <class T>
  static void fetch(void* self, Index i);

  FaceWalk walk_;
  Places places_;
  const Index* ends_ = nullptr;
  const void* K_ = nullptr;
  Index stride_ = 0;
  void (*fetch_)(void*, Index) = nullptr;
  std::vector<double> rows_;
  std::vector<char> there_;  // which rows are there
};

}  // namespace gapless::smo
