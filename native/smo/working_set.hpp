// The choice of variables by how far they violate the optimality conditions: those of a block, and those that enter or leave an active set.
#pragma once

#include <vector>

#include "smo/violation.hpp"

namespace gapless::smo {

// The variables of a block: those of a group are side by side, in ascending order; starts[g] is where group g begins.
struct WorkingSet {
  std::vector<Index> chosen, starts;
};

class Selection {
 public:
  // Chooses at most `size` variables: up to half of them from those with a `keep` above zero, the largest first, and the others from both ends of the
  // violation. Of two pairs that undo what the other did, each with a variable that no longer violates, none would end without the variables that moved
  // last.
  void block(Index n, const double* up, const double* down, const std::vector<char>& keep, Groups groups, bool coupled, Index size,
             WorkingSet& out);

  // The worst violators that are not inside, in ascending order: for each group and each end those that violate by at least `share` of the worst of
  // that end. Violations are measured from the group's offset, or from the middle between both ends where that is nearer to the other end, so that no
  // end is empty.
  std::vector<Index> entrants(Index n, const double* up, const double* down, Groups groups, const double* offsets, bool coupled, double share,
                              const std::vector<char>& inside, Index most);

  // The places of the `most` largest scores, in ascending order.
  std::vector<Index> nearest(const std::vector<double>& scores, Index most);

 private:
  // Appends the places of the `most` largest scores that are at least `floor` and not taken yet; of equal scores the first.
  template <class Score>
  void largest(Index n, Score score, double floor, Index most, std::vector<Index>& chosen);

  std::vector<char> taken_;
  std::vector<Index> open_;
  std::vector<double> values_, sorted_;
};

}  // namespace gapless::smo
