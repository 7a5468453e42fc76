// The signs of a row of decisions, counted by class: the loops of native/core/votes.hpp.
#pragma once

#include <cstdint>

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless {

// Of the decisions of the pairs (0, 1), (0, 2), …, (1, 2), … of some classes, how many are above zero (or below): first[c] of the pairs whose first
// class is c, and second[c] of those whose second class is c. Both arrays have `tally_room` entries more, which are written too.
inline constexpr Index tally_room = 8;
using Tally = void (*)(const double* decisions, Index classes, std::int64_t* first, std::int64_t* second);

struct TallyLoops {
  Tally above, below;
};

GAPLESS_DECLARE_LEVELS(TallyLoops, tally_loops)

}  // namespace gapless
