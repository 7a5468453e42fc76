// Kernel rows of the samples that move, kept where an entry takes longer to compute than to read.
#pragma once

#include <vector>

#include "kernels/panels.hpp"
#include "smo/active_set.hpp"

namespace gapless::smo {

// At most `most` rows of the first samples' kernel matrix; what does not fit is computed when it is needed.
template <class T>
class KeptRows {
 public:
  KeptRows(Panels* panels, Index most);

  // Panels::expand, where `to` is among the first `reach` samples; or to all samples from begin to end, which is at most `reach`.
  void expand(Places moved, Vector change, Places to, Index reach, double* out);
  void expand(Places moved, Vector change, Index begin, Index end, Index reach, double* out);

 private:
  // Computes rows that are missing; returns those of `moved` that are kept, and puts the others to the two lists.
  void prepare(Places moved, Vector change, Index reach);
  void add(Index begin, Index end, double* sums);

  Panels* panels_;
  Index n_, most_, count_ = 0, reach_ = 0;
  Buffer buffer_;
  std::vector<Index> slot_, owners_, others_;
  std::vector<double> other_change_, sums_;
  std::vector<const T*> rows_;
  std::vector<T> factors_;
};

}  // namespace gapless::smo
