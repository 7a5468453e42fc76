// Contraction is allowed here: a product that is not rounded before it is added is closer to the exact one.
#include "core/row_sums.hpp"

#include "core/block_sums.hpp"
#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using V = Lanes<double>;

constexpr Index chunk = 2 * lanes<double>;  // columns whose sums are in registers
constexpr Index wide_group = block_group * block_group;

// Adds the sums of one group of rows to those of the groups before it, or writes them where it is the first.
template <int models, class T>
GAPLESS_INLINE void sum_chunk(const T* const* rows, Index column, const double* factors, Index n, bool first, double* const* sums, Index at) {
  V own[models][2] = {};
  for (Index i = 0; i < n; ++i) {
    const V left = load64(rows[i] + column), right = load64(rows[i] + column + lanes<double>);
#pragma GCC unroll 8
    for (int m = 0; m < models; ++m) {
      const V factor = everywhere(factors[i * models + m]);
      own[m][0] += factor * left;
      own[m][1] += factor * right;
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < models; ++m) {
    double* const to = sums[m] + at;
    write<V>(first ? own[m][0] : read<V>(to) + own[m][0], to);
    write<V>(first ? own[m][1] : read<V>(to + lanes<double>) + own[m][1], to + lanes<double>);
  }
}

// The sums of at most wide_group rows; `sums` have room for whole chunks.
template <int models, class T>
void sum_groups(const T* const* rows, const double* factors, Index n, Index columns, double* const* sums) {
  const Index whole = columns / chunk * chunk;
  T rest[block_group][chunk] = {};  // the last columns, filled up to a chunk
  for (Index from = 0; from < n; from += block_group) {
    const Index many = from + block_group < n ? block_group : n - from;
    const double* const own = factors + from * models;
    for (Index c = 0; c < whole; c += chunk) sum_chunk<models>(rows + from, c, own, many, from == 0, sums, c);
    if (whole == columns) continue;
    const T* last[block_group];
    for (Index i = 0; i < many; ++i) {
      for (Index c = whole; c < columns; ++c) rest[i][c - whole] = rows[from + i][c];
      last[i] = rest[i];
    }
    sum_chunk<models>(last, 0, own, many, from == 0, sums, whole);
  }
}

template <int models, class T>
void sum_models(const T* const* rows, const double* factors, Index n, Index columns, double* const* sums) {
  alignas(64) double some[models][row_columns + chunk];
  double* to[models];
  for (int m = 0; m < models; ++m) to[m] = some[m];
  for (Index first = 0; first < n; first += wide_group) {
    sum_groups<models>(rows + first, factors + first * models, first + wide_group < n ? wide_group : n - first, columns, to);
    for (int m = 0; m < models; ++m)
      for (Index c = 0; c < columns; ++c) sums[m][c] = (first == 0 ? 0.0 : sums[m][c]) + some[m][c];
  }
}

template <int most, class T>
void sum(const T* const* rows, const double* factors, Index n, Index models, Index columns, double* const* sums) {
  if constexpr (most > 1)
    if (models < most) return sum<most - 1>(rows, factors, n, models, columns, sums);
  sum_models<most>(rows, factors, n, columns, sums);
}

constexpr int most_models = static_cast<int>(row_models);

}  // namespace

extern const RowSumLoops row_sum_loops = {sum<most_models, float>, sum<most_models, double>};

}  // namespace gapless::GAPLESS_LEVEL
