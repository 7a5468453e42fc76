// Both bounds on the optimum that a feasible dual point and its decision values prove, in exact arithmetic.
//
// β are the numbers as they stand. Decision values are f_i = (Kβ)_i ± their errors, whoever computed them; the rest is computed here with a bound on its
// own rounding, and both values are rounded outwards. Three things make D(β) less than it seems: the error of βᵀKβ, that of the sums, and Σβ, which
// floating point rarely makes exactly the group's total: the heavier side, scaled by what is too much of it, is exactly feasible, and D falls by no
// more than the slope of D along that way (proof/repair_loss.hpp).
#pragma once

#include "core/dual.hpp"
#include "proof/primal_side.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

struct Bounds {
  double square;     // βᵀKβ of the given point, NaN where it or a decision value is not finite: nothing is proven then
  double scale;      // the best multiple s of the point, 1 where none is asked for
  double dual;       // a number that D(sβ) is not below; infinite where D grows along β without bound, as far as float64 can tell
  double violation;  // the largest violation of the optimality conditions by sβ; NaN for the entropy, whose slopes are infinite at its ends
  double primal;     // a number that P at the decision values s f with the best offsets is not above; infinite where it is not a number
  double dual_rounding, primal_rounding;  // how much of these two is owed to rounding
  double plain_dual, plain_primal;        // D(β) and P at f with the best offsets: of the point as it stands, s = 1, as computed
};

struct Options {
  bool free;      // whether offsets are free, and their best to be found; else the one offset is s b
  bool multiple;  // whether to look for the best multiple; the entropy has none, nor have points whose totals are fixed
  bool primal;    // whether P is asked for: not under a hard margin, whose loss is infinite
  bool plain;     // whether P of the point as it stands is asked for too
};

// What is known of w = Σ β φ(x).
struct Weights {
  // ‖w‖² of a linear problem's own w, as it stands, and how far that number is from the exact ‖w‖² and from βᵀKβ; NaN where K alone is known.
  double norm, norm_error, square_error;
  double largest;  // the largest √k(x, x)
};

// f = Kβ but for the constant b = shift Σβ that a regularised intercept adds. Writes the best multiple into beta and f, and the interval of best
// offsets of each group, of the multiple and of the point as it stands; the errors of the multiple are in its result.
Bounds bounds(const DualTerms& dual, Places groups, Vector totals, Options options, Out beta, Out f, Errors errors, const Weights& weights,
              double shift, std::span<Interval> offsets, std::span<Interval> plain_offsets);

// The errors of s f, where s β rounds too.
Errors scaled(Errors errors, double scale);

}  // namespace gapless::proof
