#include "kernels/panels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "kernels/linear_sums.hpp"
#include "kernels/models.hpp"
#include "kernels/node.hpp"
#include "kernels/pieces.hpp"
#include "kernels/transpose.hpp"

namespace gapless {
namespace {

constexpr Index stretch = 256;  // left rows over which several models are summed in the tiles' precision: apply_bounded counts on it (panels.hpp)
// Vectors of sums of a symmetric product. Each has strips of columns of its own, so that threads do not write to one vector, and their number does
// not change the result.
constexpr Index own_sums = 8;
constexpr Index slab = 4096;    // rows of other samples that are prepared at a time: 32 MiB in float64 with a thousand features
constexpr Index mirror = 16;    // rows that are transposed at a time: 16 numbers in float32 are one line of the cache

template <class T>
class PanelsOf final : public Panels {
 public:
  PanelsOf(const Expression& kernel, const Samples& X) : X_(X), linear_(kernel.kind == Expression::Kind::linear), node_(make_node<T>(kernel, X)) {}

  Index size() const override { return X_.size(); }
  bool is_single() const override { return sizeof(T) == 4; }
  bool is_costly() const override { return node_->is_costly(X_); }
  bool has_bounds() const override { return node_->has_rounding(); }
  bool sums_rows() const override { return linear_; }

  void expand(Places left, Vector c, Index begin, Index end, double* out) override {
    if (begin >= end || left.empty()) return;
    if (linear_) return add_linear_sums(X_, chosen(left), c, run(begin, end - begin), out + begin);
    const auto rows = node_->left(X_, chosen(left));
    // Tiles begin at multiples of the grain: the first may begin before `begin`.
    const Index grain = node_->right_grain(), from = begin / grain * grain;
    accumulate(*rows, length(left), c.data(), whole(), from, begin, end, out);
    computed(static_cast<double>(left.size()) * static_cast<double>(end - begin));
  }

  void expand(Places left, Vector c, Places to, double* out) override {
    if (to.empty() || left.empty()) return;
    if (linear_) return add_linear_sums(X_, chosen(left), c, chosen(to), out, to.data());
    const auto rows = node_->left(X_, chosen(left));
    const auto others = node_->right(X_, chosen(to));
    std::vector<double> sums(to.size(), 0.0);
    accumulate(*rows, length(left), c.data(), *others, 0, 0, length(to), sums.data());
    for (std::size_t k = 0; k < to.size(); ++k) out[to[k]] += sums[k];
    computed(static_cast<double>(left.size()) * static_cast<double>(to.size()));
  }

  void extend(Places chosen, Index known, double shift, Matrix<float> out) override { extend_any(chosen, known, shift, out); }
  void extend(Places chosen, Index known, double shift, Matrix<double> out) override { extend_any(chosen, known, shift, out); }
  void rows(Places chosen, Index begin, Index end, Matrix<float> out) override { rows_any(chosen, begin, end, out); }
  void rows(Places chosen, Index begin, Index end, Matrix<double> out) override { rows_any(chosen, begin, end, out); }
  void cross(const Samples& Z, Matrix<float> out) override { cross_any(Z, out); }
  void cross(const Samples& Z, Matrix<double> out) override { cross_any(Z, out); }

  void apply(const Samples& Z, Matrix<const double> c, Matrix<double> out) override {
    const Index q = c.columns;
    for (Index i = 0; i < Z.size(); ++i) std::fill(out.row(i), out.row(i) + q, 0.0);
    if (size() == 0) return;
    const Side& own = all_left();
    const std::vector<double> columns = transposed(c);
    std::vector<double> sums;
    for (Index at = 0; at < Z.size(); at += slab) {
      const Index n = std::min(slab, Z.size() - at);
      const auto right = node_->right(Z, run(at, n));
      if (q == 1) {
        sums.assign(static_cast<std::size_t>(n), 0.0);
        accumulate(own, size(), columns.data(), *right, 0, 0, n, sums.data());
        for (Index j = 0; j < n; ++j) out(at + j, 0) = sums[static_cast<std::size_t>(j)];
      } else {
        multiply(own, columns, q, *right, n, {out.row(at), n, q, out.stride});
      }
    }
    computed(static_cast<double>(size()) * static_cast<double>(Z.size()));
  }

