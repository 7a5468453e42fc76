#include "kernels/node.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/plan.hpp"

namespace gapless {
namespace {

constexpr Index strip = 64;  // right rows of a tile that is summed at once: with 256 left rows 64 KiB in float32, which stay in the second cache

}  // namespace

template <class T>
void Node<T>::sum(const Side& left, Index i0, Index i1, const double* c, const Side& right, Index j0, Index j1, double* out,
                  Room<T>& room, int depth) const {
  const Index wide = (strip + right_grain() - 1) / right_grain() * right_grain();
  std::vector<double> sums(static_cast<std::size_t>(wide));
  for (Index at = j0; at < j1; at += wide) {
    const Index width = std::min(wide, j1 - at);
    T* entries = room.tile((i1 - i0) * width, depth);
    tile(left, i0, i1, right, at, at + width, entries, width, room, depth + 1);
    // Each tile has sums of its own, so that few roundings follow each other (sum_depth of kernels/rounding.py counts them).
    std::fill(sums.begin(), sums.end(), 0.0);
    for (Index i = i0; i < i1; ++i)
      for (Index j = 0; j < width; ++j) sums[static_cast<std::size_t>(j)] += c[i] * static_cast<double>(entries[(i - i0) * width + j]);
    for (Index j = 0; j < width; ++j) out[at - j0 + j] += sums[static_cast<std::size_t>(j)];
  }
}

template <class T>
void Node<T>::sum_two(const Side& left, Index i0, Index i1, const double* c, const double* e, const Side& right, Index j0,
                      Index j1, double* out_c, double* out_e, Room<T>& room) const {
  const Index wide = (strip + right_grain() - 1) / right_grain() * right_grain();
  for (Index at = j0; at < j1; at += wide) {
    const Index width = std::min(wide, j1 - at);
    T* entries = room.tile((i1 - i0) * width, 0);
    tile(left, i0, i1, right, at, at + width, entries, width, room, 1);
    for (Index i = i0; i < i1; ++i)
      for (Index j = 0; j < width; ++j) {
        const double entry = static_cast<double>(entries[(i - i0) * width + j]);
        out_c[at - j0 + j] += c[i] * entry;
        out_e[at - j0 + j] += e[i] * entry;
      }
  }
}

template <class T>
void Node<T>::sum_both(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, const double* c, double* out,
                       Room<T>& room) const {
  const Index wide = (strip + right_grain() - 1) / right_grain() * right_grain();
  std::vector<double> down(static_cast<std::size_t>(wide));
  for (Index at = j0; at < j1; at += wide) {
    const Index width = std::min(wide, j1 - at);
    T* entries = room.tile((i1 - i0) * width, 0);
    tile(left, i0, i1, right, at, at + width, entries, width, room, 1);
    std::fill(down.begin(), down.end(), 0.0);
    for (Index i = i0; i < i1; ++i) {
      const T* row = entries + (i - i0) * width;
      double sums[4] = {};
      for (Index j = 0; j < width; ++j) {
        const double entry = static_cast<double>(row[j]);
        down[static_cast<std::size_t>(j)] += c[i] * entry;
        sums[j & 3] += c[at + j] * entry;
      }
      out[i] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    for (Index j = 0; j < width; ++j) out[at + j] += down[static_cast<std::size_t>(j)];
  }
}

template <class T>
std::unique_ptr<Node<T>> make_node(const Expression& kernel, const Samples& X) {
  using Kind = Expression::Kind;
  switch (kernel.kind) {
    case Kind::rbf: {
      std::vector<double> middle = centre(X);
      if (kernel.gamma * largest_norm(X, middle) > large_exponent<T>) return make_given<T>(kernel);
      if (is_worth_sparse(X)) return make_sparse<T>(kernel, X);
      return make_dense<T>(kernel, X, std::move(middle));
    }
    case Kind::laplacian:
      if (is_sparse(X) && X.features() > many_features) return make_given<T>(kernel);
      return make_dense<T>(kernel, X, {});
    case Kind::linear:
    case Kind::polynomial:
    case Kind::sigmoid:
      return is_worth_sparse(X) ? make_sparse<T>(kernel, X) : make_dense<T>(kernel, X, {});
    case Kind::table:
    case Kind::block:
      return make_given<T>(kernel);
    default:
      return make_combined<T>(kernel, X);
  }
}

template class Node<float>;
template class Node<double>;
template std::unique_ptr<Node<float>> make_node<float>(const Expression&, const Samples&);
template std::unique_ptr<Node<double>> make_node<double>(const Expression&, const Samples&);

}  // namespace gapless
