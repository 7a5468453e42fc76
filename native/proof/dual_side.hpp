// The dual side of a certificate: D(β) = Σ h(β_i) − ½ βᵀKβ at the best multiple of a feasible β, and the largest violation of the optimality
// conditions.
#pragma once

#include "core/dual.hpp"
#include "proof/point_loops.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {

struct Multiple {
  double scale, value;  // s, and D(sβ)
  double plain;         // D(β)
};

// The best s ≥ 0 for which sβ stays in the box, where `square` is βᵀKβ: D(sβ) = s Σ(pβ − ε|β|) − ½ s² (square + Σ dβ²).
Multiple best_multiple(const DualBox& box, Vector beta, double square);

// Σ h(β_i), with a bound on its error, which counts that d (1/2c, say) was rounded twice at most.
Bounded separable(const DualTerms& dual, Vector beta);

// The slopes of D at β, where all samples belong to one group and the decision values are f + shift.
SlopeEnds slope_ends(const DualBox& box, Vector beta, Vector f, double shift);

// LIBSVM's m(α) − M(α), where the decision values are f + shift: inside a group whose sum is fixed (`free` offsets) the steepest rise of D less its
// smallest fall, otherwise the steepest slope of a single β. A β within 1e-12 of its box's width from a bound counts as at that bound, since the
// repair of a sum may have moved it so far. NaN where a slope is not finite.
double largest_violation(const SlopeEnds& ends, bool free);
double largest_violation(const DualBox& box, Vector beta, Vector f, double shift, Places groups, Index n_groups, bool free);

}  // namespace gapless::proof
