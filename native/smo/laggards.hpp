// Samples whose f = Kβ is behind β: a sample that is far from violating is caught up only when f may have moved as far as its distance from
// violating.
//
// How far f moves in a round is estimated by its largest change among the samples whose f is current; elsewhere it may move farther. So a sample that
// is behind may violate after all, and a solver whose proof is refused catches up all samples.
#pragma once

#include <functional>
#include <vector>

#include "core/span.hpp"

namespace gapless::smo {

class Laggards {
 public:
  explicit Laggards(Index n) : since_(n, 0), sum_(n, 0.0), seen_(n, 0) {}

  // Records a round that changed β of the samples `moved` by `change`, and f by at most `swing` where it is current.
  void record(std::vector<Index> moved, std::vector<double> change, double swing);
  // Notes that f of these samples is current.
  void settle(Places which);
  void settle(Index begin, Index end);
  // The samples among the first `n`, or among `which`, whose f is not current, in the same order.
  std::vector<Index> waiting(Index n) const;
  std::vector<Index> waiting(Places which) const;
  // The samples among the first `n` that are behind and may violate by now, where slack[k] was their distance from violating; all that are behind
  // where many rounds have passed.
  std::vector<Index> due(Index n, const double* slack) const;

  // Calls expand(moved, change, to) for each batch `to` of the samples `late` whose f is for the same β, with the change of β since; all are current
  // then.
  using Expand = std::function<void(Places moved, Vector change, Places to)>;
  void catch_up(std::vector<Index> late, const Expand& expand);
  // Notes that f of all samples is current.
  void forget();

 private:
  struct Round {
    std::vector<Index> moved;
    std::vector<double> change;
  };

  std::vector<std::int32_t> since_;  // the number of rounds that f of each sample contains
  std::vector<Round> rounds_;
  std::vector<double> drift_ = {0.0};  // the sum of the swings before each round
  std::vector<double> sum_;            // scratch memory of catch_up, zero between two calls
  std::vector<char> seen_;
};

}  // namespace gapless::smo
