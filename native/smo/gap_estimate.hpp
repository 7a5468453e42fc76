// The solver's own estimate of its gap, from β and f = Kβ as it keeps them; the certificate shares nothing with it.
//
// The loss of a sample is the conjugate of its dual term, c ℓ(y, v) = max over t of h(t) − v t, so that P − D is the sum over the samples of that
// maximum less h(β) − v β. The t at which the maximum is reached falls as v = f + b rises, and the best b of a group is where these t add up to its
// total.
#pragma once

#include <vector>

#include "smo/violation.hpp"

namespace gapless::smo {

struct GapEstimate {
  double gap, primal;  // P − D, P
};

// The estimate with the best offset of each group where offsets are free (`coupled`), which are written to `offsets`; `room` is scratch memory.
template <class Dual>
GapEstimate own_gap(const Dual& dual, Index n, const double* beta, const double* f, Groups groups, const double* totals, bool coupled,
                    double* offsets, std::vector<Index>& room);

}  // namespace gapless::smo
