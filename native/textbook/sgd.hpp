// Steps of stochastic sub-gradient descent, one for each index of `piece`, with w = a·v and β = a·u so that shrinking is free:
//
//     g = −n c_i ℓ′(y_i, a⟨v, x_i⟩ + b);   a ← (1 − η_t) a;   v += η_t g x_i / a;   b ← b + η_t (reach·g − penalty·b)
//
// with η_t from `steps`, one for each of `piece`. With S = Σ a_t since the average began, and q the S-weighted updates of u, Σ β_t = S u − q: the
// average costs two numbers a sample. a has any sign (η_t > 1); where its size leaves [10⁻⁴, 10⁴], it is folded into the vectors before digits are
// lost. u and q may have more entries than there are samples: these shrink, and nothing is added to them. Steps that are too large lead away
// without end: the walk stops before a number is beyond 10⁷⁵, whose fourth power is the last one finite (data/scale.py). Writes v, u and q.
#pragma once

#include "core/dual.hpp"
#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

struct SgdIntercept {
  double reach, penalty;  // how far b goes with a sub-gradient, and whether it shrinks as w does
};

struct SgdScalars {
  double scale, b;          // a and b
  double sum_scale, sum_b;  // their sums since the average began
  Index made = 0;           // steps
};

SgdScalars descend_sgd(const Rows& rows, const DualTerms& dual, Places piece, Vector steps, const SgdIntercept& intercept, SgdScalars now,
                       Out v, Out u, Out q);

}  // namespace gapless
