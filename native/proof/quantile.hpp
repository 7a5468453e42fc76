// The best offset where every ramp of the slope S is a step (proof/primal_side.hpp): a weighted quantile, looked for in a window.
#pragma once

#include <optional>

#include "core/dual.hpp"
#include "proof/primal_side.hpp"

namespace gapless::proof {

// The interval of best_offset() for samples of one group, where both of its ends are in (window.low, window.high]. Nothing where they are not, where
// the window holds too many steps to be worth it, or where S has ramps or is not finite: proof/primal_side.cpp finds the offset of every S.
std::optional<Interval> quantile_in(const DualBox& box, double total, Vector f, Interval window);

}  // namespace gapless::proof
