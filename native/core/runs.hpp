// Runs of consecutive places: entries that lie side by side in a matrix are copied and summed in one loop.
#pragma once

#include <vector>

#include "core/span.hpp"

namespace gapless {

// For each j the end, as an index into `places`, of the run of consecutive places that places[j] belongs to.
inline std::vector<Index> run_ends(Places places) {
  const Index n = length(places);
  std::vector<Index> ends(places.size(), n);
  for (Index j = n - 2; j >= 0; --j)
    if (places[j] + 1 != places[j + 1])
      ends[j] = j + 1;
    else
      ends[j] = ends[j + 1];
  return ends;
}

}  // namespace gapless
