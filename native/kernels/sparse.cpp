// Kernels that are functions of ⟨x, z⟩ or ‖x − z‖², on sparse rows: blocks of left rows as dense columns, and the calls of the loops in
// sparse.isa.cpp.
#include "kernels/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/node.hpp"
#include "kernels/plan.hpp"

namespace gapless {
namespace {

using Kind = Expression::Kind;

// Features up to which a block of 128 rows holds a column for each: 256 KiB of bytes, 1 MiB of float32. With more, it holds only those that its rows
// have.
constexpr Index few_features = 2048;
constexpr Index turned = 32;  // right rows whose entries are transposed at a time: 16 KiB in float32, in the innermost cache

// The stored entries of some rows in precision T. Arrays that have the right type and order already are not copied.
template <class T>
struct SparseSide : Side {
  SparseRight<T> view{};
  bool ones = true;      // whether all values are one
  bool whole = true;     // whether all values are whole numbers
  Index longest = 0;     // the most stored entries of a row
  double largest = 0.0;  // the largest ‖x‖²
  std::vector<T> values, norms;
  std::vector<std::uint32_t> indices;
  std::vector<Index> begins, ends;
};

// A block of left rows in the scratch of one thread.
template <class T>
struct BlockRoom {
  std::vector<T> columns;
  std::vector<std::uint8_t> counts;
  std::vector<std::uint32_t> slots, features;  // the features of slots 1, 2, …
  std::vector<T> norms = std::vector<T>(static_cast<std::size_t>(block_rows));
};

template <class T>
class Sparse final : public Node<T> {
 public:
  Sparse(const Expression& kernel, const Samples& X)
      : loops_(sparse_table().of<T>()),
        formula_{kernel.kind, static_cast<T>(kernel.gamma), static_cast<T>(kernel.coef0), kernel.degree, X.features()} {
    if (kernel.kind == Kind::rbf) {
      norm_scale_ = -kernel.gamma * std::numbers::log2e;
      formula_.gamma = static_cast<T>(-2.0 * norm_scale_);
    }
  }

  Index left_grain() const override { return block_rows; }
  Index right_grain() const override { return 2 * block_rows; }  // so many right rows read a block that making it pays
  Index left_rows() const override { return Index(1) << 40; }    // no bound: left rows are taken block by block in any case

  std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const override {
    auto side = std::make_unique<SparseSide<T>>();
    std::visit([&](const auto& x) { gather(x, X.chosen, chosen, *side); }, X.rows);
    return side;
  }
  std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const override { return right(X, chosen); }

  void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride, Room<T>& room,
            int depth) const override {
    T* part = room.tile(turned * block_rows, depth);
    const auto& rows = static_cast<const SparseSide<T>&>(right);
    each_block(left, i0, i1, rows, [&](Index at, Index n, const SparseLeft<T>& block) {
      for (Index j = j0; j < j1; j += turned) {
        const Index wide = std::min(turned, j1 - j);
        loops_.tile(formula_, block, rows.view, j, j + wide, part);
        T* to = out + (at - i0) * stride + (j - j0);
        for (Index i = 0; i < n; ++i)
          for (Index h = 0; h < wide; ++h) to[i * stride + h] = part[h * block_rows + i];
      }
    });
  }

  void sum(const Side& left, Index i0, Index i1, const double* c, const Side& right, Index j0, Index j1, double* out, Room<T>&,
           int) const override {
    const auto& rows = static_cast<const SparseSide<T>&>(right);
    each_block(left, i0, i1, rows, [&](Index at, Index n, const SparseLeft<T>& block) {
      T weights[block_rows] = {};
      for (Index i = 0; i < n; ++i) weights[i] = static_cast<T>(c[at + i]);
      loops_.sum(formula_, block, weights, rows.view, j0, j1, out);
    });
  }

  void sum_two(const Side& left, Index i0, Index i1, const double* c, const double* e, const Side& right, Index j0, Index j1,
               double* out_c, double* out_e, Room<T>& room) const override {
    if (formula_.kind != Kind::rbf) return Node<T>::sum_two(left, i0, i1, c, e, right, j0, j1, out_c, out_e, room);
    const auto& rows = static_cast<const SparseSide<T>&>(right);
    each_block(left, i0, i1, rows, [&](Index at, Index n, const SparseLeft<T>& block) {
      double first[block_rows] = {}, second[block_rows] = {};
      std::copy(c + at, c + at + n, first);
      std::copy(e + at, e + at + n, second);
      loops_.sum_two(formula_, block, first, second, rows.view, j0, j1, out_c, out_e);
    });
  }

