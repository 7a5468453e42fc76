// Contraction is allowed here: a product that is not rounded before it is added is closer to the exact one.
#include "core/block_sums.hpp"

#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using V = Lanes<double>;

constexpr int width = lanes<double>, pad = static_cast<int>(block_pad);
constexpr int strip = vector_bytes == 64 ? 32 : vector_bytes == 32 ? 8 : 4;  // models whose sums are in registers at a time
static_assert(block_models % strip == 0 && strip % pad == 0);

// Half of the widest vector, where that has more lanes than models are padded to: then the last models of a strip are half a vector.
#if defined(__GNUC__) || defined(__clang__)
typedef double Half __attribute__((vector_size((pad < width ? pad : width) * sizeof(double))));
#else
using Half = double;
#endif

// The first half of a vector of one number: with two vectors the compiler would read the number first and then spread it twice.
GAPLESS_INLINE Half front(const V& vector) {
  Half out;
  std::memcpy(&out, &vector, sizeof(Half));
  return out;
}

// Says that this entry will be read soon.
template <class T>
GAPLESS_INLINE void soon(const T* entry) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(entry);
#endif
}

void divide(double* GAPLESS_RESTRICT factors, Index n, double scale, const double* g, const double* r, Index* GAPLESS_RESTRICT used, double* sizes) {
  for (Index i = 0; i < n; ++i) factors[i] /= scale;
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

// The sums of so many models stay in registers until the end of a group, and in the nearest cache until the end of so many groups.
template <int models, class T>
void sum_strip(const T* const* from_rows, const Index* columns, const double* factors, Index step, Index n, double* sums, Index stride) {
  constexpr int rows = static_cast<int>(block_rows), vectors = models / width;
  constexpr bool half = models % width != 0;
  constexpr Index wide_group = block_group * block_group;
  const T* x[rows];
  for (int k = 0; k < rows; ++k) x[k] = from_rows[k];
  alignas(64) double some[rows * models];  // the sums of some groups
  for (Index first = 0; first < n; first += wide_group) {
    const Index end = first + wide_group < n ? first + wide_group : n;
    for (Index from = first; from < end; from += block_group) {
      const Index until = from + block_group < end ? from + block_group : end;
      V own[rows][vectors + 1] = {};
      Half last[rows] = {};
      for (Index i = from; i < until; ++i) {
        const Index j = columns[i], next = columns[i + block_ahead];
        const double* c = factors + i * step;
        V wide[vectors + 1];
        Half narrow = {};
#pragma GCC unroll 8
        for (int w = 0; w < vectors; ++w) wide[w] = read<V>(c + w * width);
        if constexpr (half) narrow = read<Half>(c + vectors * width);
#pragma GCC unroll 8
        for (int k = 0; k < rows; ++k) {
          soon(x[k] + next);
          const V entry = everywhere(static_cast<double>(x[k][j]));
#pragma GCC unroll 8
          for (int w = 0; w < vectors; ++w) own[k][w] += entry * wide[w];
          if constexpr (half) last[k] += front(entry) * narrow;
        }
      }
#pragma GCC unroll 8
      for (int k = 0; k < rows; ++k) {
        double* to = some + k * models;
#pragma GCC unroll 8
        for (int w = 0; w < vectors; ++w) write<V>(from == first ? own[k][w] : read<V>(to + w * width) + own[k][w], to + w * width);
        if constexpr (half) write<Half>(from == first ? last[k] : read<Half>(to + vectors * width) + last[k], to + vectors * width);
      }
    }
    for (int k = 0; k < rows; ++k)
      for (int m = 0; m < models; ++m) sums[k * stride + m] = (first == 0 ? 0.0 : sums[k * stride + m]) + some[k * models + m];
  }
}

// As many models of a strip as are left, which are at most `models`.
template <int models, class T>
void sum_rest(const T* const* rows, const Index* columns, const double* factors, Index step, Index left, Index n, double* sums, Index stride) {
  if constexpr (models > pad)
    if (left < models) return sum_rest<models - pad>(rows, columns, factors, step, left, n, sums, stride);
  sum_strip<models>(rows, columns, factors, step, n, sums, stride);
}

template <class T>
void sum(const T* const* rows, const Index* columns, const double* factors, Index n, Index models, double* sums, Index stride) {
  for (Index m = 0; m < models; m += strip) sum_rest<strip>(rows, columns, factors + m, models, models - m, n, sums + m, stride);
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

extern const BlockSumLoops block_sum_loops = {sum<float>, sum<double>, divide, bound};

}  // namespace gapless::GAPLESS_LEVEL
