// Contraction is allowed here: a product that is not rounded before it is added is closer to the exact one.
#include "core/block_sums.hpp"

#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using V = Lanes<double>;

constexpr int width = lanes<double>;
constexpr int strip = vector_bytes == 64 ? 4 : 2;  // vectors of a row at a time: with six models 24 of 32 registers, or 12 of 16, hold sums
static_assert(block_tile % (strip * width) == 0);

template <class T>
void copy(const T* const* rows, Index n, const Index* columns, double* block) {
  const bool together = columns[block_tile - 1] - columns[0] == block_tile - 1;  // columns ascend, and the last one may be repeated
  for (Index i = 0; i < n; ++i) {
    double* GAPLESS_RESTRICT to = block + i * block_tile;
    if (together) {
      const T* GAPLESS_RESTRICT from = rows[i] + columns[0];
      for (Index k = 0; k < block_tile; ++k) to[k] = static_cast<double>(from[k]);
    } else {
      for (Index k = 0; k < block_tile; ++k) to[k] = static_cast<double>(rows[i][columns[k]]);
    }
  }
}

void gather(const double* beta, const std::int32_t* at, const double* g, const double* r, Index n, double scale, double* GAPLESS_RESTRICT factors,
            Index* GAPLESS_RESTRICT used, double* sizes) {
  for (Index i = 0; i < n; ++i) factors[i] = beta[at[i]] / scale;
  for (Index i = 0; i < n; ++i) used[i] += factors[i] != 0.0;
  LaneSum size, reach, rough;
  by_lanes(0, n, [&]<class W>(Index i) {
    const W b = size_of<W>(read<W>(factors + i)), none{};
    size.add<W>(b);
    reach.add<W>(b > 0.0 ? b * read<W>(g + i) : none);
    rough.add<W>(b > 0.0 ? b * read<W>(r + i) : none);
  });
  sizes[0] = size.total();
  sizes[1] = reach.total();
  sizes[2] = rough.total();
}

template <int models>
void add_models(const double* block, const Index* rows, const double* factors, Index n, const Index* numbers, double* sums) {
  for (Index from = 0; from < n; from += block_group) {
    const Index until = from + block_group < n ? from + block_group : n;
    for (Index at = 0; at < block_tile; at += strip * width) {
      V own[models][strip] = {};
      for (Index i = from; i < until; ++i) {
        const double *x = block + rows[i] * block_tile + at, *c = factors + i * models;
        V entries[strip];
        for (int w = 0; w < strip; ++w) entries[w] = read<V>(x + w * width);
#pragma GCC unroll 8
        for (int m = 0; m < models; ++m)
#pragma GCC unroll 4
          for (int w = 0; w < strip; ++w) own[m][w] += c[m] * entries[w];
      }
#pragma GCC unroll 8
      for (int m = 0; m < models; ++m)
#pragma GCC unroll 4
        for (int w = 0; w < strip; ++w) {
          double* to = sums + numbers[m] * block_tile + at + w * width;
          write<V>(read<V>(to) + own[m][w], to);
        }
    }
  }
}

void add(const double* block, const Index* rows, const double* factors, Index n, const Index* numbers, Index models, double* sums) {
  static_assert(block_models == 6);
  switch (models) {
    case 1: return add_models<1>(block, rows, factors, n, numbers, sums);
    case 2: return add_models<2>(block, rows, factors, n, numbers, sums);
    case 3: return add_models<3>(block, rows, factors, n, numbers, sums);
    case 4: return add_models<4>(block, rows, factors, n, numbers, sums);
    case 5: return add_models<5>(block, rows, factors, n, numbers, sums);
    default: return add_models<6>(block, rows, factors, n, numbers, sums);
  }
}

void turn(const double* sums, Index models, Index columns, double* const* to) {
  constexpr Index line = 8;  // models whose values of one column are a line of the cache
  for (Index m = 0; m < models; m += line) {
    const Index end = m + line < models ? m + line : models;
    for (Index k = 0; k < columns; ++k)
      for (Index j = m; j < end; ++j) to[k][j] = sums[j * block_tile + k];
  }
}

void bound(const ValueTerms& terms, Index models, double length, double g, double r, double* GAPLESS_RESTRICT f, double* GAPLESS_RESTRICT low,
           double* GAPLESS_RESTRICT high) {
  const double *offset = terms.offset, *fixed = terms.fixed, *per_length = terms.per_length, *per_g = terms.per_g, *per_r = terms.per_r;
  for (Index m = 0; m < models; ++m) {
    const double value = f[m] + offset[m], slack = (fixed[m] + length * per_length[m]) + (g * per_g[m] + r * per_r[m]);
    f[m] = value;
    low[m] = value - slack;
    high[m] = value + slack;
  }
}

}  // namespace

extern const BlockSumLoops block_sum_loops = {copy<float>, copy<double>, gather, add, turn, bound};

}  // namespace gapless::GAPLESS_LEVEL