  void sum_both(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, const double* c, double* out,
                Room<T>& room) const override {
    T* part = room.tile(turned * block_rows, 0);
    const auto& rows = static_cast<const SparseSide<T>&>(right);
    each_block(left, i0, i1, rows, [&](Index at, Index n, const SparseLeft<T>& block) {
      double weights[block_rows] = {}, across[block_rows] = {};
      std::copy(c + at, c + at + n, weights);
      for (Index j = j0; j < j1; j += turned) {
        const Index wide = std::min(turned, j1 - j);
        loops_.tile(formula_, block, rows.view, j, j + wide, part);
        for (Index h = 0; h < wide; ++h) {
          const T* entries = part + h * block_rows;
          double sums[4] = {};
          for (Index i = 0; i < block_rows; i += 4)
            for (Index k = 0; k < 4; ++k) {
              const double entry = static_cast<double>(entries[i + k]);
              sums[k] += weights[i + k] * entry;
              across[i + k] += c[j + h] * entry;
            }
          out[j + h] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
      }
      for (Index i = 0; i < n; ++i) out[at + i] += across[i];
    });
  }

  bool is_costly(const Samples& X) const override {
    return stored_entries(X) > costly_entries * static_cast<double>(X.size());
  }
  bool has_rounding() const override { return formula_.kind == Kind::rbf; }

  // The norms are 1 + γ‖x‖²: those of the gathered rows are in binary logarithms.
  Rounding rounding(const Side& any, Index n) const override {
    const auto& side = static_cast<const SparseSide<T>&>(any);
    Rounding found;
    found.norms.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)
      found.norms[static_cast<std::size_t>(i)] = 1.0 - std::numbers::ln2 * static_cast<double>(side.view.norms[i]);
    const bool exact = side.whole && side.largest < 8388608.0;  // below 2²³ products of whole numbers and their sums are exact in float32
    found.terms = exact ? 3 : side.longest + 3;
    return found;
  }

 private:
  template <class Source>
  void gather(const Source& x, const Chosen& own, const Chosen& chosen, SparseSide<T>& side) const {
    if constexpr (Source::is_sparse) {
      const std::size_t n = static_cast<std::size_t>(chosen.n);
      side.begins.resize(n);
      side.ends.resize(n);
      side.norms.resize(n);
      const bool run = own.places == nullptr && chosen.places == nullptr;
      Index stored = 0;
      for (Index i = 0; i < chosen.n; ++i) {
        const Index row = own[chosen[i]], begin = x.indptr[row], length = x.indptr[row + 1] - begin;
        side.begins[static_cast<std::size_t>(i)] = run ? begin : stored;
        side.ends[static_cast<std::size_t>(i)] = (run ? begin : stored) + length;
        stored += length;
        side.longest = std::max(side.longest, length);
        for (Index k = begin; k < begin + length; ++k) {
          const double value = x.value(k);
          side.ones = side.ones && value == 1.0;
          side.whole = side.whole && value == std::rint(value);
        }
        const double norm = x.square(row);
        side.largest = std::max(side.largest, norm);
        side.norms[static_cast<std::size_t>(i)] = static_cast<T>(norm_scale_ * norm);
      }
      side.view.indices = x.indices;
      if (!run) {
        side.indices.reserve(static_cast<std::size_t>(stored));
        for (Index i = 0; i < chosen.n; ++i) {
          const Index row = own[chosen[i]];
          side.indices.insert(side.indices.end(), x.indices + x.indptr[row], x.indices + x.indptr[row + 1]);
        }
        side.view.indices = side.indices.data();
      }
      if (!side.ones) {
        side.values.reserve(static_cast<std::size_t>(stored));
        for (Index i = 0; i < chosen.n; ++i) {
          const Index row = own[chosen[i]];
          for (Index k = x.indptr[row]; k < x.indptr[row + 1]; ++k) side.values.push_back(static_cast<T>(x.value(k)));
        }
        const Index first = run && chosen.n > 0 ? side.begins[0] : 0;
        side.view.values = side.values.data() - first;
      }
    } else {
      // Dense rows, given beside sparse ones, are turned into sparse rows.
      for (Index i = 0; i < chosen.n; ++i) {
        const auto* row = x.row(own[chosen[i]]);
        double norm = 0.0;
        side.begins.push_back(count(side.values.size()));
        for (Index k = 0; k < x.d; ++k) {
          const double value = static_cast<double>(row[k]);
          if (value == 0.0) continue;
          side.values.push_back(static_cast<T>(value));
          side.indices.push_back(static_cast<std::uint32_t>(k));
          side.whole = side.whole && value == std::rint(value);
          norm += value * value;
        }
        side.ends.push_back(count(side.values.size()));
        side.longest = std::max(side.longest, side.ends.back() - side.begins.back());
        side.largest = std::max(side.largest, norm);
        side.norms.push_back(static_cast<T>(norm_scale_ * norm));
      }
      side.ones = false;
      side.view.values = side.values.data();
      side.view.indices = side.indices.data();
    }
    side.view.begins = side.begins.data();
    side.view.ends = side.ends.data();
    side.view.norms = side.norms.data();
  }

