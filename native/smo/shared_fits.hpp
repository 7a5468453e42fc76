// Many problems on one table of kernel entries, as a search over parameters has them: they differ in C, in ε and in the weights of their samples (zero
// for a sample that a fold leaves out), and for several classes in the pair of classes.
//
// A family is a set of samples whose problems are solved together: all samples, or those of two classes. Each problem of a family belongs to a member:
// a vector of weights and an ε. A member goes from one C to the next: it begins with the best multiple of the β that it ended with, whose decision
// values are known, so that a step to a near C costs hardly more than its proof. Problems are solved by pairs of variables (smo/engine.hpp) and proven
// by sums over the table that are made for all members of a family at a time (core/block_sums.hpp), since reading the table is what they cost.
// Threads share families, or the members of one; no result depends on how.
#pragma once

#include <memory>
#include <vector>

#include "core/span.hpp"
#include "smo/active_set.hpp"
#include "smo/family_values.hpp"
#include "smo/shared_family.hpp"
#include "smo/shared_problems.hpp"

namespace gapless::smo {

class SharedFits {
 public:
  explicit SharedFits(const SharedTable& table);
  SharedFits(const SharedFits&) = delete;
  // The numbers in float32 of the memory that all families take for their entries.
  static Index room(Places starts);

  // Solves and proves the problems of the members m with C[m] > 0, each to the relative gap gap[m]; the others stay as they are.
  void advance(Vector C, Vector gap, const SharedTargets& targets);
  // The same for several C's of each member, one row of C after the other. Each family from `first` to `last` goes through all of them, and what it found
  // is put aside; when all families have, the members are where they were at row `turn` after take_up(turn, that row, gap), for turns in ascending
  // order.
  void go_ahead(Matrix<const double> C, Vector gap, Index first, Index last, const SharedTargets& targets);
  void take_up(Index turn, Vector C, Vector gap);
  // Goes on with the problems whose `gap` is positive, until `apart` is at most that share of P. What had been proven stays where no better proof is
  // found.
  void tighten(Vector gap, const SharedTargets& targets);

  // β of a member, family after family, as `places` has the samples: of the proven model, or where the engine came to.
  void beta(Index member, Out out) const;
  // The values of a member's proven models of some families, at some rows of K, each of which is given once; `flip` changes their signs.
  void values(Index member, Places rows, Places families, bool flip, const SharedValues& out) const;

  SharedSolutions found;

 private:
  template <class Work>
  void for_each(Index first, Index last, const Work& work);
  template <class Work>
  void for_each(const Work& work) {
    for_each(0, count(families_.size()), work);
  }

  SharedTable table_;
  Index members_;
  Buffer single_;  // the entries of all families in float32
  std::vector<std::unique_ptr<Family>> families_;
  std::vector<std::vector<FamilyRoom>> rooms_;  // of each thread
  FamilyValues values_;
  std::vector<double> longest_;  // of each member and each family, the largest √k(x, x) of a sample that has weight
};

}  // namespace gapless::smo