  void apply_bounded(const Samples& Z, Matrix<const double> c, Matrix<double> out, Matrix<double> bounds) override {
    const Index q = c.columns, n = size();
    const Side& left = all_left();
    const Rounding own = node_->rounding(left, n);
    const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    double largest = 1.0;
    for (double norm : own.norms) largest = std::max(largest, norm);
    std::vector<double> columns = transposed(c), vanished(static_cast<std::size_t>(q), 0.0);
    columns.resize(static_cast<std::size_t>(2 * q * n));
    for (Index m = 0; m < q; ++m)
      for (Index i = 0; i < n; ++i) {
        const double size = std::fabs(columns[static_cast<std::size_t>(m * n + i)]);
        columns[static_cast<std::size_t>((q + m) * n + i)] = size * own.norms[static_cast<std::size_t>(i)];
        vanished[static_cast<std::size_t>(m)] += 2.0 * static_cast<double>(std::numeric_limits<float>::min()) * size;
      }
    std::vector<double> sums;
    for (Index at = 0; at < Z.size(); at += slab) {
      const Index rows = std::min(slab, Z.size() - at);
      const auto right = node_->right(Z, run(at, rows));
      const Rounding others = node_->rounding(*right, rows);
      sums.assign(static_cast<std::size_t>(2 * q * rows), 0.0);
      const Matrix<double> both{sums.data(), rows, 2 * q, 2 * q};
      if (q == 1)
        accumulate_two(left, n, columns.data(), *right, rows, both);
      else
        multiply(left, columns, 2 * q, *right, rows, both);
      for (Index j = 0; j < rows; ++j) {
        double share = unit * static_cast<double>(std::max(own.terms, others.terms) + 4) * others.norms[static_cast<std::size_t>(j)];
        // An error t of the exponent changes k by the factor eᵗ, so that the relative error is eᵗ − 1, not t.
        const double worst = share * largest;
        share *= std::expm1(std::min(worst, 500.0)) / worst;
        const double sum_error = (q == 1 ? 3.0 : static_cast<double>(stretch) + 12.0) * unit;
        for (Index m = 0; m < q; ++m) {
          out(at + j, m) = both(j, m);
          bounds(at + j, m) = 1.01 * (share + sum_error) * both(j, q + m) + vanished[static_cast<std::size_t>(m)];
        }
      }
    }
    computed(static_cast<double>(n) * static_cast<double>(Z.size()));
  }

  void own(Vector c, double* out) override {
    const Index n = size();
    std::fill(out, out + n, 0.0);
    if (n == 0) return;
    const Side &left = all_left(), &right = whole();
    const Index grain = node_->right_grain(), tall = node_->left_rows();
    const Index strip = up_to(std::clamp<Index>(n / 32, 1, 512), grain), strips = (n + strip - 1) / strip;
    const Index sums = n * n < few_entries ? 1 : own_sums;
    std::vector<double> parts(static_cast<std::size_t>(sums * n), 0.0);
    share_entries(sums, n * n, [&](Index piece, int) {
      Room<T> room;
      double* own = parts.data() + piece * n;
      std::vector<double> inside;
      for (Index s = 0; s < strips; ++s) {
        // Strips are dealt to the vectors of sums in the order 0 … 7, 7 … 0, so that each has as many short strips as long ones.
        const Index turn = s % (2 * sums);
        if ((turn < sums ? turn : 2 * sums - 1 - turn) != piece) continue;
        const Index j0 = s * strip, j1 = std::min(n, j0 + strip);
        for (Index i = 0; i < j0; i += tall) node_->sum_both(left, i, std::min(j0, i + tall), right, j0, j1, c.data(), own, room);
        const Index first = j0 / node_->left_grain() * node_->left_grain();
        inside.assign(c.begin() + first, c.begin() + j1);
        std::fill(inside.begin(), inside.begin() + (j0 - first), 0.0);
        for (Index i = first; i < j1; i += tall)
          node_->sum(left, i, std::min(j1, i + tall), inside.data() - first, right, j0, j1, own + j0, room, 0);
      }
    });
    for (Index piece = 0; piece < sums; ++piece)
      for (Index j = 0; j < n; ++j) out[j] += parts[static_cast<std::size_t>(piece * n + j)];
    computed(0.5 * static_cast<double>(n) * static_cast<double>(n));
  }

