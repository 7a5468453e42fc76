// Which samples are the same: equal rows, equal targets, equal groups.
#pragma once

#include <vector>

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

// Writes for each sample the place of its kind in the list that is returned: the first sample of each kind, in order. Rows are compared entry
// by entry where their hashes agree, stored zeros included; 0 equals −0.
std::vector<Index> distinct_samples(const Rows& rows, const double* y, const Index* groups, Index n, Index* which);

}  // namespace gapless
