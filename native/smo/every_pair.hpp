// One-vs-one: the problem of each pair of classes is solved by pairs of variables (smo/engine.hpp) and proven
// (proof/table_proof.hpp), pair after pair, without a return to Python in between. Threads share the pairs of classes; no result depends on how.
// Kernel entries are those of one Gram matrix or, where that would be too large, of a table that is filled for each pair when it is its turn: for some
// of its samples first, and for all of them where that does not do and they are not too many.
//
// A pair of classes is done where its proof keeps both bounds that were asked for, or shows that its optimum is zero. The others are left to the
// caller: those that take more steps than allowed, and those that need another kind of proof.
#pragma once

#include <vector>

#include "core/span.hpp"
#include "kernels/panels.hpp"

namespace gapless::smo {

// The pairs of classes. The samples of pair k are places[starts[k]] to places[starts[k + 1] − 1], as rows of the matrix K or samples of the panels; the
// first `firsts[k]` of them belong to its first class, for which y = −1, and the others to its second, for which y = 1. `cost` goes with `places`.
struct ClassPairs {
  Matrix<const double> K;
  Panels* panels = nullptr;  // in float64, in place of K
  Vector g, r;               // of each row of K or sample of the panels, for the proof (proof/table_proof.hpp)
  Places places, starts, firsts;
  Vector cost;
  Vector halves;  // of a ν-SVC: for each pair what β sums to over its second class, and less that over its first; empty for the hinge loss
};

struct PairTargets {
  double gap, kkt;        // the bounds that a proof must keep: on the relative duality gap, and on the largest violation
  double ahead;           // the share of `kkt` that the engine aims at
  double stricter;        // what both targets are multiplied by where the engine was ready and the proof did not agree
  double turns, most;     // the most steps: for each sample, and altogether
  double seconds;         // after so many seconds no further pair is begun
  double cache_bytes;     // the memory for kernel entries
};

// What was found for each pair of classes, in the order of the pairs. done[k] is 1 where both bounds are kept, and 2 where the optimum of a ν-SVC is
// proven to be zero; where it is 0, `steps` and `beta` tell how far pair k came, and its other numbers mean nothing.
struct PairSolutions {
  explicit PairSolutions(const ClassPairs& pairs);  // none is done

  std::vector<Index> done;
  // Of the hinge loss before the call where to begin, within the bounds or not; after it the coefficients of the proven model, or where to go on from.
  // They go with the places, and so do their sums f = Kβ, which before the call need not be known: then the first one of a pair is no number.
  std::vector<double> beta, f;
  std::vector<double> low, high;  // the intervals of the best offsets: one for each pair, or two of a ν-SVC
  std::vector<double> steps, checked, seconds;  // the engine's steps, the seconds up to the end of the proof, and those of all that the pair took
  std::vector<double> primal, dual, rounding, violation, outside, off, plain_primal, plain_dual;  // TableProof of proof/table_proof.hpp
  std::vector<Index> own;
};

// Writes `found` pair by pair: after an interruption, which is thrown, it holds the pairs that were done by then.
void solve_every_pair(const ClassPairs& pairs, const PairTargets& targets, PairSolutions& found);

}  // namespace gapless::smo
