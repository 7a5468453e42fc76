// Kernels that are functions of ⟨x, z⟩, ‖x − z‖² or ‖x − z‖₁, on dense rows: the packing of rows, and the calls of the loops in dense.isa.cpp.
#include "kernels/dense.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>

#include "core/pool.hpp"
#include "kernels/node.hpp"
#include "kernels/plan.hpp"
#include "kernels/transpose.hpp"

namespace gapless {
namespace {

using Kind = Expression::Kind;

constexpr Index left_bytes = 256 << 10;  // packed left rows of a tile's sum: half of a second cache of 512 KiB, so that they stay in it
constexpr Index packed_at_once = 64;     // features that are packed at a time: 16 rows of them in float64 are 8 KiB, and stay in the innermost cache
constexpr Index few_values = 1 << 18;    // numbers up to which packing takes some 0.1 ms, and is not worth a second thread

template <class T>
class Aligned {
 public:
  explicit Aligned(Index n) : data_(static_cast<T*>(::operator new(static_cast<std::size_t>(n) * sizeof(T), line))) {}
  T* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t line{64};
  struct Free {
    void operator()(T* p) const { ::operator delete(p, line); }
  };
  std::unique_ptr<T, Free> data_;
};

// Rows packed in panels of `width` rows, feature by feature; the last panel is filled up with rows of zeros.
template <class T>
struct PackedSide : Side {
  PackedSide(Index n, Index width, Index d)
      : n(n), width(width), panels((n + width - 1) / width), values(panels * width * d), norms(panels * width) {}
  Packed<T> from(Index row, Index d) const { return {values.data() + row * d, norms.data() + row}; }

  Index n, width, panels;
  Aligned<T> values, norms;
};

template <class T>
class Dense final : public Node<T> {
 public:
  Dense(const Expression& kernel, const Samples& X, std::vector<double> centre)
      : loops_(dense_table().of<T>()),
        formula_{kernel.kind, static_cast<T>(kernel.gamma), static_cast<T>(kernel.coef0), kernel.degree, X.features()},
        centre_(std::move(centre)) {
    if (kernel.kind == Kind::rbf) scale_ = std::sqrt(2.0 * kernel.gamma * std::numbers::log2e);
    if (kernel.kind == Kind::laplacian) scale_ = kernel.gamma * std::numbers::log2e;
  }

  Index left_grain() const override { return loops_.tile_rows; }
  Index right_grain() const override { return loops_.tile_columns; }
  Index left_rows() const override {
    const Index rows = left_bytes / (static_cast<Index>(sizeof(T)) * std::max<Index>(1, formula_.d));
    return std::max<Index>(1, rows / loops_.tile_rows) * loops_.tile_rows;
  }

  std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const override { return pack(X, chosen, loops_.tile_rows); }
  std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const override { return pack(X, chosen, loops_.tile_columns); }

  void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride, Room<T>&,
            int) const override {
    loops_.tile(formula_, packed(left, i0), i1 - i0, packed(right, j0), j1 - j0, out, stride);
  }

  void sum(const Side& left, Index i0, Index i1, const double* c, const Side& right, Index j0, Index j1, double* out,
           Room<T>& room, int depth) const override {
    const Index rows = panels(i1 - i0, loops_.tile_rows), columns = panels(j1 - j0, loops_.tile_columns);
    T* weights = room.tile(rows * loops_.tile_rows, depth);
    cast(c + i0, i1 - i0, weights, rows * loops_.tile_rows);
    double* sums = room.sums(columns * loops_.tile_columns, 0);
    loops_.sum(formula_, packed(left, i0), weights, rows, packed(right, j0), columns, sums);
    for (Index j = 0; j < j1 - j0; ++j) out[j] += sums[j];
  }

