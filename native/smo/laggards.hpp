// Samples whose f = Kβ follows β late: one that is far from violating is caught up only when f may have moved as far as that.
//
// How far f moves in a round is seen where it is kept up to date, at the largest; elsewhere it may be more. So the others are no proof of anything,
// and a solver whose proof is refused catches all of them up.
#pragma once

#include <functional>
#include <vector>

#include "core/span.hpp"

namespace gapless::smo {

class Laggards {
 public:
  explicit Laggards(Index n) : since_(n, 0), sum_(n, 0.0), seen_(n, 0) {}

  // A round has changed β of these samples by so much, and f by `swing`.
  void record(std::vector<Index> moved, std::vector<double> change, double swing);
  // The f of these samples is current.
  void settle(Places which);
  void settle(Index begin, Index end);
  // Those of the first `n`, or of `which`, whose f is not current, in ascending order where `which` is.
  std::vector<Index> waiting(Index n) const;
  std::vector<Index> waiting(Places which) const;
  // Of the first `n`, those that f may have brought to violate from as far as `slack`; all who wait where many rounds have passed.
  std::vector<Index> due(Index n, const double* slack) const;

  // expand(moved, change, to) for those of `late` whose f is for the same β, with what β changed since; they are current afterwards.
  using Expand = std::function<void(Places moved, Vector change, Places to)>;
  void catch_up(std::vector<Index> late, const Expand& expand);
  // All are current.
  void forget();

 private:
  struct Round {
    std::vector<Index> moved;
    std::vector<double> change;
  };

  std::vector<std::int32_t> since_;  // the rounds that each sample's f knows of
  std::vector<Round> rounds_;
  std::vector<double> drift_ = {0.0};  // how far f had moved before each round
  std::vector<double> sum_;            // zero between two calls
  std::vector<char> seen_;
};

}  // namespace gapless::smo
