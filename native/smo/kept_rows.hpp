// Kernel rows of the samples that move, which are kept where an entry takes longer to compute than to read.
#pragma once

#include <vector>

#include "kernels/panels.hpp"
#include "smo/active_set.hpp"

namespace gapless::smo {

// At most `most` rows are kept; further ones are computed when they are needed.
template <class T>
class KeptRows {
 public:
  KeptRows(Panels* panels, Index most);

  // Panels::expand through the kept rows: to the samples `to`, which are among the first `reach`; or to the samples from begin to end ≤ reach.
  void expand(Places moved, Vector change, Places to, Index reach, double* out);
  void expand(Places moved, Vector change, Index begin, Index end, Index reach, double* out);

 private:
  // Computes missing rows as far as there is room; fills rows_ and factors_ with the kept rows of `moved`, others_ and other_change_ with the rest.
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
