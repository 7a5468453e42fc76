// How the entries of a symmetric table are reached for sums over some of its columns at some of its rows (core/block_sums.hpp): along the rows that are
// asked for, or along those of the columns, where rows that are asked for are side by side. The first is twice as fast where both touch as many lines of
// the cache, since the machine foresees what is next; where few columns have a factor, most of each line would be read in vain.
#pragma once

#include <utility>
#include <vector>

#include "core/block_sums.hpp"
#include "core/span.hpp"

namespace gapless::smo {

template <class T>
SumBlock<T> sum_block() {
  if constexpr (sizeof(T) == 4)
    return block_sum_loops().sum_single;
  else
    return block_sum_loops().sum_full;
}

// The entry of the row asked[k] and the column taken[i] is rows[k][columns[i]]. Places that are asked for are in ascending order; `block_ahead` columns
// follow the last one.
template <class T>
struct TableReading {
  std::vector<const T*> rows;
  std::vector<Index> columns;

  TableReading(const Matrix<const T>& K, Places asked, std::vector<Index> taken) : columns(std::move(taken)) {
    const bool along_asked = length(asked) * lines(columns) < 2 * count(columns.size()) * lines(asked);
    rows.reserve(asked.size());
    for (const Index row : asked) rows.push_back(along_asked ? K.row(row) : K.data + row);
    if (!along_asked)
      for (Index& j : columns) j *= K.stride;
    columns.resize(columns.size() + block_ahead, columns.empty() ? 0 : columns.back());
  }

 private:
  // In how many lines of the cache these entries of a row are.
  static Index lines(Places places) {
    constexpr Index line = 64 / sizeof(T);
    Index found = 0, last = -1;
    for (const Index place : places) {
      found += place / line != last;
      last = place / line;
    }
    return found;
  }
};

}  // namespace gapless::smo
