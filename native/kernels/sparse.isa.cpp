#include "kernels/sparse.hpp"

#include <utility>

#include "kernels/lanes.hpp"
#include "kernels/profile.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using Kind = Expression::Kind;

// The number of vectors of a block of `rows` rows, and how many of them grow in registers at a time.
template <class T, int rows>
constexpr int vectors = rows / lanes<T>;
template <class T, int rows>
constexpr int group = vectors<T, rows> < 8 ? vectors<T, rows> : 8;
template <int rows>
constexpr int byte_vectors = rows / register_bytes;

constexpr int full = static_cast<int>(block_rows), half = full / 2;
constexpr Index looked_up = 256;  // stored entries whose slots are found at a time: 1 KiB of slots, on the stack

typedef std::uint8_t Bytes __attribute__((vector_size(register_bytes)));

template <class T, int rows>
struct Block {
  Lanes<T> at[vectors<T, rows>];
};

// Writes the slots, and the values, of those stored entries from k to `end` for which the block has a column; returns their number.
template <class T, bool with_values>
GAPLESS_INLINE Index find(const SparseRight<T>& right, const std::uint32_t* slots, Index k, Index end, std::uint32_t* found, T* values) {
  Index n = 0;
  for (; k < end; ++k) {
    const std::uint32_t slot = slots[right.indices[k]];
    found[n] = slot;
    if constexpr (with_values) values[n] = right.values[k];
    n += slot != 0;
  }
  return n;
}

// sums += Σ over n stored entries of value · column, for the `group` vectors from `from` on.
template <class T, int rows, int from>
GAPLESS_INLINE void add_columns(const T* columns, const std::uint32_t* slots, const T* values, Index n, Block<T, rows>& sums) {
  Lanes<T> parts[group<T, rows>];
#pragma GCC unroll 8
  for (int u = 0; u < group<T, rows>; ++u) parts[u] = sums.at[from + u];
  for (Index k = 0; k < n; ++k) {
    const T* column = columns + static_cast<Index>(slots[k]) * block_rows + from * lanes<T>;
    const T value = values ? values[k] : T(1);
#pragma GCC unroll 8
    for (int u = 0; u < group<T, rows>; ++u) parts[u] += value * load<T>(column + u * lanes<T>);
  }
#pragma GCC unroll 8
  for (int u = 0; u < group<T, rows>; ++u) sums.at[from + u] = parts[u];
}

template <class T, int rows>
GAPLESS_INLINE void add_all_columns(const T* columns, const std::uint32_t* slots, const T* values, Index n, Block<T, rows>& sums) {
  [&]<int... part>(std::integer_sequence<int, part...>) {
    (add_columns<T, rows, part * group<T, rows>>(columns, slots, values, n, sums), ...);
  }(std::make_integer_sequence<int, vectors<T, rows> / group<T, rows>>());
}

template <int rows>
GAPLESS_INLINE void add_counts(const std::uint8_t* counts, const std::uint32_t* slots, Index n, Bytes* sums) {
  for (Index k = 0; k < n; ++k) {
    const std::uint8_t* column = counts + static_cast<Index>(slots[k]) * block_rows;
#pragma GCC unroll 4
    for (int u = 0; u < byte_vectors<rows>; ++u) {
      Bytes some;
      std::memcpy(&some, column + u * register_bytes, sizeof(some));
      sums[u] += some;
    }
  }
}

// The products ⟨x, z⟩ of right row j with every row of the block.
template <class T, int rows>
GAPLESS_INLINE void products(const SparseLeft<T>& left, const SparseRight<T>& right, Index j, Block<T, rows>& sums) {
  Index k = right.begins[j];
  const Index end = right.ends[j];
  std::uint32_t slots[looked_up];
  if (left.counts) {
    Bytes totals[byte_vectors<rows>] = {};
    if (left.slots == nullptr)
      add_counts<rows>(left.counts, right.indices + k, end - k, totals);
    else
      for (; k < end; k += looked_up) {
        const Index n = find<T, false>(right, left.slots, k, end - k < looked_up ? end : k + looked_up, slots, nullptr);
        add_counts<rows>(left.counts, slots, n, totals);
      }
    const std::uint8_t* bytes = reinterpret_cast<const std::uint8_t*>(totals);
#pragma GCC unroll 64
    for (int u = 0; u < vectors<T, rows>; ++u) sums.at[u] = from_bytes<T>(bytes + u * lanes<T>);
    return;
  }
#pragma GCC unroll 64
  for (int u = 0; u < vectors<T, rows>; ++u) sums.at[u] = Lanes<T>{};
  if (left.slots == nullptr) {
    add_all_columns<T, rows>(left.columns, right.indices + k, right.values ? right.values + k : nullptr, end - k, sums);
    return;
  }
  T values[looked_up];
  for (; k < end; k += looked_up) {
    const Index stop = end - k < looked_up ? end : k + looked_up;
    if (right.values) {
      const Index n = find<T, true>(right, left.slots, k, stop, slots, values);
      add_all_columns<T, rows>(left.columns, slots, values, n, sums);
    } else {
      const Index n = find<T, false>(right, left.slots, k, stop, slots, nullptr);
      add_all_columns<T, rows>(left.columns, slots, nullptr, n, sums);
    }
  }
}

template <class T, int rows, Kind kind, class Use>
GAPLESS_INLINE void entries(const Formula<T>& formula, const SparseLeft<T>& left, T norm, const Block<T, rows>& sums, const Use& use) {
  const PowerOfTwo<T>* power = power_constants<T>();
#pragma GCC unroll 64
  for (int u = 0; u < vectors<T, rows>; ++u) {
    Lanes<T> product = sums.at[u];
    if constexpr (kind == Kind::rbf) product = formula.gamma * product + (load<T>(left.norms + u * lanes<T>) + norm);
    use(u, profile<T, kind>(formula, power, product));
  }
}

