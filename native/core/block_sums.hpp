// Sums over blocks of columns of a table, for several models at a time: each entry is read once for all models that have its column.
//
// The table is read where it is, a column after the other, and multiplied with the factors of all models, which are packed side by side. A product
// rounds once, or not at all where the instruction set adds it without rounding it first. Products of `block_group` columns are summed in a register,
// then so many groups, then these sums of a block, and then the blocks of a model: no product takes part in more than block_roundings(n, blocks)
// roundings, where a model has n columns in so many blocks, so that a value is off by at most that times u Σ |c| |entry|. A factor of zero rounds nothing.
#pragma once

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless {

inline constexpr Index block_rows = 6;     // rows at a time
inline constexpr Index block_pad = 4;      // the factors of a column are so many, or a multiple
inline constexpr Index block_models = 32;  // the most models at a time: their sums, 24 of the widest vectors, fill most of 32 registers
inline constexpr Index block_ahead = 64;   // entries that are asked for so many columns before they are needed: eight lines of a cache
inline constexpr Index block_group = 16;   // columns of a group, and groups whose sums are added up before those of the block are
inline double block_roundings(Index n, Index blocks) {
  // Of a product: itself and the sums of its group, one for each further group beside it, one for each further such sum, and one for each further block.
  return static_cast<double>(2 * block_group + n / (block_group * block_group) + blocks);
}

// sums[k · stride + m] = Σ over i < n of factors[i · models + m] rows[k][columns[i]], for each of `block_rows` rows and each of the models, whose number is
// a multiple of `block_pad`; n is positive. The `block_ahead` columns after them, which are to be summed next, are asked for.
template <class T>
using SumBlock = void (*)(const T* const* rows, const Index* columns, const double* factors, Index n, Index models, double* sums, Index stride);

// What the bounds on the values of a model are made from: they are fixed + length · per_length + g · per_g + r · per_r away, at a row whose numbers
// these are; and the offset that is added to each value. The arrays have an entry for each model.
struct ValueTerms {
  const double *offset, *fixed, *per_length, *per_g, *per_r;
};

struct BlockSumLoops {
  SumBlock<float> sum_single;
  SumBlock<double> sum_full;
  // Divides the factors of n columns by `scale`; adds 1 to used[i] where one is not zero, and writes Σ |factor|, Σ |factor| g and Σ |factor| r into
  // sizes, where a factor of zero counts nothing even if g or r is infinite.
  void (*divide)(double* factors, Index n, double scale, const double* g, const double* r, Index* used, double* sizes);
  // Adds the offsets to the values f of the models at one row, and writes their bounds.
  void (*bound)(const ValueTerms& terms, Index models, double length, double g, double r, double* f, double* low, double* high);
};

GAPLESS_DECLARE_LEVELS(BlockSumLoops, block_sum_loops)

}  // namespace gapless
