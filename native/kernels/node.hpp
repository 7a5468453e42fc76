// A kernel as work on tiles: one node for each part of its expression.
//
// A node prepares rows for the left and for the right side of a tile in the form that its loops read best. T is the precision of the entries.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/span.hpp"
#include "kernels/expression.hpp"

namespace gapless {

// Rows in the form in which a node's tiles read them.
struct Side {
  virtual ~Side() = default;
};

// Scratch memory of one thread: a tile for each depth of the expression, and vectors of sums.
template <class T>
class Room {
 public:
  T* tile(Index entries, int depth) {
    if (count(tiles_.size()) <= depth) tiles_.resize(static_cast<std::size_t>(depth) + 1);
    std::vector<T>& tile = tiles_[static_cast<std::size_t>(depth)];
    if (count(tile.size()) < entries) tile.resize(static_cast<std::size_t>(entries));
    return tile.data();
  }

  // The vector of sums number `which`, filled with n zeros.
  double* sums(Index n, int which) {
    std::vector<double>& values = sums_[static_cast<std::size_t>(which)];
    values.assign(static_cast<std::size_t>(n), 0.0);
    return values.data();
  }

 private:
  std::vector<std::vector<T>> tiles_;
  std::array<std::vector<double>, 4> sums_;
};

// Numbers from which Panels::apply_bounded bounds the relative error of entries that are exponentials.
struct Rounding {
  std::vector<double> norms;  // 1 + γ‖x‖², the length of (√(2γ) x, 1, γ‖x‖²): the exponents are products of such rows
  Index terms = 0;            // the terms of such a product
};

constexpr Index usual_rows = 256;  // left rows of a tile; sum_depth of kernels/rounding.py counts on at most so many terms in a sum of one tile

template <class T>
class Node {
 public:
  virtual ~Node() = default;

  // Tiles begin at left rows i0 and right rows j0 that are multiples of these grains.
  virtual Index left_grain() const { return 1; }
  virtual Index right_grain() const { return 1; }

  // The number of left rows that stay in the cache at a time: a multiple of the grain.
  virtual Index left_rows() const { return (usual_rows + left_grain() - 1) / left_grain() * left_grain(); }

  // The chosen samples of X, prepared for the left and for the right side of tiles.
  virtual std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const = 0;
  virtual std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const = 0;

  // out[(i − i0) stride + (j − j0)] = k of left row i and right row j, for i0 ≤ i < i1 and j0 ≤ j < j1.
  virtual void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride,
                    Room<T>& room, int depth) const = 0;

  // out[j − j0] += Σ over i of c[i] k; short runs of terms may be summed in precision T, all others in float64.
  virtual void sum(const Side& left, Index i0, Index i1, const double* c, const Side& right, Index j0, Index j1, double* out,
                   Room<T>& room, int depth) const;

  // The same for two weights c and e, where every term of c is added in float64.
  virtual void sum_two(const Side& left, Index i0, Index i1, const double* c, const double* e, const Side& right, Index j0,
                       Index j1, double* out_c, double* out_e, Room<T>& room) const;

  // out[j] += Σ over i of c[i] k and out[i] += Σ over j of c[j] k, for rows i and j of one set of samples, where all i are less than all j.
  virtual void sum_both(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, const double* c, double* out,
                        Room<T>& room) const;

  // Panels::is_costly and Panels::has_bounds, and the numbers of the latter for the first n rows of a side.
  virtual bool is_costly(const Samples&) const { return true; }
  virtual bool has_rounding() const { return false; }
  virtual Rounding rounding(const Side&, Index /*n*/) const { return {}; }
};

template <class T>
std::unique_ptr<Node<T>> make_node(const Expression& kernel, const Samples& X);

// The nodes of each file: dense.cpp, sparse.cpp, given.cpp (table or block) and combined.cpp. RBF subtracts `centre` from its rows.
template <class T>
std::unique_ptr<Node<T>> make_dense(const Expression& kernel, const Samples& X, std::vector<double> centre);
template <class T>
std::unique_ptr<Node<T>> make_sparse(const Expression& kernel, const Samples& X);
template <class T>
std::unique_ptr<Node<T>> make_given(const Expression& kernel);
template <class T>
std::unique_ptr<Node<T>> make_combined(const Expression& kernel, const Samples& X);

// xⁿ through repeated squaring; n ≥ 1.
template <class T>
GAPLESS_INLINE T natural_power(T x, int n) {
  T result = x;
  int bit = 1;
  while (bit <= n / 2) bit *= 2;
  for (bit /= 2; bit > 0; bit /= 2) {
    result *= result;
    if (n & bit) result *= x;
  }
  return result;
}

}  // namespace gapless
