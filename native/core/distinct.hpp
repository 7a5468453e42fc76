// Which samples are equal: in their rows, their targets and their groups.
#pragma once

#include <vector>

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

// Returns the first sample of each kind of equal ones, in order, and writes into which[i] the place of sample i's kind in that list. Rows are
// compared entry by entry where their hashes agree; a stored zero makes a sparse row different from one that does not store it, and 0 equals −0.
std::vector<Index> distinct_samples(const Rows& rows, const double* y, const Index* groups, Index n, Index* which);

}  // namespace gapless