  void sum_two(const Side& left, Index i0, Index i1, const double* c, const double* e, const Side& right, Index j0, Index j1,
               double* out_c, double* out_e, Room<T>& room) const override {
    if (formula_.kind != Kind::rbf) return Node<T>::sum_two(left, i0, i1, c, e, right, j0, j1, out_c, out_e, room);
    const Index rows = panels(i1 - i0, loops_.tile_rows), columns = panels(j1 - j0, loops_.tile_columns);
    double* one = room.sums(rows * loops_.tile_rows, 0);
    T* two = room.tile(rows * loops_.tile_rows, 0);
    std::copy(c + i0, c + i1, one);
    cast(e + i0, i1 - i0, two, rows * loops_.tile_rows);
    double *first = room.sums(columns * loops_.tile_columns, 2), *second = room.sums(columns * loops_.tile_columns, 3);
    loops_.sum_two(formula_, packed(left, i0), one, two, rows, packed(right, j0), columns, first, second);
    for (Index j = 0; j < j1 - j0; ++j) {
      out_c[j] += first[j];
      out_e[j] += second[j];
    }
  }

  void sum_both(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, const double* c, double* out,
                Room<T>& room) const override {
    const Index rows = panels(i1 - i0, loops_.tile_rows), columns = panels(j1 - j0, loops_.tile_columns);
    T *weights = room.tile(rows * loops_.tile_rows, 0), *others = room.tile(columns * loops_.tile_columns, 1);
    cast(c + i0, i1 - i0, weights, rows * loops_.tile_rows);
    cast(c + j0, j1 - j0, others, columns * loops_.tile_columns);
    double *sums = room.sums(columns * loops_.tile_columns, 0), *across = room.sums(rows * loops_.tile_rows * loops_.lanes, 1);
    loops_.sum_both(formula_, packed(left, i0), weights, rows, packed(right, j0), others, columns, sums, across);
    for (Index j = j0; j < j1; ++j) out[j] += sums[j - j0];
    for (Index i = i0; i < i1; ++i)
      for (Index k = 0; k < loops_.lanes; ++k) out[i] += across[(i - i0) * loops_.lanes + k];
  }

  bool is_costly(const Samples&) const override {
    return formula_.kind == Kind::laplacian || static_cast<double>(formula_.d) > costly_entries;
  }
  bool has_rounding() const override { return formula_.kind == Kind::rbf; }

  // The norms are 1 + γ‖x − centre‖²: those of the packed rows are in binary logarithms.
  Rounding rounding(const Side& any, Index n) const override {
    const auto& side = static_cast<const PackedSide<T>&>(any);
    Rounding found;
    found.norms.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)
      found.norms[static_cast<std::size_t>(i)] = 1.0 - std::numbers::ln2 * static_cast<double>(side.norms.data()[i]);
    const Index d = formula_.d + 2;
    found.terms = sizeof(T) == 8 || formula_.d <= undivided_features ? d : feature_stretch + panels(d, feature_stretch);
    return found;
  }

 private:
  static Index panels(Index n, Index width) { return (n + width - 1) / width; }

