#include "core/distinct.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/cancel.hpp"
#include "core/pool.hpp"

namespace gapless {
namespace {

using Key = std::uint64_t;

constexpr Index block = 1024;  // samples of a piece of work, and between two calls of listen(): some 10 to 100 µs of hashing

// The next key of a chain, with the bits of a number mixed in; the sum with 0.0 turns −0 into 0.
Key mix(Key key, double number) {
  key ^= std::bit_cast<Key>(number + 0.0);
  key *= 0x9E3779B97F4A7C15u;  // 2⁶⁴ over the golden ratio, odd: Knuth's multiplicative hash
  return key ^ (key >> 29);
}

template <class T>
Key key_of(const DenseRows<T>& rows, Index i, Key start) {
  const T* x = rows.row(i);
  Key keys[4] = {start, start + 1, start + 2, start + 3};  // four chains, whose multiplications do not wait for each other
  Index j = 0;
  for (; j + 4 <= rows.d; j += 4)
    for (int h = 0; h < 4; ++h) keys[h] = mix(keys[h], static_cast<double>(x[j + h]));
  for (int h = 0; j < rows.d; ++j, ++h) keys[h] = mix(keys[h], static_cast<double>(x[j]));
  Key out = keys[0];
  for (int h = 1; h < 4; ++h) out = mix(out, 0.0) ^ keys[h];
  return mix(out, 0.0);
}
template <class R>
Key key_of(const R& rows, Index i, Key key) {
  for (Index k = rows.indptr[i]; k < rows.indptr[i + 1]; ++k)
    key = mix(mix(key, static_cast<double>(rows.indices[k])), rows.value(k));
  return key;
}

template <class T>
bool equal(const DenseRows<T>& rows, Index i, Index j) {
  return std::equal(rows.row(i), rows.row(i) + rows.d, rows.row(j));
}
template <class R>
bool equal(const R& rows, Index i, Index j) {
  const Index a = rows.indptr[i], b = rows.indptr[j], length = rows.indptr[i + 1] - a;
  if (rows.indptr[j + 1] - b != length) return false;
  for (Index k = 0; k < length; ++k)
    if (rows.indices[a + k] != rows.indices[b + k] || rows.value(a + k) != rows.value(b + k)) return false;
  return true;
}

template <class R>
std::vector<Index> distinct(const R& rows, const double* y, const Index* groups, Index n, Index* which) {
  std::vector<Key> keys(static_cast<std::size_t>(n));
  share((n + block - 1) / block, [&](Index piece, int) {
    for (Index i = piece * block; i < std::min(n, (piece + 1) * block); ++i)
      keys[i] = key_of(rows, i, mix(static_cast<Key>(groups[i] + 1), y[i]));
  });

  // An open-addressing hash table of kinds, at most half full; −1 marks a free place.
  const std::size_t places = std::bit_ceil(static_cast<std::size_t>(2 * n + 1));
  std::vector<Index> table(places, -1), first;
  for (Index i = 0; i < n; ++i) {
    if (i % block == 0) listen();
    for (std::size_t place = keys[i] & (places - 1);; place = (place + 1) & (places - 1)) {
      const Index kind = table[place];
      if (kind < 0) {
        which[i] = table[place] = static_cast<Index>(first.size());
        first.push_back(i);
        break;
      }
      const Index j = first[kind];
      if (keys[i] == keys[j] && y[i] == y[j] && groups[i] == groups[j] && equal(rows, i, j)) {
        which[i] = kind;
        break;
      }
    }
  }
  return first;
}

}  // namespace

std::vector<Index> distinct_samples(const Rows& all, const double* y, const Index* groups, Index n, Index* which) {
  return std::visit([&](const auto& rows) { return distinct(rows, y, groups, n, which); }, all);
}

}  // namespace gapless
