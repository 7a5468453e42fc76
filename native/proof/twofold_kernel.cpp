#include "proof/twofold_kernel.hpp"

#include <algorithm>
#include <limits>

#include "core/pool.hpp"

namespace gapless::proof {
namespace {

using Kind = Formula::Kind;

constexpr Index piece_rows = 16;  // rows of a piece of work: few, since an entry takes microseconds, and Ctrl-C is heard between pieces
constexpr Index chains = 4;       // sums that do not wait for each other: an addition of twice the digits is a chain of some ten operations

const Two one{1.0, 0.0};

// Σ term(x_k, z_k) over the features of rows i and j; features that neither row stores are left out, so that term(0, 0) must be zero.
template <class T, class Term>
Two over_features(const DenseRows<T>& x, Index i, Index j, const Term& term) {
  const T *a = x.row(i), *b = x.row(j);
  Two sums[chains];
  Index k = 0;
  for (; k + chains <= x.d; k += chains)
    for (Index h = 0; h < chains; ++h) sums[h] = sums[h] + term(static_cast<double>(a[k + h]), static_cast<double>(b[k + h]));
  for (Index h = 0; k < x.d; ++k, ++h) sums[h] = sums[h] + term(static_cast<double>(a[k]), static_cast<double>(b[k]));
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <class R, class Term>
  requires R::is_sparse
Two over_features(const R& x, Index i, Index j, const Term& term) {
  Two sum;
  Index a = x.indptr[i], b = x.indptr[j];
  const Index a_end = x.indptr[i + 1], b_end = x.indptr[j + 1];
  while (a < a_end || b < b_end) {
    const bool left = b == b_end || (a < a_end && x.indices[a] <= x.indices[b]);
    const bool right = a == a_end || (b < b_end && x.indices[b] <= x.indices[a]);
    sum = sum + term(left ? x.value(a) : 0.0, right ? x.value(b) : 0.0);
    a += left;
    b += right;
  }
  return sum;
}

template <class Term>
Two over_features(const Rows& rows, Index i, Index j, const Term& term) {
  return std::visit([&](const auto& x) { return over_features(x, i, j, term); }, rows);
}

Two product_of(const Rows& rows, Index i, Index j) { return over_features(rows, i, j, two_product); }

Two square_of(const Rows& rows, Index i, Index j) {
  return over_features(rows, i, j, [](double x, double z) {
    const Two apart = two_sum(x, -z);
    return apart * apart;
  });
}

Two matern(Two square, double length, double nu) {
  if (std::isinf(nu)) return exponential(-(square * 0.5 / two_product(length, length)));
  const Two r = root(square * (2.0 * nu)) / Two{length, 0.0}, fall = exponential(-r);
  if (nu == 0.5) return fall;
  return (nu == 1.5 ? one + r : one + r + r * r / Two{3.0, 0.0}) * fall;
}

// k(x_i, x_j), where j is the `place`-th of the chosen samples.
Two entry(const Formula& f, Index i, Index j, Index place) {
  switch (f.kind) {
    case Kind::linear:
      return product_of(f.rows, i, j);
    case Kind::polynomial:
      return power(product_of(f.rows, i, j) * f.a + f.b, f.degree);
    case Kind::sigmoid: {
      const Two t = product_of(f.rows, i, j) * f.a + f.b, q = exponential(-(magnitude(t) * 2.0));
      const Two found = (one - q) / (one + q);
      return t.hi < 0.0 ? -found : found;
    }
    case Kind::rbf:
      return exponential(-(square_of(f.rows, i, j) * f.a));
    case Kind::laplacian:
      return exponential(-(over_features(f.rows, i, j, [](double x, double z) { return magnitude(two_sum(x, -z)); }) * f.a));
    case Kind::cosine: {
      const Two xx = product_of(f.rows, i, i), zz = product_of(f.rows, j, j);
      if (!(xx.hi > 0.0) || !(zz.hi > 0.0)) return {};
      return product_of(f.rows, i, j) / (root(xx) * root(zz));
    }
    case Kind::chi2:
      return exponential(-(over_features(f.rows, i, j, [](double x, double z) {
        const Two apart = two_sum(x, -z), both = two_sum(x, z);
        return both.hi > 0.0 ? apart * apart / both : Two{};
      }) * f.a));
    case Kind::matern:
      return matern(square_of(f.rows, i, j), f.a, f.b);
    case Kind::constant:
      return {f.a, 0.0};
    case Kind::given:
      return {f.entries(i, place), 0.0};
    case Kind::scaled:
      return entry(f.parts[0], i, j, place) * f.a;
    case Kind::power:
      return power(entry(f.parts[0], i, j, place), f.degree);
    case Kind::sum:
      return entry(f.parts[0], i, j, place) + entry(f.parts[1], i, j, place);
    case Kind::product:
      return entry(f.parts[0], i, j, place) * entry(f.parts[1], i, j, place);
    case Kind::exp:
      return exponential(entry(f.parts[0], i, j, place));
    case Kind::series: {
      const Two x = entry(f.parts[0], i, j, place);
      Two sum;
      for (std::size_t m = f.coefficients.size(); m-- > 0;) sum = sum * x + f.coefficients[m];
      return sum;
    }
  }
  return {std::numeric_limits<double>::quiet_NaN(), 0.0};
}

template <class Work>
void by_rows(Index n, const Work& work) {
  share((n + piece_rows - 1) / piece_rows, [&](Index piece, int) {
    for (Index i = piece * piece_rows; i < std::min(n, (piece + 1) * piece_rows); ++i) work(i);
  });
}

}  // namespace

void twofold_expansion(const Formula& kernel, Places chosen, Vector c, Index n, TwoVector out) {
  by_rows(n, [&](Index i) {
    Two sum;
    for (Index j = 0; j < length(chosen); ++j) sum = sum + entry(kernel, i, chosen[j], j) * c[j];
    out.set(i, sum);
  });
}

void twofold_weights(const Rows& rows, Vector beta, TwoVector w, Out sizes) {
  for (Index k = 0; k < length(sizes); ++k) w.set(k, {});
  std::fill(sizes.begin(), sizes.end(), 0.0);
  const auto add = [&](Index k, double x, double b) {
    const Two product = two_product(x, b);
    w.set(k, w.at(k) + product);
    sizes[k] += std::fabs(product.hi);
  };
  std::visit(
      [&]<class R>(const R& x) {
        for (Index i = 0; i < length(beta); ++i) {
          if (beta[i] == 0.0) continue;
          if constexpr (R::is_sparse)
            for (Index k = x.indptr[i]; k < x.indptr[i + 1]; ++k) add(x.indices[k], x.value(k), beta[i]);
          else
            for (Index k = 0; k < x.d; ++k) add(k, static_cast<double>(x.row(i)[k]), beta[i]);
        }
      },
      rows);
}

void twofold_products(const Rows& rows, Vector w, TwoVector out, Out sizes) {
  std::visit(
      [&]<class R>(const R& x) {
        by_rows(x.size(), [&](Index i) {
          Two sums[chains];
          double size = 0.0;
          Index h = 0;
          const auto add = [&](double value, double weight) {
            const Two product = two_product(value, weight);
            sums[h] = sums[h] + product;
            size += std::fabs(product.hi);
            h = (h + 1) % chains;
          };
          if constexpr (R::is_sparse)
            for (Index k = x.indptr[i]; k < x.indptr[i + 1]; ++k) add(x.value(k), w[x.indices[k]]);
          else
            for (Index k = 0; k < x.d; ++k) add(static_cast<double>(x.row(i)[k]), w[k]);
          out.set(i, (sums[0] + sums[1]) + (sums[2] + sums[3]));
          sizes[i] = size;
        });
      },
      rows);
}

}  // namespace gapless::proof
