#include "kernels/dense.hpp"

#include "kernels/exp.hpp"
#include "kernels/lanes.hpp"
#include "kernels/profile.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using Kind = Expression::Kind;

constexpr int vectors = 2;  // across a tile: with one, each load of a right row would serve half as many products (kernels/lanes.hpp has the rows)
template <class T>
constexpr int columns = vectors * lanes<T>;

// The sums of one tile, in registers.
template <class T>
struct Sums {
  Lanes<T> at[tile_rows][vectors];
};

// sums += Σ over n features of a b, or −= |a − b| where `absolute`. GCC unrolls the loops over registers only when it is told to.
template <class T, bool absolute>
GAPLESS_INLINE void add_features(const T* left, const T* right, Index n, Sums<T>& sums) {
  for (Index k = 0; k < n; ++k) {
    Lanes<T> b[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) b[v] = load<T>(right + v * lanes<T>);
#pragma GCC unroll 16
    for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        if constexpr (absolute)
          sums.at[r][v] -= magnitude<T>(left[r] - b[v]);
        else
          sums.at[r][v] += left[r] * b[v];
      }
    left += tile_rows;
    right += columns<T>;
  }
}

// The start of the sums that the profile is applied to: the two norms for RBF, zero for others.
template <class T, Kind kind>
GAPLESS_INLINE void begin(const T* left_norms, const Lanes<T>* right_norms, Sums<T>& sums) {
#pragma GCC unroll 16
  for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      if constexpr (kind == Kind::rbf)
        sums.at[r][v] = right_norms[v] + left_norms[r];
      else
        sums.at[r][v] = Lanes<T>{};
    }
}

// The sums of long rows: each stretch of features is summed by itself. The function is not inlined, since its second set of sums would take registers
// from the loops for short rows.
template <class T, Kind kind>
[[gnu::noinline]] void long_products(const T* left, const T* left_norms, const T* right, const T* right_norms, Index d,
                                     Sums<T>& total) {
  Lanes<T> norms[vectors];
#pragma GCC unroll 2
  for (int v = 0; v < vectors; ++v) norms[v] = load<T>(right_norms + v * lanes<T>);
  begin<T, kind>(left_norms, norms, total);
  for (Index from = 0; from < d; from += feature_stretch) {
    const Index n = d - from < feature_stretch ? d - from : feature_stretch;
    Sums<T> sums;
    begin<T, Kind::linear>(nullptr, nullptr, sums);
    add_features<T, kind == Kind::laplacian>(left + from * tile_rows, right + from * columns<T>, n, sums);
#pragma GCC unroll 16
    for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) total.at[r][v] += sums.at[r][v];
  }
}

// The sums of one tile over all features.
template <class T, Kind kind>
GAPLESS_INLINE void products(const T* left, const T* left_norms, const T* right, const T* right_norms, Index d, Sums<T>& sums) {
  if (sizeof(T) == 8 || d <= undivided_features) {
    Lanes<T> norms[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) norms[v] = load<T>(right_norms + v * lanes<T>);
    begin<T, kind>(left_norms, norms, sums);
    add_features<T, kind == Kind::laplacian>(left, right, d, sums);
    return;
  }
  constexpr Kind like = kind == Kind::rbf || kind == Kind::laplacian ? kind : Kind::linear;
  Sums<T> found;
  long_products<T, like>(left, left_norms, right, right_norms, d, found);
#pragma GCC unroll 16
  for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums.at[r][v] = found.at[r][v];
}

// Calls use(row, vector, entries) for each vector of entries of a tile; row and vector are constants after unrolling.
template <class T, Kind kind, class Use>
GAPLESS_INLINE void entries(const Formula<T>& formula, Sums<T>& sums, const Use& use) {
  const PowerOfTwo<T>* power = power_constants<T>();
#pragma GCC unroll 16
  for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) use(r, v, profile<T, kind>(formula, power, sums.at[r][v]));
}

GAPLESS_INLINE void add_lanes(double* to, const double* from, int n) {
  for (int k = 0; k < n; ++k) to[k] += from[k];
}

