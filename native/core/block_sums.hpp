// Sums over a block of a table, for several models at a time: each entry is read once for all models that have its row.
//
// A block is some rows of the table at `block_tile` of its columns, copied side by side as float64. A product rounds once, or not at all where the
// instruction set adds it without rounding it first. Products of `block_group` rows are summed in a register, and then the groups: no product takes part
// in more than block_roundings(n, blocks) roundings, where a model has n rows in so many blocks, so that a value is off by at most that times
// u Σ |c| |entry|. A factor of zero rounds nothing.
#pragma once

#include <cstdint>

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless {

inline constexpr Index block_tile = 32;   // columns: four of the widest vectors
inline constexpr Index block_models = 6;  // the most models at a time: their sums, 24 vectors, fill most of 32 registers
inline constexpr Index block_group = 32;
inline double block_roundings(Index n, Index blocks) { return static_cast<double>(block_group + n / block_group + blocks); }

// block[i · tile + k] = rows[i][columns[k]], for each of n rows and the `block_tile` columns.
template <class T>
using CopyBlock = void (*)(const T* const* rows, Index n, const Index* columns, double* block);

// What the bounds on the values of a model are made from: they are fixed + length · per_length + g · per_g + r · per_r away, at a column whose numbers
// these are; and the offset that is added to each value. The arrays have an entry for each model.
struct ValueTerms {
  const double *offset, *fixed, *per_length, *per_g, *per_r;
};

struct BlockSumLoops {
  CopyBlock<float> copy_single;
  CopyBlock<double> copy_full;
  // factors[i] = beta[at[i]] / scale for each of n rows; adds 1 to used[i] where that is not zero, and writes Σ |factor|, Σ |factor| g and Σ |factor| r
  // into sizes, where a factor of zero counts nothing even if g or r is infinite.
  void (*gather)(const double* beta, const std::int32_t* at, const double* g, const double* r, Index n, double scale, double* factors, Index* used,
                 double* sizes);
  // sums[numbers[m] · tile + k] += Σ over i < n of factors[i · models + m] block[rows[i] · tile + k], for each of at most `block_models` models and each
  // column.
  void (*add)(const double* block, const Index* rows, const double* factors, Index n, const Index* numbers, Index models, double* sums);
  // to[k][m] = sums[m · tile + k] for each of the models and the first of the columns.
  void (*turn)(const double* sums, Index models, Index columns, double* const* to);
  // Adds the offsets to the values f of the models at one column, and writes their bounds.
  void (*bound)(const ValueTerms& terms, Index models, double length, double g, double r, double* f, double* low, double* high);
};

GAPLESS_DECLARE_LEVELS(BlockSumLoops, block_sum_loops)

}  // namespace gapless