 private:
  static Chosen chosen(Places places) { return {places.data(), 0, length(places)}; }
  static Chosen run(Index begin, Index n) { return {nullptr, begin, n}; }

  // All samples as the right side (whole) and as the left side, prepared when they are first needed.
  const Side& whole() {
    const std::lock_guard<std::mutex> lock(preparing_);
    if (!right_) right_ = node_->right(X_, run(0, size()));
    return *right_;
  }
  const Side& all_left() {
    const std::lock_guard<std::mutex> lock(preparing_);
    if (!left_) left_ = node_->left(X_, run(0, size()));
    return *left_;
  }

  static std::vector<double> transposed(Matrix<const double> c) {
    std::vector<double> out(static_cast<std::size_t>(c.rows * c.columns));
    for (Index i = 0; i < c.rows; ++i)
      for (Index m = 0; m < c.columns; ++m) out[static_cast<std::size_t>(m * c.rows + i)] = c(i, m);
    return out;
  }

  // out[j] += Σ c[i] k for begin ≤ j < end, from tiles that begin at `from` ≤ begin.
  void accumulate(const Side& left, Index rows, const double* c, const Side& right, Index from, Index begin, Index end,
                  double* out) {
    const Pieces pieces(end - from, rows, node_->right_grain());
    const Index tall = node_->left_rows();
    share_entries(pieces.count, pieces.n * rows, [&](Index piece, int) {
      Room<T> room;
      const Index j0 = from + pieces.begin(piece), j1 = from + pieces.end(piece);
      std::vector<double> sums(static_cast<std::size_t>(j1 - j0), 0.0);
      for (Index i = 0; i < rows; i += tall)
        node_->sum(left, i, std::min(rows, i + tall), c, right, j0, j1, sums.data(), room, 0);
      for (Index j = std::max(j0, begin); j < j1; ++j) out[j] += sums[static_cast<std::size_t>(j - j0)];
    });
  }

  // out(j, 0) += Σ c[i] k, every term in float64, and out(j, 1) += Σ c[rows + i] k.
  void accumulate_two(const Side& left, Index rows, const double* c, const Side& right, Index n, Matrix<double> out) {
    const Pieces pieces(n, rows, node_->right_grain());
    const Index tall = node_->left_rows();
    share_entries(pieces.count, pieces.n * rows, [&](Index piece, int) {
      Room<T> room;
      const Index j0 = pieces.begin(piece), j1 = pieces.end(piece);
      std::vector<double> one(static_cast<std::size_t>(j1 - j0), 0.0), two(one);
      for (Index i = 0; i < rows; i += tall)
        node_->sum_two(left, i, std::min(rows, i + tall), c, c + rows, right, j0, j1, one.data(), two.data(), room);
      for (Index j = j0; j < j1; ++j) {
        out(j, 0) += one[static_cast<std::size_t>(j - j0)];
        out(j, 1) += two[static_cast<std::size_t>(j - j0)];
      }
    });
  }

