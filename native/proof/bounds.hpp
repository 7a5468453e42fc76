// Both bounds on the optimum that a feasible dual point and its decision values prove, in one pass over what they have in common.
#pragma once

#include "core/dual.hpp"
#include "proof/primal_side.hpp"

namespace gapless::proof {

struct Bounds {
  double square;     // βᵀKβ of the given point, NaN where it or a decision value is not finite: nothing is proven then
  double scale;      // the best multiple s of the point, 1 where none is asked for
  double dual;       // D(sβ)
  double violation;  // the largest violation of the optimality conditions by sβ; NaN for the entropy, whose slopes are infinite at its ends
  double primal;     // P at the decision values s f with the best offsets; infinite where it is not a number
};

struct Options {
  bool free;      // whether offsets are free, and their best to be found; else the one offset is s b
  bool multiple;  // whether to look for the best multiple; the entropy has none, nor have points whose totals are fixed
  bool primal;    // whether P is asked for: not under a hard margin, whose loss is infinite
};

// f = Kβ but for the constant b = shift Σβ that a regularised intercept adds; `norm` is βᵀf, where it is known better than by that sum (‖w‖²), else
// NaN. Writes the best multiple into beta and f, and the interval of best offsets of each group.
Bounds bounds(const DualTerms& dual, Places groups, Vector totals, Options options, Out beta, Out f, double norm, double shift,
              std::span<Interval> offsets);

}  // namespace gapless::proof
