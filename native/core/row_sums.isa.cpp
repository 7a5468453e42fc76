// Contraction is allowed here: a product that is not rounded before it is added is closer to the exact one.
#include "core/row_sums.hpp"

#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using V = Lanes<double>;

constexpr Index chunk = 2 * lanes<double>;  // columns whose sums are in registers
constexpr int most_models = 6;              // whose sums, of two vectors each, are in registers

// Adds the sums of one group of rows to those of the groups before it, or writes them where it is the first.
template <int models, class T>
GAPLESS_INLINE void sum_chunk(const T* const* rows, Index column, const double* factors, Index step, Index n, bool first, double (*sums)[row_columns],
                              Index at) {
  V own[models][2] = {};
  for (Index i = 0; i < n; ++i) {
    const V left = load64(rows[i] + column), right = load64(rows[i] + column + lanes<double>);
#pragma GCC unroll 8
    for (int m = 0; m < models; ++m) {
      const V factor = everywhere(factors[i * step + m]);
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

// `step` is the number of all models, of which these are some.
template <int models, class T>
void sum_models(const T* const* rows, const double* factors, Index step, Index n, Index columns, double* const* sums) {
  const Index whole = columns / chunk * chunk;
  alignas(64) double some[models][row_columns];
  T rest[block_group][chunk] = {};  // the last columns, filled up to a chunk
  for (Index from = 0; from < n; from += block_group) {
    const Index many = from + block_group < n ? block_group : n - from;
    const double* const own = factors + from * step;
    for (Index c = 0; c < whole; c += chunk) sum_chunk<models>(rows + from, c, own, step, many, from == 0, some, c);
    if (whole == columns) continue;
    const T* last[block_group];
    for (Index i = 0; i < many; ++i) {
      for (Index c = whole; c < columns; ++c) rest[i][c - whole] = rows[from + i][c];
      last[i] = rest[i];
    }
    sum_chunk<models>(last, 0, own, step, many, from == 0, some, whole);
  }
  for (int m = 0; m < models; ++m)
    for (Index c = 0; c < columns; ++c) sums[m][c] += some[m][c];
}

// As many models as are left, which are at most `most`.
template <int most, class T>
void sum_rest(const T* const* rows, const double* factors, Index step, Index left, Index n, Index columns, double* const* sums) {
  if constexpr (most > 1)
    if (left < most) return sum_rest<most - 1>(rows, factors, step, left, n, columns, sums);
  sum_models<most>(rows, factors, step, n, columns, sums);
}

template <class T>
void sum(const T* const* rows, const double* factors, Index n, Index models, Index columns, double* const* sums) {
  for (Index m = 0; m < models; m += most_models) sum_rest<most_models>(rows, factors + m, models, models - m, n, columns, sums + m);
}

}  // namespace

extern const RowSumLoops row_sum_loops = {sum<float>, sum<double>};

}  // namespace gapless::GAPLESS_LEVEL