  // out(j, m) += Σ over i of columns[m, i] k, with sums of `stretch` entries in the tiles' precision.
  void multiply(const Side& left, const std::vector<double>& columns, Index q, const Side& right, Index n, Matrix<double> out) {
    const Index rows = size(), across = dense_table().of<T>().tile_columns;
    const Index tall = std::min(node_->left_rows(), std::max<Index>(1, stretch / node_->left_grain()) * node_->left_grain());
    const Models<T> models(columns, rows, q, tall);
    const Index wide = std::lcm(across, node_->right_grain());
    const Pieces pieces(n, rows, wide, stretch);
    share_entries(pieces.count, pieces.n * rows, [&](Index piece, int) {
      Room<T> room;
      const Index begin = pieces.begin(piece), end = pieces.end(piece);
      double* sums = room.sums(q * up_to(end - begin, wide), 0);
      for (Index i0 = 0; i0 < rows; i0 += tall)
        for (Index j0 = begin; j0 < end; j0 += wide) {
          const Index i1 = std::min(rows, i0 + tall), j1 = std::min(end, j0 + wide);
          T* tile = room.tile(tall * wide, 0);
          node_->tile(left, i0, i1, right, j0, j1, tile, wide, room, 2);
          for (Index from = 0; from < wide; from += across) {
            T* entries = tile;
            if (wide != across) {
              entries = room.tile(tall * across, 1);
              for (Index i = 0; i < i1 - i0; ++i) std::copy_n(tile + i * wide + from, across, entries + i * across);
            }
            models.add(i0, entries, sums + q * (j0 - begin + from), room);
          }
        }
      for (Index j = begin; j < end; ++j) {
        const double* from = sums + q * ((j - begin) / across * across) + (j - begin) % across;
        for (Index m = 0; m < q; ++m) out(j, m) += from[m * across];
      }
    });
  }

  template <class S>
  void rows_any(Places chosen, Index begin, Index end, Matrix<S> out) {
    if constexpr (!std::is_same_v<S, T>) {
      throw std::logic_error("rows of the other precision were asked for");
    } else {
      if (begin >= end || chosen.empty()) return;
      const auto left = node_->left(X_, this->chosen(chosen));
      const Index grain = node_->right_grain(), from = begin / grain * grain, wide = up_to(stretch, grain);
      fill(*left, length(chosen), whole(), from, begin, end, wide, out);
      computed(static_cast<double>(chosen.size()) * static_cast<double>(end - begin));
    }
  }

  template <class S>
  void cross_any(const Samples& Z, Matrix<S> out) {
    if constexpr (!std::is_same_v<S, T>) {
      throw std::logic_error("rows of the other precision were asked for");
    } else {
      if (size() == 0) return;
      for (Index at = 0; at < Z.size(); at += slab) {
        const Index n = std::min(slab, Z.size() - at);
        const auto left = node_->left(Z, run(at, n));
        fill(*left, n, whole(), 0, 0, size(), up_to(stretch, node_->right_grain()), {out.row(at), n, size(), out.stride});
      }
      computed(static_cast<double>(size()) * static_cast<double>(Z.size()));
    }
  }

  // out(i, j) = k of left row i and right row j for begin ≤ j < end, from tiles that begin at `from` ≤ begin.
  void fill(const Side& left, Index rows, const Side& right, Index from, Index begin, Index end, Index wide, Matrix<T> out) {
    const Pieces pieces(end - from, rows, wide);
    const Index tall = up_to(stretch, node_->left_grain());
    share_entries(pieces.count, pieces.n * rows, [&](Index piece, int) {
      Room<T> room;
      for (Index j0 = from + pieces.begin(piece); j0 < from + pieces.end(piece); j0 += wide) {
        const Index j1 = std::min(from + pieces.end(piece), j0 + wide), first = std::max(begin, j0);
        for (Index i0 = 0; i0 < rows; i0 += tall) {
          const Index i1 = std::min(rows, i0 + tall);
          if (first == j0) {
            node_->tile(left, i0, i1, right, j0, j1, &out(i0, j0), out.stride, room, 0);
            continue;
          }
          T* tile = room.tile(tall * wide, 0);
          node_->tile(left, i0, i1, right, j0, j1, tile, wide, room, 1);
          for (Index i = i0; i < i1; ++i)
            std::copy(tile + (i - i0) * wide + (first - j0), tile + (i - i0) * wide + (j1 - j0), &out(i, first));
        }
      }
    });
  }

