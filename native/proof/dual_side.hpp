// What a feasible dual point proves: D(β) = Σ h(β_i) − ½ βᵀKβ of its best multiple, and its largest violation of the optimality conditions.
#pragma once

#include "core/dual.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

struct Multiple {
  double scale, value;
  double plain;  // D(β)
};

// (s, D(sβ), D(β)) for the best s that stays in the box, where `square` is βᵀKβ: D(sβ) = s Σ(pβ − ε|β|) − ½ s² (square + Σ dβ²).
Multiple best_multiple(const DualBox& box, Vector beta, double square);

// Σ h(β_i), with a bound on its error. d = 1/2c (and such) is within two roundings of what the cost says.
Bounded separable(const DualTerms& dual, Vector beta);

// LIBSVM's m(α) − M(α) where f = Kβ + shift: inside a group where the sum of its β is fixed (`free` offsets), of a single β otherwise. A β within
// 1e-12 of its box's width from a bound is at that bound: a repaired sum moves it so far. NaN where something is.
double largest_violation(const DualBox& box, Vector beta, Vector f, double shift, Places groups, Index n_groups, bool free);

}  // namespace gapless::proof