// The sum of a vector's lanes, by adding its halves again and again.
template <class T, int n>
GAPLESS_INLINE double total(const T* lanes_of) {
  T halves[n];
  for (int k = 0; k < n; ++k) halves[k] = lanes_of[k];
  for (int half = n / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) halves[k] += halves[k + half];
  return static_cast<double>(halves[0]);
}

template <class T>
GAPLESS_INLINE double total(Lanes<T> value) {
  if constexpr (sizeof(value) == 64) {
    typedef T Half __attribute__((vector_size(32)));
    Half parts[2];
    std::memcpy(parts, &value, sizeof(value));
    const Half sum = parts[0] + parts[1];
    typedef T Quarter __attribute__((vector_size(16)));
    Quarter quarters[2];
    std::memcpy(quarters, &sum, sizeof(sum));
    const Quarter last = quarters[0] + quarters[1];
    if constexpr (sizeof(T) == 4)
      return static_cast<double>((last[0] + last[2]) + (last[1] + last[3]));
    else
      return last[0] + last[1];
  } else {
    return total<T, lanes<T>>(reinterpret_cast<const T*>(&value));
  }
}

template <class T, int rows, Kind kind>
void sum(const Formula<T>& formula, const SparseLeft<T>& left, const T* c, const SparseRight<T>& right, Index j0, Index j1,
         double* out) {
  for (Index j = j0; j < j1; ++j) {
    Block<T, rows> sums;
    products<T, rows>(left, right, j, sums);
    Lanes<T> parts[2] = {};
    entries<T, rows, kind>(formula, left, right.norms[j], sums,
                     [&](int u, Lanes<T> entry) { parts[u & 1] += load<T>(c + u * lanes<T>) * entry; });
    out[j - j0] += total<T>(parts[0] + parts[1]);
  }
}

template <class T>
void sum_two(const Formula<T>& formula, const SparseLeft<T>& left, const double* c, const double* e, const SparseRight<T>& right,
             Index j0, Index j1, double* out_c, double* out_e) {
  constexpr int rows = full;
  for (Index j = j0; j < j1; ++j) {
    Block<T, rows> sums;
    products<T, rows>(left, right, j, sums);
    Lanes<double, T> first = {}, second = {};
    entries<T, rows, Kind::rbf>(formula, left, right.norms[j], sums, [&](int u, Lanes<T> entry) {
      const Lanes<double, T> exact = doubled<T>(entry);
      Lanes<double, T> one, two;
      std::memcpy(&one, c + u * lanes<T>, sizeof(one));
      std::memcpy(&two, e + u * lanes<T>, sizeof(two));
      first += one * exact;
      second += two * exact;
    });
    out_c[j - j0] += total<double, lanes<T>>(reinterpret_cast<const double*>(&first));
    out_e[j - j0] += total<double, lanes<T>>(reinterpret_cast<const double*>(&second));
  }
}

template <class T, Kind kind>
void tile(const Formula<T>& formula, const SparseLeft<T>& left, const SparseRight<T>& right, Index j0, Index j1, T* out) {
  constexpr int rows = full;
  for (Index j = j0; j < j1; ++j) {
    Block<T, rows> sums;
    products<T, rows>(left, right, j, sums);
    T* to = out + (j - j0) * block_rows;
    entries<T, rows, kind>(formula, left, right.norms[j], sums, [&](int u, Lanes<T> entry) { store<T>(to + u * lanes<T>, entry); });
  }
}

template <class T, Kind kind>
void any_rows(const Formula<T>& f, const SparseLeft<T>& left, const T* c, const SparseRight<T>& right, Index j0, Index j1, double* out) {
  if (left.rows <= half)
    sum<T, half, kind>(f, left, c, right, j0, j1, out);
  else
    sum<T, full, kind>(f, left, c, right, j0, j1, out);
}

template <class T>
void any_sum(const Formula<T>& f, const SparseLeft<T>& left, const T* c, const SparseRight<T>& right, Index j0, Index j1, double* out) {
  switch (f.kind) {
    case Kind::rbf: return any_rows<T, Kind::rbf>(f, left, c, right, j0, j1, out);
    case Kind::polynomial: return any_rows<T, Kind::polynomial>(f, left, c, right, j0, j1, out);
    case Kind::sigmoid: return any_rows<T, Kind::sigmoid>(f, left, c, right, j0, j1, out);
    default: return any_rows<T, Kind::linear>(f, left, c, right, j0, j1, out);
  }
}

template <class T>
void any_tile(const Formula<T>& f, const SparseLeft<T>& left, const SparseRight<T>& right, Index j0, Index j1, T* out) {
  switch (f.kind) {
    case Kind::rbf: return tile<T, Kind::rbf>(f, left, right, j0, j1, out);
    case Kind::polynomial: return tile<T, Kind::polynomial>(f, left, right, j0, j1, out);
    case Kind::sigmoid: return tile<T, Kind::sigmoid>(f, left, right, j0, j1, out);
    default: return tile<T, Kind::linear>(f, left, right, j0, j1, out);
  }
}

template <class T>
constexpr SparseLoops<T> loops = {any_sum<T>, sum_two<T>, any_tile<T>};

}  // namespace

extern const SparseTable sparse_table = {loops<float>, loops<double>};

}  // namespace gapless::GAPLESS_LEVEL
