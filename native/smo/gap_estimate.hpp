// A solver's own view of its gap: from β and f = Kβ as it keeps them, and from nothing that the certificate computes.
//
// The loss of a sample is the conjugate of its dual term, c ℓ(y, v) = max over t of h(t) − v t, so that P − D is the sum of what each β falls short of
// its own maximum. The t at which it is reached fall as v = f + b rises, and the best b of a group is where they add up to its total.
#pragma once

#include <vector>

#include "smo/violation.hpp"

namespace gapless::smo {

struct GapEstimate {
  double gap, primal;  // P − D, P
};

// With the best offset of each group, which are written to `offsets`, where they are free; `room` is scratch memory.
template <class Dual>
GapEstimate own_gap(const Dual& dual, Index n, const double* beta, const double* f, Groups groups, const double* totals, bool coupled,
                    double* offsets, std::vector<Index>& room);

}  // namespace gapless::smo
