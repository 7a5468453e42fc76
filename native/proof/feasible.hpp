// From any dual point to a feasible one.
//
// β is clipped to its box. Where offsets are free, the sum of each group of samples must be the group's total, as far as float64 can tell. Where the
// sum is too large its positive entries are scaled down, where it is too small its negative ones, so that zeros stay zeros.
//
// Where the total is not zero (ν-forms), entries between zero and their bound go the same share of their way to the upper or to the lower bound, so
// that zeros stay zeros and entries at a bound stay there. Where these entries have no room for it, an excess of the size of rounding stays; a larger
// one is scaled away as above or, where that is out of reach, by moving all entries of the group the same share of their way to a bound.
#pragma once

#include "core/span.hpp"

namespace gapless::proof {

struct Repair {
  double outside = 0.0;  // the distance of the given point from the box; NaN where an entry is NaN or infinite
  double off = 0.0;      // the largest distance of a group's sum, after clipping, from its total
};

// Writes the feasible point into `out`. Without `coupled` no sum is prescribed.
Repair feasible(Vector lower, Vector upper, Places groups, Vector totals, bool coupled, Vector beta, Out out);

}  // namespace gapless::proof
