// Weighted Gram matrices of dense rows, tile by tile (gram.hpp).
#include "newton/gram.hpp"

#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

template <class T>
constexpr int width = lanes<T>;
// The rows of a tile, and its strips beside each other: rows times strips are the registers with sums, 16 of 32 for AVX-512, 8 of 16 for AVX.
template <class T>
constexpr int tall = width<T> < (vector_bytes == 64 ? 8 : 4) ? width<T> : (vector_bytes == 64 ? 8 : 4);
template <class T>
constexpr int beside = vector_bytes == 16 && sizeof(T) == 8 ? 4 : 2;

GAPLESS_INLINE Lanes<double> load_as(const double* from, double) { return load(from); }
GAPLESS_INLINE Lanes<double> load_as(const float* from, double) { return load64(from); }
GAPLESS_INLINE Lanes<float> load_as(const float* from, float) { return load(from); }

template <class T>
GAPLESS_INLINE void store(const Lanes<T>& value, T* to) { std::memcpy(to, &value, sizeof(value)); }

// The last strip of a row has fewer entries than a strip is wide; after them comes the one of a = (x, 1), and zeros.
template <class T>
struct LastStrip {
  Lanes<T> places{}, filling{};
  T entries;

  GAPLESS_INLINE LastStrip(Index d, Index columns) : entries(static_cast<T>(d % width<T>)) {
    T numbers[width<T>], fill[width<T>];
    for (int h = 0; h < width<T>; ++h) {
      numbers[h] = static_cast<T>(h);
      fill[h] = static_cast<T>(columns > d && h == d % width<T>);
    }
    std::memcpy(&places, numbers, sizeof(places));
    std::memcpy(&filling, fill, sizeof(filling));
  }
  GAPLESS_INLINE Lanes<T> of(const Lanes<T>& beginning) const { return places < entries ? beginning : filling; }
};

// Writes row i of X as T to `plain`, and times its weight to `weighted`. The entries of one strip are side by side, and the same row's entries of the
// next strip gram_depth · width numbers further.
template <class T, class S>
GAPLESS_INLINE void pack(const DenseRows<S>& rows, Index i, double weight, const LastStrip<T>& last, Index padded, T* plain,
                         T* weighted) {
  constexpr int w = width<T>;
  const S* x = rows.row(i);
  const T scale = static_cast<T>(weight);
  const Index d = rows.d;
  Index j = 0, place = 0;
  const auto put = [&](const Lanes<T>& value) {
    store<T>(value, plain + place);
    store<T>(scale * value, weighted + place);
  };
  for (; j + w <= d; j += w, place += gram_depth * w) put(load_as(x + j, T{}));
  if (j == padded) return;
  if (x + j + w <= rows.values + rows.n * d) {  // the load reads into the next row; last.of() drops these entries
    put(last.of(load_as(x + j, T{})));
  } else {
    S rest[w] = {};
    for (Index h = 0; h < d - j; ++h) rest[h] = x[j + h];
    put(last.of(load_as(rest, T{})));
  }
}

// The same for a sparse row.
template <class T, class R>
GAPLESS_INLINE void pack_sparse(const R& rows, Index i, double weight, Index columns, Index padded, T* plain, T* weighted) {
  constexpr int w = width<T>;
  for (Index j = 0, place = 0; j < padded; j += w, place += gram_depth * w)
    for (int h = 0; h < w; ++h) plain[place + h] = weighted[place + h] = static_cast<T>(0);
  const auto put = [&](Index j, T value) {
    const Index place = j / w * (gram_depth * w) + j % w;
    plain[place] = value;
    weighted[place] = static_cast<T>(weight) * value;
  };
  for (Index k = rows.indptr[i]; k < rows.indptr[i + 1]; ++k) put(rows.indices[k], static_cast<T>(rows.value(k)));
  if (columns > rows.d) put(rows.d, static_cast<T>(1));
}

// out[m, :] += Σ over the depth of left[·, m] · right[·, :], for `tall` rows and S strips.
template <class T, int S>
GAPLESS_INLINE void tile(const T* left, const T* right, Index depth, Index stride, double* out) {
  constexpr int w = width<T>, M = tall<T>;
  Lanes<T> sums[M][S];
  for (int m = 0; m < M; ++m)
    for (int s = 0; s < S; ++s) sums[m][s] = Lanes<T>{};
  for (Index k = 0; k < depth; ++k) {
    Lanes<T> row[S];
#pragma GCC unroll 4
    for (int s = 0; s < S; ++s) row[s] = load(right + s * (gram_depth * w) + k * w);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      const T scale = left[k * w + m];
#pragma GCC unroll 4
      for (int s = 0; s < S; ++s) sums[m][s] += scale * row[s];
    }
  }
  for (int m = 0; m < M; ++m)
    for (int s = 0; s < S; ++s)
      for (int h = 0; h < w; ++h) out[m * stride + s * w + h] += static_cast<double>(lane<T>(sums[m][s], h));
}

// Adds the tiles of the lower triangle for `depth` packed rows.
template <class T>
void triangle(const T* plain, const T* weighted, Index depth, Index padded, double* out) {
  constexpr int w = width<T>, M = tall<T>, S = beside<T>;
  const Index strips = padded / w;
  for (Index a = 0; a < strips; ++a)
    for (int part = 0; part < w; part += M) {
      const T* left = weighted + a * (gram_depth * w) + part;
      double* row = out + (a * w + part) * padded;
      Index b = 0;
      for (; b + S <= a + 1; b += S) tile<T, S>(left, plain + b * (gram_depth * w), depth, padded, row + b * w);
      for (; b <= a; ++b) tile<T, 1>(left, plain + b * (gram_depth * w), depth, padded, row + b * w);
    }
}

template <class T, class R>
void add(const void* of, const GramTask& task, Index begin, Index end, Index padded, T* room, double* out) {
  const R& rows = *static_cast<const R*>(of);
  const Index columns = rows.d + task.ones;
  [[maybe_unused]] const LastStrip<T> last(rows.d, columns);
  T* plain = room;
  T* weighted = room + gram_depth * padded;
  for (Index first = begin; first < end; first += gram_depth) {
    const Index depth = end - first < gram_depth ? end - first : gram_depth;
    for (Index k = 0; k < depth; ++k) {
      const Index i = task.chosen ? task.chosen[first + k] : first + k;
      const double weight = task.weight[first + k];
      if constexpr (R::is_sparse)
        pack_sparse(rows, i, weight, columns, padded, plain + k * width<T>, weighted + k * width<T>);
      else
        pack(rows, i, weight, last, padded, plain + k * width<T>, weighted + k * width<T>);
    }
    triangle(plain, weighted, depth, padded, out);
  }
}

}  // namespace

extern const GramLoops gram_loops = {
    width<double>,
    width<float>,
    {add<double, DenseRows<float>>, add<double, DenseRows<double>>, add<double, CsrRows<float>>,
     add<double, CsrRows<double>>, add<double, OnesRows>},
    add<float, DenseRows<float>>,
};

}  // namespace gapless::GAPLESS_LEVEL
