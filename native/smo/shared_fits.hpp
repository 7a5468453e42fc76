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

namespace gapless::smo {

struct SharedTable {
  Table K;                // of all samples
  Vector diagonal, g, r;  // of each row of K; g and r as in proof/table_proof.hpp, where r counts the rounding to float32
  Places places, starts;  // the samples of family a are the rows places[starts[a]] to places[starts[a + 1] − 1] of K
  Vector p;               // goes with `places`: the label, −1 or 1, or the target
  bool margins;           // whether the loss is the hinge, else ε-insensitive
  Matrix<const double> weights;  // for each member and each row of K
  Vector epsilon;                // of each member
};

struct SharedTargets {
  double kkt;       // the bound on the largest violation
  double ahead;     // the share of `kkt` that the engine aims at
  double stricter;  // what both targets are multiplied by where the engine was ready and the proof did not agree
  double turns;     // the most steps for each sample
};

// What was found for each problem: problem a · members + m is that of family a and member m. Where done is 0, the problem was not solved as asked.
struct SharedSolutions {
  std::vector<Index> done, own;
  std::vector<Index> kept;  // whether all of this is that of the C before, which proves it of this one too
  std::vector<double> low, high, steps, seconds, checked, primal, dual, rounding, violation, outside, off, plain_primal, plain_dual, margin;
  std::vector<double> apart, apart_rounding;  // a bound on ‖w − w*‖², and its part for rounding
};

class SharedFits {
 public:
  explicit SharedFits(const SharedTable& table);
  ~SharedFits();
  SharedFits(const SharedFits&) = delete;

  // Solves and proves the problems of the members m with C[m] > 0, each to the relative gap gap[m]; the others stay as they are.
  void advance(Vector C, Vector gap, const SharedTargets& targets);
  // Goes on with the problems whose `gap` is positive, until `apart` is at most that share of P. What had been proven stays where no better proof is
  // found.
  void tighten(Vector gap, const SharedTargets& targets);

  // β of a member, family after family, as `places` has the samples: of the proven model, or where the engine came to.
  void beta(Index member, Out out) const;
  // The values of a member's proven models of some families, at some rows of K, each of which is given once; `flip` changes their signs.
  void values(Index member, Places rows, Places families, bool flip, const SharedValues& out) const;

  SharedSolutions found;

 private:
  class Family;
  template <class T>
  class FamilyOf;

  SharedTable table_;
  Index members_;
  Buffer single_;  // the entries of all families in float32
  std::vector<std::unique_ptr<Family>> families_;
  FamilyValues values_;
  std::vector<double> longest_;  // of each member and each family, the largest √k(x, x) of a sample that has weight
};

}  // namespace gapless::smo
