// Both bounds on the optimum that a feasible dual point and its decision values prove, in exact arithmetic.
//
// β are the float64 numbers as they stand. The decision values f_i are (Kβ)_i to within their errors, whoever computed them; everything else is
// computed here with a bound on its own rounding, and both values are rounded outwards. Three errors may make D(β) less than its computed value: that
// of βᵀKβ, that of the sums, and that of Σβ, which in floating point is rarely exactly the group's total. For the last one the heavier side of β,
// scaled down by its excess, is exactly feasible, and the slope of D along that way bounds by how much D falls (proof/repair_loss.hpp).
#pragma once

#include "core/dual.hpp"
#include "proof/primal_side.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

// Of the given point (s = 1): D(β) and P at f with the best offsets as computed; a number that D(β) is not below, and one that P is not above, which
// are infinite where they were not asked for.
struct Plain {
  double dual, primal, below, above;
};

struct Bounds {
  double square;     // βᵀKβ of the given point, NaN where it or a decision value is not finite, and nothing is proven
  double scale;      // the best multiple s of the point, 1 where none is asked for
  double dual;       // a number that D(sβ) is not below; infinite where D grows along β without bound, as far as float64 can tell
  double violation;  // the largest violation of the optimality conditions by sβ; NaN for the entropy, whose slopes are infinite at its ends
  double primal;     // a number that P at the decision values s f with the best offsets is not above; infinite where P is not finite
  double dual_rounding, primal_rounding;  // the parts of `dual` and `primal` that were added for rounding
  Plain own;
};

struct Options {
  bool free;      // whether offsets are free, and the best ones are looked for; else the one offset is s b
  bool multiple;  // whether to look for the best multiple; there is none for the entropy, nor where totals are fixed
  bool primal;    // whether P is computed: not under a hard margin, whose loss is infinite
  bool plain;     // whether P of the given point is computed too
  bool outward;   // whether D and P of the given point are bounded too, where it is not its own best multiple
};

// The numbers that are known of w = Σ β φ(x).
struct Weights {
  // In a linear problem ‖w‖² as computed from w, and bounds on its distance from the exact ‖w‖² and from βᵀKβ. With a kernel `norm` is NaN.
  double norm, norm_error, square_error;
  double largest;  // a number that no √k(x, x) is above
};

// f is Kβ without the constant b = shift Σβ that a regularised intercept adds. Writes the best multiple into beta and f, the intervals of best
// offsets for that multiple into `offsets`, and those for the given point into `plain_offsets`.
Bounds bounds(const DualTerms& dual, Places groups, Vector totals, Options options, Out beta, Out f, Errors errors, const Weights& weights,
              double shift, std::span<Interval> offsets, std::span<Interval> plain_offsets);

// Bounds on the errors of s f, given those of f; they count the rounding of s f and of s β.
Errors scaled(Errors errors, double scale);

}  // namespace gapless::proof
