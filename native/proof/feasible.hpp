// From any dual point to a feasible one.
//
// β is clipped to its box. Where offsets are free, the sum of each group of samples must be the group's total: the heavier side of a sum that is
// too large (or too small) is scaled down, so that zeros stay zeros; where a total other than zero is out of reach that way (ν-forms), all of the
// group go towards their far bound alike.
#pragma once

#include "core/span.hpp"

namespace gapless::proof {

struct Repair {
  double outside = 0.0;  // how far the given point was from the box, NaN where it has no number or an infinite one,
  double off = 0.0;      // and its clipped sums from their totals
};

// Writes out. Without `coupled` the sums are free.
Repair feasible(Vector lower, Vector upper, Places groups, Vector totals, bool coupled, Vector beta, Out out);

}  // namespace gapless::proof
