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
  std::vector<double> factors;                         // what next_f was summed with, where samples of the family are the same
  double last_C = 0.0;                                 // the C before,
  std::vector<double> last_beta, last_f;               // its β and f, which are empty where there is none,
  std::vector<double> line_beta, line_f;               // and the line through both, at the next C
  std::unique_ptr<Smo> engine;
  std::vector<Index> free;
  proof::Repair repair;
  double steps = 0.0, gap_target = 0.0, kkt_target = 0.0, margin = 1.0, scale = 1.0, ratio = 1.0, part = 0.0;
  Index violating = 0;
  bool bounded = false;
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

// Goes on from the optimum at the last C, whose bounds the fit still has, to C: keeps β and f, and what `arrive` needs.
void leave(const FamilySamples& samples, MemberFit& fit, double C);

// With the bounds of the new C: begins with the best multiple of the last β that is within them, or where fewer variables violate by more than `kkt` with
// β as a linear function of C, as which the optimum goes on from two C's to a third as long as no variable comes to a bound or leaves one. Both have a
// known f. Returns whether there is another point to try: variables at a bound stay there, at the new one, and the others share what the sum of all is
// short of. Its f is the last one times the ratio of both C's, but for the other variables, which are few: next_beta is what these differ by.
bool arrive(const FamilySamples& samples, MemberFit& fit, double kkt);

// Begins with that other point, from what `arrive` has left in next_beta and its expansion in next_f, where fewer variables violate.
void stay_at_bounds(const FamilySamples& samples, MemberFit& fit, double kkt);

// Begins with next_beta and next_f where the value of the dual is larger there: of a first C.
void take_larger(const FamilySamples& samples, MemberFit& fit);

}  // namespace gapless::smo