template <class T, Kind kind>
void sum(const Formula<T>& formula, Packed<T> left, const T* c, Index left_panels, Packed<T> right, Index right_panels,
         double* out) {
  const Index d = formula.d;
  for (Index p = 0; p < right_panels; ++p) {
    Lanes<double, T> totals[vectors] = {};
    for (Index q = 0; q < left_panels; ++q) {
      Sums<T> sums;
      products<T, kind>(left.values + q * tile_rows * d, left.norms + q * tile_rows, right.values + p * columns<T> * d,
                        right.norms + p * columns<T>, d, sums);
      const T* weights = c + q * tile_rows;
      Lanes<T> parts[vectors] = {};
      entries<T, kind>(formula, sums, [&](int r, int v, Lanes<T> entry) { parts[v] += weights[r] * entry; });
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) totals[v] += doubled<T>(parts[v]);
    }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v)
      add_lanes(out + p * columns<T> + v * lanes<T>, reinterpret_cast<const double*>(&totals[v]), lanes<T>);
  }
}

template <class T>
void sum_two(const Formula<T>& formula, Packed<T> left, const double* c, const T* e, Index left_panels, Packed<T> right,
             Index right_panels, double* out_c, double* out_e) {
  constexpr Kind kind = Kind::rbf;
  const Index d = formula.d;
  for (Index p = 0; p < right_panels; ++p) {
    Lanes<double, T> first[vectors] = {}, second[vectors] = {};
    for (Index q = 0; q < left_panels; ++q) {
      Sums<T> sums;
      products<T, kind>(left.values + q * tile_rows * d, left.norms + q * tile_rows, right.values + p * columns<T> * d,
                        right.norms + p * columns<T>, d, sums);
      const double* weights = c + q * tile_rows;
      const T* others = e + q * tile_rows;
      Lanes<T> parts[vectors] = {};
      entries<T, kind>(formula, sums, [&](int r, int v, Lanes<T> entry) {
        first[v] += weights[r] * doubled<T>(entry);
        parts[v] += others[r] * entry;
      });
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) second[v] += doubled<T>(parts[v]);
    }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      add_lanes(out_c + p * columns<T> + v * lanes<T>, reinterpret_cast<const double*>(&first[v]), lanes<T>);
      add_lanes(out_e + p * columns<T> + v * lanes<T>, reinterpret_cast<const double*>(&second[v]), lanes<T>);
    }
  }
}

template <class T, Kind kind>
void sum_both(const Formula<T>& formula, Packed<T> left, const T* c, Index left_panels, Packed<T> right, const T* e,
              Index right_panels, double* out, double* out_left) {
  const Index d = formula.d;
  for (Index p = 0; p < right_panels; ++p) {
    Lanes<T> others[vectors];
    Lanes<double, T> totals[vectors] = {};
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) others[v] = load<T>(e + p * columns<T> + v * lanes<T>);
    for (Index q = 0; q < left_panels; ++q) {
      Sums<T> sums;
      products<T, kind>(left.values + q * tile_rows * d, left.norms + q * tile_rows, right.values + p * columns<T> * d,
                        right.norms + p * columns<T>, d, sums);
      const T* weights = c + q * tile_rows;
      double* rows = out_left + q * tile_rows * lanes<T>;
      const PowerOfTwo<T>* power = power_constants<T>();
      Lanes<T> parts[vectors] = {};
#pragma GCC unroll 16
      for (int r = 0; r < tile_rows; ++r) {
        Lanes<T> across = {};
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) {
          const Lanes<T> entry = profile<T, kind>(formula, power, sums.at[r][v]);
          parts[v] += weights[r] * entry;
          across += others[v] * entry;
        }
        Lanes<double, T> row;
        std::memcpy(&row, rows + r * lanes<T>, sizeof(row));
        row += doubled<T>(across);
        std::memcpy(rows + r * lanes<T>, &row, sizeof(row));
      }
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) totals[v] += doubled<T>(parts[v]);
    }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v)
      add_lanes(out + p * columns<T> + v * lanes<T>, reinterpret_cast<const double*>(&totals[v]), lanes<T>);
  }
}

