// Functions of ⟨x, z⟩, ‖x − z‖² or ‖x − z‖₁, by plain loops.
#include <algorithm>
#include <cmath>

#include "kernels/node.hpp"
#include "kernels/plan.hpp"

namespace gapless {
namespace {

using Kind = Expression::Kind;

// Rows times `scale` and less their centre, either all features or stored entries; with −½‖a‖² of each.
template <class T>
struct Scaled : Side {
  std::vector<T> values, norms;
  std::vector<std::uint32_t> indices;
  std::vector<Index> indptr{0};
};

template <class T>
class Plain final : public Node<T> {
 public:
  Plain(const Expression& kernel, const Samples& X)
      : kernel_(kernel), d_(X.features()), sparse_(kernel.kind != Kind::laplacian && is_worth_sparse(X)) {
    if (kernel.kind == Kind::rbf) {
      // Sparse rows are neither moved nor scaled, so that whole numbers stay whole: their products are exact.
      if (sparse_)
        after_ = 2.0 * kernel.gamma;
      else
        scale_ = std::sqrt(2.0 * kernel.gamma), centre_ = centre(X);
    }
    if (kernel.kind == Kind::laplacian) scale_ = kernel.gamma;
  }

  std::unique_ptr<Side> left(const Samples& X, Chosen chosen) const override {
    auto side = std::make_unique<Scaled<T>>();
    const std::size_t d = static_cast<std::size_t>(d_);
    std::vector<double> row(d);
    std::visit(
        [&](const auto& x) {
          for (Index i = 0; i < chosen.n; ++i) {
            const Index at = X.chosen[chosen[i]];
            double norm = 0.0;
            std::fill(row.begin(), row.end(), 0.0);
            x.add(at, 1.0, row.data());
            for (std::size_t k = 0; k < d; ++k) {
              const double value = (centre_.empty() ? row[k] : row[k] - centre_[k]) * scale_;
              if (sparse_ && value == 0.0) continue;
              side->values.push_back(static_cast<T>(value));
              if (sparse_) side->indices.push_back(static_cast<std::uint32_t>(k));
              norm += value * value;
            }
            side->norms.push_back(static_cast<T>(-0.5 * after_ * norm));
            side->indptr.push_back(count(side->values.size()));
          }
        },
        X.rows);
    return side;
  }
  std::unique_ptr<Side> right(const Samples& X, Chosen chosen) const override { return left(X, chosen); }

  void tile(const Side& left, Index i0, Index i1, const Side& right, Index j0, Index j1, T* out, Index stride, Room<T>& room,
            int depth) const override {
    const auto &one = static_cast<const Scaled<T>&>(left), &two = static_cast<const Scaled<T>&>(right);
    T* dense = room.tile(d_, depth);
    if (sparse_) std::fill(dense, dense + d_, T(0));
    for (Index i = i0; i < i1; ++i) {
      const T* x = one.values.data() + one.indptr[static_cast<std::size_t>(i)];
      const Index length = one.indptr[static_cast<std::size_t>(i) + 1] - one.indptr[static_cast<std::size_t>(i)];
      const std::uint32_t* at = one.indices.data() + one.indptr[static_cast<std::size_t>(i)];
      if (sparse_)
        for (Index k = 0; k < length; ++k) dense[at[k]] = x[k];
      for (Index j = j0; j < j1; ++j) {
        const Index begin = two.indptr[static_cast<std::size_t>(j)], end = two.indptr[static_cast<std::size_t>(j) + 1];
        T product = 0;
        if (sparse_)
          for (Index k = begin; k < end; ++k)
            product += two.values[static_cast<std::size_t>(k)] * dense[two.indices[static_cast<std::size_t>(k)]];
        else if (kernel_.kind == Kind::laplacian)
          for (Index k = 0; k < d_; ++k) product -= std::abs(x[k] - two.values[static_cast<std::size_t>(begin + k)]);
        else
          for (Index from = 0; from < d_; from += stretch) {
            T part = 0;
            for (Index k = from; k < std::min(from + stretch, d_); ++k)
              part += x[k] * two.values[static_cast<std::size_t>(begin + k)];
            product += part;
          }
        out[(i - i0) * stride + j - j0] =
            profile(product, one.norms[static_cast<std::size_t>(i)] + two.norms[static_cast<std::size_t>(j)]);
      }
      if (sparse_)
        for (Index k = 0; k < length; ++k) dense[at[k]] = T(0);
    }
  }

  bool is_costly(const Samples& X) const override {
    return kernel_.kind == Kind::laplacian || stored_entries(X) > costly_entries * static_cast<double>(X.size());
  }
  bool has_rounding() const override { return kernel_.kind == Kind::rbf; }

  Rounding rounding(const Side& any, Index n) const override {
    const auto& side = static_cast<const Scaled<T>&>(any);
    Rounding found;
    Index most = 0;
    bool exact = sparse_;
    double largest = 0.0;
    for (Index i = 0; i < n; ++i) {
      const double norm = -static_cast<double>(side.norms[static_cast<std::size_t>(i)]);
      found.norms.push_back(1.0 + norm);  // = √(2·½‖a‖² + 1 + ¼‖a‖⁴), with its two more columns
      most = std::max(most, side.indptr[static_cast<std::size_t>(i) + 1] - side.indptr[static_cast<std::size_t>(i)]);
    }
    for (const T value : side.values) exact = exact && value == std::rint(value);
    for (const double norm : found.norms) largest = std::max(largest, (norm - 1.0) / kernel_.gamma);
    if (exact && largest < 8388608.0) most = 0;  // sums of products of small whole numbers
    found.terms = most <= 2 * stretch ? most + 3 : stretch + (most + stretch - 1) / stretch + 3;
    return found;
  }

 private:
  static constexpr Index stretch = 128;

  T profile(T product, T norms) const {
    switch (kernel_.kind) {
      case Kind::rbf: return std::exp(std::min(static_cast<T>(after_) * product + norms, T(0)));
      case Kind::laplacian: return std::exp(product);
      case Kind::polynomial:
        return natural_power(static_cast<T>(kernel_.gamma) * product + static_cast<T>(kernel_.coef0), kernel_.degree);
      case Kind::sigmoid: return std::tanh(static_cast<T>(kernel_.gamma) * product + static_cast<T>(kernel_.coef0));
      default: return product;
    }
  }

  Expression kernel_;
  Index d_;
  bool sparse_;
  double scale_ = 1.0, after_ = 1.0;
  std::vector<double> centre_;
};

}  // namespace

template <class T>
std::unique_ptr<Node<T>> make_plain(const Expression& kernel, const Samples& X) {
  return std::make_unique<Plain<T>>(kernel, X);
}

template std::unique_ptr<Node<float>> make_plain<float>(const Expression&, const Samples&);
template std::unique_ptr<Node<double>> make_plain<double>(const Expression&, const Samples&);

}  // namespace gapless
