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

// Scratch tiles of one thread, by depth of the expression that needs them.
template <class T>
class Room {
 public:
  T* tile(Index entries, int depth) {
    if (count(tiles_.size()) <= depth) tiles_.resize(static_cast<std::size_t>(depth) + 1);
    std::vector<T>& tile = tiles_[static_cast<std::size_t>(depth)];
    if (count(tile.size()) < entries) tile.resize(static_cast<std::size_t>(entries));
    return tile.data();
  }

  // n zeros.
  double* sums(Index n, int which) {
    std::vector<double>& values = sums_[static_cast<std::size_t>(which)];
    values.assign(static_cast<std::size_t>(n), 0.0);
    return values.data();
  }

 private:
  std::vector<std::vector<T>> tiles_;
  std::array<std::vector<double>, 4> sums_;
};

// What is known of the error of entries that is a share of them.
struct Rounding {
  std::vector<double> norms;  // ‖a‖ ≥ 1 of each row a whose products are the exponents
  Index terms = 0;            // of such a product
};

constexpr Index usual_rows = 256;

template <class T>
class Node {
 public:
  virtual ~Node() = default;

  // Rows i0 of the left side and j0 of the right side at which tiles begin are multiples of these.
  virtual Index left_grain() const { return 1; }
  virtual Index right_grain() const { return 1; }

  // How many left rows at a time stay in cache: a multiple of the grain.
  virtual Index left_rows() const { return (usual_rows + left_grain() - 1) / left_grain() * left_grain(); }

  virtual std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const = 0;
  virtual std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const = 0;

  // out[(i − i0) stride + (j − j0)] = k of left row i and right row j, for i0 ≤ i < i1 and j0 ≤ j < j1.
  virtual void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride,
                    Room<T>& room, int depth) const = 0;

  // out[j − j0] += Σ over i of c[i] k, in float64 but for short stretches.
  virtual void sum(const Side& left, Index i0, Index i1, const double* c, const Side& right, Index j0, Index j1, double* out,
                   Room<T>& room, int depth) const;

  // sum for both of c and e, every term of the first in float64.
  virtual void sum_two(const Side& left, Index i0, Index i1, const double* c, const double* e, const Side& right, Index j0,
                       Index j1, double* out_c, double* out_e, Room<T>& room) const;

  // out[j] += Σ over i of c[i] k and out[i] += Σ over j of c[j] k, for rows i and j of one set of samples, where all i are less than all j.
  virtual void sum_both(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, const double* c, double* out,
                        Room<T>& room) const;

  virtual bool is_costly(const Samples&) const { return true; }
  virtual bool has_rounding() const { return false; }
  virtual Rounding rounding(const Side&, Index) const { return {}; }
};

template <class T>
std::unique_ptr<Node<T>> make_node(const Expression& kernel, const Samples& X);

// The leaves and combinations, by file.
template <class T>
std::unique_ptr<Node<T>> make_dense(const Expression& kernel, const Samples& X, std::vector<double> centre);  // of RBF
template <class T>
std::unique_ptr<Node<T>> make_sparse(const Expression& kernel, const Samples& X);
template <class T>
std::unique_ptr<Node<T>> make_given(const Expression& kernel);  // table or block
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
