// Entries of a given Gram matrix, and entries that are computed outside of this core, block by block.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/runs.hpp"
#include "kernels/node.hpp"

namespace gapless {
namespace {

struct Named : Side {
  const void* matrix = nullptr;
  std::vector<Index> places;  // rows of that matrix, or of the table
  std::vector<Index> ends;    // for a table: for each place the end of its run of consecutive places (core/runs.hpp)
};

std::unique_ptr<Side> named(const Samples& X, Chosen chosen) {
  auto side = std::make_unique<Named>();
  side->matrix = X.matrix;
  side->places.resize(static_cast<std::size_t>(chosen.n));
  for (Index i = 0; i < chosen.n; ++i) side->places[static_cast<std::size_t>(i)] = X.chosen[chosen[i]];
  return side;
}

// A given Gram matrix. Samples have one feature, the row of that matrix which is theirs.
template <class T>
class Lookup final : public Node<T> {
 public:
  explicit Lookup(const Table& table) : table_(table) {}

  std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const override {
    auto side = named(X, chosen);
    std::visit(
        [&](const auto& x) {
          for (Index& place : static_cast<Named&>(*side).places) {
            double value = 0.0;
            x.add(place, 1.0, &value);
            // Whoever owns X may have written to it since it was checked.
            if (!(value >= 0.0 && value < static_cast<double>(table_.n)))
              throw std::invalid_argument("X must hold indices of the Gram matrix, 0 to " + std::to_string(table_.n - 1) + "; it was changed.");
            place = static_cast<Index>(value);
          }
        },
        X.rows);
    return side;
  }
  std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const override {
    auto side = left(X, chosen);
    Named& names = static_cast<Named&>(*side);
    names.ends = run_ends(names.places);
    return side;
  }

  void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride, Room<T>&,
            int) const override {
    if (table_.single)
      copy<float>(static_cast<const Named&>(left), i0, i1, static_cast<const Named&>(right), j0, j1, out, stride);
    else
      copy<double>(static_cast<const Named&>(left), i0, i1, static_cast<const Named&>(right), j0, j1, out, stride);
  }

  void sum(const Side& left, Index i0, Index i1, const double* c, const Side& right, Index j0, Index j1, double* out, Room<T>&,
           int) const override {
    if (table_.single)
      add<float>(static_cast<const Named&>(left), i0, i1, c, static_cast<const Named&>(right), j0, j1, out);
    else
      add<double>(static_cast<const Named&>(left), i0, i1, c, static_cast<const Named&>(right), j0, j1, out);
  }

  bool is_costly(const Samples&) const override { return false; }

 private:
  // Adds the sums straight from the table, without a tile, run by run.
  template <class S>
  void add(const Named& left, Index i0, Index i1, const double* c, const Named& right, Index j0, Index j1, double* out) const {
    const Index step = table_.column_stride;
    for (Index i = i0; i < i1; ++i) {
      const S* const row = static_cast<const S*>(table_.data) + left.places[static_cast<std::size_t>(i)] * table_.row_stride;
      const double weight = c[i];
      for (Index j = j0; j < j1;) {
        const Index end = std::min(right.ends[static_cast<std::size_t>(j)], j1);
        const S* const from = row + right.places[static_cast<std::size_t>(j)] * step;
        double* const to = out + (j - j0);
        if (step == 1)
          for (Index k = 0; k < end - j; ++k) to[k] += weight * static_cast<double>(from[k]);
        else
          for (Index k = 0; k < end - j; ++k) to[k] += weight * static_cast<double>(from[k * step]);
        j = end;
      }
    }
  }

  template <class S>
  void copy(const Named& left, Index i0, Index i1, const Named& right, Index j0, Index j1, T* out, Index stride) const {
    for (Index i = i0; i < i1; ++i) {
      const S* row = static_cast<const S*>(table_.data) + left.places[static_cast<std::size_t>(i)] * table_.row_stride;
      const Index step = table_.column_stride;
      for (Index j = j0; j < j1;) {
        const Index end = std::min(right.ends[static_cast<std::size_t>(j)], j1);
        const S* const from = row + right.places[static_cast<std::size_t>(j)] * step;
        T* const to = out + (i - i0) * stride + (j - j0);
        if (step == 1)
          for (Index k = 0; k < end - j; ++k) to[k] = static_cast<T>(from[k]);
        else
          for (Index k = 0; k < end - j; ++k) to[k] = static_cast<T>(from[k * step]);
        j = end;
      }
    }
  }

  Table table_;
};

// A kernel that is computed outside (Block).
template <class T>
class Foreign final : public Node<T> {
 public:
  explicit Foreign(std::shared_ptr<const Block> block) : block_(std::move(block)) {}

  // Tiles are large, since each costs a call of Python: 65,536 entries take longer than the call.
  Index left_grain() const override { return 256; }
  Index right_grain() const override { return 256; }

  std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const override { return named(X, chosen); }
  std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const override { return named(X, chosen); }

  void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride, Room<T>&,
            int) const override {
    const auto& one = static_cast<const Named&>(left);
    const auto& two = static_cast<const Named&>(right);
    const Index tall = i1 - i0, wide = j1 - j0;
    const auto part = [](const Named& side, Index begin, Index n) {
      return Places(side.places.data() + begin, static_cast<std::size_t>(n));
    };
    std::vector<double> entries(static_cast<std::size_t>(tall * wide));
    block_->fill(one.matrix, part(one, i0, tall), two.matrix, part(two, j0, wide), {entries.data(), tall, wide, wide});
    for (Index i = 0; i < tall; ++i)
      for (Index j = 0; j < wide; ++j) out[i * stride + j] = static_cast<T>(entries[static_cast<std::size_t>(i * wide + j)]);
  }

 private:
  std::shared_ptr<const Block> block_;
};

}  // namespace

template <class T>
std::unique_ptr<Node<T>> make_given(const Expression& kernel) {
  if (kernel.kind == Expression::Kind::table) return std::make_unique<Lookup<T>>(kernel.table);
  return std::make_unique<Foreign<T>>(kernel.block);
}

template std::unique_ptr<Node<float>> make_given<float>(const Expression&);
template std::unique_ptr<Node<double>> make_given<double>(const Expression&);

}  // namespace gapless