  // out(j, i) = out(i, j) for i0 ≤ i < i1 and the `wide` columns j from `left` on, as far as (i, j) is above the diagonal. A few rows at a time are
  // transposed: writing columns of a large matrix one by one would evict its lines, which share few places of the cache.
  static void reflect(Matrix<T> out, Index i0, Index i1, Index left, Index wide) {
    const auto transpose = transpose_loops().of<T>().transpose;
    for (Index from = i0; from < i1; from += mirror) {
      const Index to = std::min(from + mirror, i1);
      // The columns that the diagonal crosses in these rows come one by one; entries on it and below it are not written.
      const Index crossed = std::clamp(to, left, left + wide);
      for (Index j = std::max(left, from + 1); j < crossed; ++j)
        for (Index i = from; i < j; ++i) out(j, i) = out(i, j);
      if (crossed < left + wide) transpose(&out(from, crossed), out.stride, to - from, left + wide - crossed, &out(crossed, from), out.stride);
    }
  }

  template <class S>
  void extend_any(Places chosen, Index known, double shift, Matrix<S> out) {
    if constexpr (!std::is_same_v<S, T>) {
      throw std::logic_error("a matrix of the other precision was asked for");
    } else {
      const Index m = length(chosen), fresh = m - known;
      if (fresh <= 0) return;
      const auto left = node_->left(X_, this->chosen(chosen));
      const auto right = node_->right(X_, this->chosen(chosen.subspan(static_cast<std::size_t>(known))));
      // Strips are narrow, so that few entries are computed on both sides of the diagonal.
      const Index strip = up_to(std::clamp<Index>(fresh / pieces_least, 4 * mirror, stretch), node_->right_grain());
      const Index strips = (fresh + strip - 1) / strip;
      const Index tall = up_to(4 * mirror, node_->left_grain());
      const T offset = static_cast<T>(shift);
      // The last columns are the longest, and are computed first.
      share_entries(strips, fresh * m, [&](Index piece, int) {
        Room<T> room;
        const Index j0 = (strips - 1 - piece) * strip, j1 = std::min(fresh, j0 + strip);
        const Index top = known + j0, wide = j1 - j0;
        Index mirrored = 0;
        for (Index i0 = 0; i0 < known + j1; i0 += tall) {
          const Index i1 = std::min(known + j1, i0 + tall);
          node_->tile(*left, i0, i1, *right, j0, j1, &out(i0, top), out.stride, room, 0);
          if (offset != T(0))
            for (Index i = i0; i < i1; ++i)
              for (Index j = 0; j < wide; ++j) out(i, top + j) += offset;
          if (i1 <= top) {
            reflect(out, i0, i1, top, wide);
            mirrored = i1;
          }
        }
        reflect(out, mirrored, known + j1, top, wide);  // the square on the diagonal, when all of its entries are written
      });
      computed(static_cast<double>(fresh) * 0.5 * static_cast<double>(m + known));
    }
  }

  Samples X_;
  const bool linear_;
  std::unique_ptr<Node<T>> node_;
  std::unique_ptr<Side> left_, right_;
  std::mutex preparing_;
};

}  // namespace

std::unique_ptr<Panels> make_panels(const Expression& kernel, const Samples& X, bool single) {
  if (single) return std::make_unique<PanelsOf<float>>(kernel, X);
  return std::make_unique<PanelsOf<double>>(kernel, X);
}

}  // namespace gapless
