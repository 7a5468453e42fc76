// Constants, multiples, powers, sums and products of kernels: their tiles are combined entry by entry. Σ c k of a multiple or of a sum of kernels
// needs no tile of its own: the factor is multiplied into c, and the sums of the parts are added.
#include <algorithm>
#include <numeric>

#include "kernels/node.hpp"

namespace gapless {
namespace {

// A constant.
template <class T>
class Fixed final : public Node<T> {
 public:
  explicit Fixed(double value) : value_(value) {}

  std::unique_ptr<Side> left(const Samples&, Chosen) const override { return std::make_unique<Side>(); }
  std::unique_ptr<Side> right(const Samples&, Chosen) const override { return std::make_unique<Side>(); }

  void tile(const Side&, Index i0, Index i1, const Side&, Index j0, Index j1, T* out, Index stride, Room<T>&,
            int) const override {
    for (Index i = 0; i < i1 - i0; ++i) std::fill(out + i * stride, out + i * stride + (j1 - j0), static_cast<T>(value_));
  }
  void sum(const Side&, Index i0, Index i1, const double* c, const Side&, Index j0, Index j1, double* out, Room<T>&,
           int) const override {
    const double total = value_ * std::accumulate(c + i0, c + i1, 0.0);
    for (Index j = 0; j < j1 - j0; ++j) out[j] += total;
  }

  bool is_costly(const Samples&) const override { return false; }

 private:
  double value_;
};

// c · k, or k to a natural power.
template <class T>
class Changed final : public Node<T> {
 public:
  Changed(std::unique_ptr<Node<T>> node, const Expression& kernel)
      : node_(std::move(node)), is_power_(kernel.kind == Expression::Kind::power), scale_(kernel.gamma), degree_(kernel.degree) {}

  Index left_grain() const override { return node_->left_grain(); }
  Index right_grain() const override { return node_->right_grain(); }
  Index left_rows() const override { return node_->left_rows(); }
  std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const override { return node_->left(X, chosen); }
  std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const override { return node_->right(X, chosen); }

  void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride, Room<T>& room,
            int depth) const override {
    node_->tile(left, i0, i1, right, j0, j1, out, stride, room, depth);
    const T scale = static_cast<T>(scale_);
    for (Index i = 0; i < i1 - i0; ++i) {
      T* row = out + i * stride;
      if (is_power_)
        for (Index j = 0; j < j1 - j0; ++j) row[j] = natural_power(row[j], degree_);
      else
        for (Index j = 0; j < j1 - j0; ++j) row[j] *= scale;
    }
  }
  void sum(const Side& left, Index i0, Index i1, const double* c, const Side& right, Index j0, Index j1, double* out,
           Room<T>& room, int depth) const override {
    if (is_power_) return Node<T>::sum(left, i0, i1, c, right, j0, j1, out, room, depth);
    std::vector<double> scaled(c + i0, c + i1);
    for (double& value : scaled) value *= scale_;
    node_->sum(left, i0, i1, scaled.data() - i0, right, j0, j1, out, room, depth);
  }

  bool is_costly(const Samples& X) const override { return node_->is_costly(X); }

 private:
  std::unique_ptr<Node<T>> node_;
  bool is_power_;
  double scale_;
  int degree_;
};

// The rows of both parts of a sum or a product.
struct Both : Side {
  Both(std::unique_ptr<Side> one, std::unique_ptr<Side> two) : first(std::move(one)), second(std::move(two)) {}
  std::unique_ptr<Side> first, second;
};

// k₁ + k₂ or k₁ · k₂.
template <class T>
class Pair final : public Node<T> {
 public:
  Pair(std::unique_ptr<Node<T>> first, std::unique_ptr<Node<T>> second, bool product)
      : first_(std::move(first)), second_(std::move(second)), product_(product) {}

  Index left_grain() const override { return std::lcm(first_->left_grain(), second_->left_grain()); }
  Index right_grain() const override { return std::lcm(first_->right_grain(), second_->right_grain()); }
  Index left_rows() const override {
    const Index rows = std::min(first_->left_rows(), second_->left_rows()), grain = left_grain();
    return std::max<Index>(1, rows / grain) * grain;
  }
  std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const override {
    return std::make_unique<Both>(first_->left(X, chosen), second_->left(X, chosen));
  }
  std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const override {
    return std::make_unique<Both>(first_->right(X, chosen), second_->right(X, chosen));
  }

  void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride, Room<T>& room,
            int depth) const override {
    const auto &one = static_cast<const Both&>(left), &two = static_cast<const Both&>(right);
    const Index tall = i1 - i0, wide = j1 - j0;
    first_->tile(*one.first, i0, i1, *two.first, j0, j1, out, stride, room, depth);
    T* other = room.tile(tall * wide, depth);
    second_->tile(*one.second, i0, i1, *two.second, j0, j1, other, wide, room, depth + 1);
    for (Index i = 0; i < tall; ++i) {
      T* row = out + i * stride;
      const T* with = other + i * wide;
      if (product_)
        for (Index j = 0; j < wide; ++j) row[j] *= with[j];
      else
        for (Index j = 0; j < wide; ++j) row[j] += with[j];
    }
  }
  void sum(const Side& left, Index i0, Index i1, const double* c, const Side& right, Index j0, Index j1, double* out,
           Room<T>& room, int depth) const override {
    if (product_) return Node<T>::sum(left, i0, i1, c, right, j0, j1, out, room, depth);
    const auto &one = static_cast<const Both&>(left), &two = static_cast<const Both&>(right);
    first_->sum(*one.first, i0, i1, c, *two.first, j0, j1, out, room, depth);
    second_->sum(*one.second, i0, i1, c, *two.second, j0, j1, out, room, depth);
  }

  bool is_costly(const Samples& X) const override { return first_->is_costly(X) || second_->is_costly(X); }

 private:
  std::unique_ptr<Node<T>> first_, second_;
  bool product_;
};

}  // namespace

template <class T>
std::unique_ptr<Node<T>> make_combined(const Expression& kernel, const Samples& X) {
  using Kind = Expression::Kind;
  if (kernel.kind == Kind::constant) return std::make_unique<Fixed<T>>(kernel.gamma);
  auto first = make_node<T>(kernel.parts.at(0), X);
  if (kernel.kind == Kind::scaled || kernel.kind == Kind::power) return std::make_unique<Changed<T>>(std::move(first), kernel);
  return std::make_unique<Pair<T>>(std::move(first), make_node<T>(kernel.parts.at(1), X), kernel.kind == Kind::product);
}

template std::unique_ptr<Node<float>> make_combined<float>(const Expression&, const Samples&);
template std::unique_ptr<Node<double>> make_combined<double>(const Expression&, const Samples&);

}  // namespace gapless
