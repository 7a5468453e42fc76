// The weighted Gram matrix of the features over some rows: Σ weight · a aᵀ, a = x or (x, 1).
//
// Dense rows are packed into strips of columns as wide as a vector register, once plain and once weighted, a cache full at a time; tiles
// of the lower triangle are then sums of outer products in registers. A sparse row of m entries adds its m²/2 products one by one, which is
// less than what tiles make of its zeros where m is far below the number of features.
#pragma once

#include <cstdint>

#include "core/isa.hpp"
#include "core/rows.hpp"

namespace gapless {

struct GramTask {
  const Index* chosen;   // rows, or null for the first `count`
  const double* weight;  // one for each chosen row, of any sign
  Index count;
  bool ones;    // whether a has a one as its last entry
  bool single;  // whether sums over a cache full may be float32, where the rows are dense and float32
  bool sparse;  // whether products of single entries are fewer than those of tiles
};

// Writes all of `out`, (d + ones)² numbers.
void weighted_gram(const Rows& rows, const GramTask& task, double* out);

// Rows as a dense matrix, with a one after each where `columns` is more than d; writes out.
void gather(const Rows& rows, Places chosen, Index columns, double* out);

// One cache full, or a few, of packed rows; what a level offers.
struct GramLoops {
  Index width64, width32;  // columns of a strip
  // Adds to the lower triangle of `out`, whose rows begin `padded` numbers apart, a multiple of the width; `room` holds gram_room numbers.
  void (*add64[5])(const void* rows, const GramTask& task, Index begin, Index end, Index padded, double* room, double* out);
  void (*add32)(const void* rows, const GramTask& task, Index begin, Index end, Index padded, float* room, double* out);
};
constexpr Index gram_depth = 128;  // rows packed at a time: with 60 columns their strips fill an eighth of a cache of 1 MiB

GAPLESS_DECLARE_LEVELS(GramLoops, gram_loops)

}  // namespace gapless