template <class T, Kind kind>
void tile(const Formula<T>& formula, Packed<T> left, Index rows, Packed<T> right, Index width, T* out, Index stride) {
  const Index d = formula.d;
  for (Index j = 0; j < width; j += columns<T>) {
    for (Index i = 0; i < rows; i += tile_rows) {
      Sums<T> sums;
      products<T, kind>(left.values + i * d, left.norms + i, right.values + j * d, right.norms + j, d, sums);
      // Full tiles and tiles at an edge share one copy of the profile's code: the compiler could contract two copies differently, and an entry must
      // have the same bits wherever it is in a tile.
      T* to = out + i * stride + j;
      T edge[tile_rows * columns<T>];
      const bool full = rows - i >= tile_rows && width - j >= columns<T>;
      T* const at = full ? to : edge;
      const Index step = full ? stride : columns<T>;
      entries<T, kind>(formula, sums, [&](int r, int v, Lanes<T> entry) { store<T>(at + r * step + v * lanes<T>, entry); });
      if (full) continue;
      const Index tall = rows - i < tile_rows ? rows - i : tile_rows, wide = width - j < columns<T> ? width - j : columns<T>;
      for (Index r = 0; r < tall; ++r)
        for (Index h = 0; h < wide; ++h) to[r * stride + h] = edge[r * columns<T> + h];
    }
  }
}

template <class T>
void multiply(const T* weights, Index panels, const T* entries, Index n, double* out) {
  for (Index q = 0; q < panels; ++q) {
    Sums<T> sums;
    begin<T, Kind::linear>(nullptr, nullptr, sums);
    add_features<T, false>(weights + q * tile_rows * n, entries, n, sums);
    double* to = out + q * tile_rows * columns<T>;
#pragma GCC unroll 16
    for (int r = 0; r < tile_rows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        Lanes<double, T> total;
        double* at = to + r * columns<T> + v * lanes<T>;
        std::memcpy(&total, at, sizeof(total));
        total += doubled<T>(sums.at[r][v]);
        std::memcpy(at, &total, sizeof(total));
      }
  }
}

// Calls the loop that is compiled for the formula's kind.
template <class T>
void any_sum(const Formula<T>& f, Packed<T> left, const T* c, Index left_panels, Packed<T> right, Index right_panels, double* out) {
  switch (f.kind) {
    case Kind::rbf: return sum<T, Kind::rbf>(f, left, c, left_panels, right, right_panels, out);
    case Kind::laplacian: return sum<T, Kind::laplacian>(f, left, c, left_panels, right, right_panels, out);
    case Kind::polynomial: return sum<T, Kind::polynomial>(f, left, c, left_panels, right, right_panels, out);
    case Kind::sigmoid: return sum<T, Kind::sigmoid>(f, left, c, left_panels, right, right_panels, out);
    default: return sum<T, Kind::linear>(f, left, c, left_panels, right, right_panels, out);
  }
}

template <class T>
void any_both(const Formula<T>& f, Packed<T> left, const T* c, Index left_panels, Packed<T> right, const T* e,
              Index right_panels, double* out, double* out_left) {
  switch (f.kind) {
    case Kind::rbf: return sum_both<T, Kind::rbf>(f, left, c, left_panels, right, e, right_panels, out, out_left);
    case Kind::laplacian: return sum_both<T, Kind::laplacian>(f, left, c, left_panels, right, e, right_panels, out, out_left);
    case Kind::polynomial: return sum_both<T, Kind::polynomial>(f, left, c, left_panels, right, e, right_panels, out, out_left);
    case Kind::sigmoid: return sum_both<T, Kind::sigmoid>(f, left, c, left_panels, right, e, right_panels, out, out_left);
    default: return sum_both<T, Kind::linear>(f, left, c, left_panels, right, e, right_panels, out, out_left);
  }
}

template <class T>
void any_tile(const Formula<T>& f, Packed<T> left, Index rows, Packed<T> right, Index width, T* out, Index stride) {
  switch (f.kind) {
    case Kind::rbf: return tile<T, Kind::rbf>(f, left, rows, right, width, out, stride);
    case Kind::laplacian: return tile<T, Kind::laplacian>(f, left, rows, right, width, out, stride);
    case Kind::polynomial: return tile<T, Kind::polynomial>(f, left, rows, right, width, out, stride);
    case Kind::sigmoid: return tile<T, Kind::sigmoid>(f, left, rows, right, width, out, stride);
    default: return tile<T, Kind::linear>(f, left, rows, right, width, out, stride);
  }
}

template <class T>
constexpr DenseLoops<T> loops = {tile_rows,   columns<T>,  any_sum<T>,  sum_two<T>,
                                 any_both<T>, any_tile<T>, multiply<T>, lanes<T>};

}  // namespace

extern const DenseTable dense_table = {loops<float>, loops<double>};

}  // namespace gapless::GAPLESS_LEVEL
