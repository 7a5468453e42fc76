// The weighted Gram matrix of the features over some rows: Σ weight · a aᵀ, a = x or (x, 1).
//
// Dense rows are packed into strips of columns as wide as a vector register, once plain and once times their weight, as many rows at a time as stay
// in the cache; tiles of the lower triangle are then sums of outer products in registers. A sparse row of m entries adds its m²/2 products one by
// one, which is less work than that of tiles where m is far below the number of features.
#pragma once

#include <cstdint>

#include "core/isa.hpp"
#include "core/rows.hpp"

namespace gapless {

struct GramTask {
  const Index* chosen;   // the rows; null for the first `count`
  const double* weight;  // the weight of each chosen row, of any sign
  Index count;
  bool ones;    // whether a = (x, 1)
  bool single;  // whether sums over the rows packed at a time may be float32, where the rows are dense and float32
  bool sparse;  // whether sparse rows add their products one by one
};

// Writes all of `out`, (d + ones)² numbers.
void weighted_gram(const Rows& rows, const GramTask& task, double* out);

// Writes the chosen rows as a dense matrix of `columns` columns: d, or d + 1 with a last column of ones.
void gather(const Rows& rows, Places chosen, Index columns, double* out);

// The loops of one level, by the type of the rows.
struct GramLoops {
  Index width64, width32;  // the columns of a strip in float64 and in float32
  // Adds to the lower triangle of `out`, whose rows begin `padded` numbers apart, a multiple of the width; `room` has 2 gram_depth padded numbers.
  void (*add64[5])(const void* rows, const GramTask& task, Index begin, Index end, Index padded, double* room, double* out);
  void (*add32)(const void* rows, const GramTask& task, Index begin, Index end, Index padded, float* room, double* out);
};
constexpr Index gram_depth = 128;  // rows packed at a time: with 60 columns both packings have 120 KiB, an eighth of a cache of 1 MiB

GAPLESS_DECLARE_LEVELS(GramLoops, gram_loops)

}  // namespace gapless
