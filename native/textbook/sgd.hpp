// Steps of stochastic sub-gradient descent, one for each index of `piece`, with w = a·v and β = a·u so that shrinking is free:
//
//     g = −n c_i ℓ′(y_i, a⟨v, x_i⟩ + b);   a ← (1 − η_t) a;   v += η_t g x_i / a;   b ← b + η_t (reach·g − penalty·b)
//
// where `steps` has an η_t for each index of `piece`. With S = Σ a_t since the average began, and q the updates of u, each times the S of its step,
// Σ β_t = S u − q: the average takes two numbers a sample. a may have any sign (η_t > 1); where |a| leaves [10⁻⁴, 10⁴], it is multiplied into the
// vectors before digits are lost. u and q may have more entries than there are samples: further entries shrink, and nothing is added to them. Where
// steps are too large the iterates grow without bound: the loop stops before a number is beyond 10⁷⁵ (data/scale.py says why). Writes v, u and q.
#pragma once

#include "core/dual.hpp"
#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

struct SgdIntercept {
  double reach, penalty;  // the factor of b's sub-gradient (s², 1 where b is free, 0 where there is none), and 1 where b shrinks as w does, else 0
};

struct SgdScalars {
  double scale, b;          // a and b
  double sum_scale, sum_b;  // the sums of a and of b since the average began
  Index made = 0;           // the number of steps made
};

SgdScalars descend_sgd(const Rows& rows, const DualTerms& dual, Places piece, Vector steps, const SgdIntercept& intercept, SgdScalars now,
                       Out v, Out u, Out q);

}  // namespace gapless