  // Calls use(first row, number of rows, block) for each block of the left rows from i0 to i1.
  template <class Use>
  void each_block(const Side& any, Index i0, Index i1, const SparseSide<T>& right, const Use& use) const {
    const auto& left = static_cast<const SparseSide<T>&>(any);
    thread_local BlockRoom<T> room;
    const bool count_ones = left.ones && right.ones && std::min(left.longest, right.longest) <= most_counted;
    for (Index at = i0; at < i1; at += block_rows) {
      const Index n = std::min(block_rows, i1 - at);
      use(at, n, make_block(left, at, n, count_ones, room));
    }
  }

  SparseLeft<T> make_block(const SparseSide<T>& left, Index at, Index n, bool count_ones, BlockRoom<T>& room) const {
    const SparseRight<T>& rows = left.view;
    const bool all = formula_.d <= few_features;
    if (!all) {
      room.slots.resize(static_cast<std::size_t>(formula_.d), 0);
      for (const std::uint32_t feature : room.features) room.slots[feature] = 0;
      room.features.clear();
      for (Index i = at; i < at + n; ++i)
        for (Index k = rows.begins[i]; k < rows.ends[i]; ++k) {
          std::uint32_t& slot = room.slots[rows.indices[k]];
          if (slot != 0) continue;
          room.features.push_back(rows.indices[k]);
          slot = static_cast<std::uint32_t>(room.features.size());
        }
    }
    const std::size_t places = static_cast<std::size_t>((all ? formula_.d : count(room.features.size()) + 1) * block_rows);
    const std::uint32_t* slots = all ? nullptr : room.slots.data();
    if (count_ones)
      room.counts.assign(places, 0);
    else
      room.columns.assign(places, T(0));
    for (Index i = 0; i < block_rows; ++i) room.norms[static_cast<std::size_t>(i)] = i < n ? rows.norms[at + i] : T(0);
    for (Index i = at; i < at + n; ++i)
      for (Index k = rows.begins[i]; k < rows.ends[i]; ++k) {
        const std::size_t slot = slots ? slots[rows.indices[k]] : rows.indices[k];
        const std::size_t place = slot * static_cast<std::size_t>(block_rows) + static_cast<std::size_t>(i - at);
        if (count_ones)
          ++room.counts[place];
        else
          room.columns[place] += rows.values ? rows.values[k] : T(1);
      }
    return {room.columns.data(), count_ones ? room.counts.data() : nullptr, slots, room.norms.data(), n};
  }

  const SparseLoops<T>& loops_;
  Formula<T> formula_;
  double norm_scale_ = 0.0;
};

}  // namespace

template <class T>
std::unique_ptr<Node<T>> make_sparse(const Expression& kernel, const Samples& X) {
  return std::make_unique<Sparse<T>>(kernel, X);
}

template std::unique_ptr<Node<float>> make_sparse<float>(const Expression&, const Samples&);
template std::unique_ptr<Node<double>> make_sparse<double>(const Expression&, const Samples&);

}  // namespace gapless