  // Writes n values in precision T, and zeros up to `places`.
  static void cast(const double* from, Index n, T* to, Index places) {
    for (Index i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
    std::fill(to + n, to + places, T(0));
  }

  Packed<T> packed(const Side& side, Index row) const { return static_cast<const PackedSide<T>&>(side).from(row, formula_.d); }

  std::unique_ptr<Side> pack(const Samples& X, Chosen chosen, Index width) const {
    auto side = std::make_unique<PackedSide<T>>(chosen.n, width, formula_.d);
    const auto some = [&](Index begin, Index end) {
      std::visit([&](const auto& x) { pack_panels(x, X.chosen, chosen, begin, end, *side); }, X.rows);
    };
    const Index each = std::max<Index>(1, few_values / 4 / std::max<Index>(1, width * formula_.d));
    if (chosen.n * formula_.d < few_values)
      some(0, side->panels);
    else
      share(panels(side->panels, each), [&](Index piece, int) {
        some(piece * each, std::min(side->panels, (piece + 1) * each));
      });
    return side;
  }

  template <class Source>
  void pack_panels(const Source& x, const Chosen& own, const Chosen& chosen, Index begin, Index end, PackedSide<T>& side) const {
    const Index d = formula_.d, width = side.width;
    const double* middle = centre_.empty() ? nullptr : centre_.data();
    std::vector<double> row(Source::is_sparse ? static_cast<std::size_t>(d) : 0), norms(static_cast<std::size_t>(width));
    const auto& turn = transpose_loops().of<T>();
    std::vector<T> some(static_cast<std::size_t>((width + turn.lanes - 1) / turn.lanes * turn.lanes * packed_at_once));
    for (Index panel = begin; panel < end; ++panel) {
      T* to = side.values.data() + panel * width * d;
      const Index rows = std::min(width, side.n - panel * width);
      std::fill(norms.begin(), norms.end(), 0.0);
      std::fill(some.begin() + rows * packed_at_once, some.end(), T(0));
      if constexpr (Source::is_sparse) {
        if (rows < width) std::fill(to, to + width * d, T(0));
        for (Index h = 0; h < rows; ++h) {
          std::fill(row.begin(), row.end(), 0.0);
          x.add(own[chosen[panel * width + h]], 1.0, row.data());
          for (Index from = 0; from < d; from += packed_at_once) {
            const Index n = std::min(packed_at_once, d - from);
            norms[static_cast<std::size_t>(h)] += scaled(row.data() + from, middle ? middle + from : nullptr, n, some.data());
            for (Index k = 0; k < n; ++k) to[(from + k) * width + h] = some[static_cast<std::size_t>(k)];
          }
        }
      } else {
        for (Index from = 0; from < d; from += packed_at_once) {
          const Index n = std::min(packed_at_once, d - from);
          for (Index h = 0; h < rows; ++h)
            norms[static_cast<std::size_t>(h)] += scaled(x.row(own[chosen[panel * width + h]]) + from,
                                                         middle ? middle + from : nullptr, n, some.data() + h * packed_at_once);
          turn.pack(some.data(), packed_at_once, width, n, to + from * width);
        }
      }
      for (Index h = 0; h < width; ++h)
        side.norms.data()[panel * width + h] = static_cast<T>(-0.5 * norms[static_cast<std::size_t>(h)]);
    }
  }

  // Writes (feature − middle) · scale for n features of a row; returns the sum of their squares.
  template <class S>
  double scaled(const S* row, const double* middle, Index n, T* to) const {
    double norms[4] = {};  // four sums, so that the loop vectorises without reassociation
    Index k = 0;
    for (; k + 4 <= n; k += 4)
      for (Index h = 0; h < 4; ++h) {
        const double value = (static_cast<double>(row[k + h]) - (middle ? middle[k + h] : 0.0)) * scale_;
        to[k + h] = static_cast<T>(value);
        norms[h] += value * value;
      }
    for (; k < n; ++k) {
      const double value = (static_cast<double>(row[k]) - (middle ? middle[k] : 0.0)) * scale_;
      to[k] = static_cast<T>(value);
      norms[0] += value * value;
    }
    return (norms[0] + norms[1]) + (norms[2] + norms[3]);
  }

  const DenseLoops<T>& loops_;
  Formula<T> formula_;
  double scale_ = 1.0;
  std::vector<double> centre_;
};

}  // namespace

template <class T>
std::unique_ptr<Node<T>> make_dense(const Expression& kernel, const Samples& X, std::vector<double> centre) {
  return std::make_unique<Dense<T>>(kernel, X, std::move(centre));
}

template std::unique_ptr<Node<float>> make_dense<float>(const Expression&, const Samples&, std::vector<double>);
template std::unique_ptr<Node<double>> make_dense<double>(const Expression&, const Samples&, std::vector<double>);

}  // namespace gapless
