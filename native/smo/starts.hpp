// Where a problem of shared fits (shared_fits.hpp) begins: at its first C at zero or with many variables at their bounds, at a further C with what the
// last one ended with. Several points are tried, and the best is taken.
#pragma once

#include <memory>
#include <vector>

#include "core/dual.hpp"
#include "core/span.hpp"
#include "proof/feasible.hpp"
#include "smo/engine.hpp"

namespace gapless::smo {

// The problem of a member at its present C.
struct MemberFit {
  double C = 0.0, gap = 0.0;  // `gap` is the target, 0 where nothing is to be done
  std::vector<double> beta, f, lower, upper, epsilon;  // f = Kβ
  std::vector<double> next_beta, next_f;               // the point to be proven
  std::unique_ptr<Smo> engine;
  std::vector<Index> free;
  proof::Repair repair;
  double steps = 0.0, gap_target = 0.0, kkt_target = 0.0, margin = 1.0, scale = 1.0;
  bool fresh = false;  // whether this is its first C
  bool asked = false;  // whether a closer proof of the same problem is asked for
  bool tired = false;  // whether pairs in float32 no longer get on
  bool left = false;   // whether the engine gave up
};

// What all problems of a family have in common.
struct FamilySamples {
  Vector p, diagonal, zeros, totals;
  Places groups;
  bool margins;  // whether the loss is the hinge

  Index size() const { return length(p); }
  DualBox box(const MemberFit& fit) const { return {p.data(), fit.epsilon.data(), zeros.data(), fit.lower.data(), fit.upper.data(), size()}; }
};

// The first β of a member, and as another point to try, where C is so small that it may be better: every β at its bound, those of the heavier class
// reduced to the sum of the other's.
bool begin(const FamilySamples& samples, MemberFit& fit);

// The point to try next after `begin`: of the heavier class the samples that are nearest to the other one are at their bounds, and the rest at 0.
void nearest_first(const FamilySamples& samples, MemberFit& fit);

// Goes on from the optimum at the last C, whose bounds the fit still has: with the best multiple of β, up to `ratio`, that is within the new bounds.
// Another point to try, if any β is at a bound: those at a bound stay there, at the new one, and the others share what the sum of all is short of.
// Its f is that of β times the ratio, but for the other variables, which are few: next_beta is what these differ by.
bool go_on(const FamilySamples& samples, MemberFit& fit, double ratio);

// From what `go_on` has left in next_beta and its expansion in next_f, the other point itself; and the best multiple in place of β.
void end_going_on(const FamilySamples& samples, MemberFit& fit, double ratio, bool bounded);

// Begins with the other point where that is the better one: of a first C by the value of the dual, else by the number of variables that violate by more than
// `kkt`, each of which will have to move.
void take_better(const FamilySamples& samples, MemberFit& fit, double kkt);

}  // namespace gapless::smo
