#include "proof/twofold_values.hpp"

#include <vector>

#include "core/pool.hpp"
#include "proof/twofold.hpp"

namespace gapless::proof {
namespace {

using Kind = Expression::Kind;

constexpr Index piece_rows = 16;  // of a piece of work: Ctrl-C is heard between pieces

// What formulas need of two rows.
struct Pair {
  Two product, square, absolute;  // ⟨x, z⟩, ‖x − z‖², ‖x − z‖₁
};

struct Needs {
  bool product = false, square = false, absolute = false;

  void add(const Expression& e) {
    product = product || e.kind == Kind::linear || e.kind == Kind::polynomial || e.kind == Kind::sigmoid;
    square = square || e.kind == Kind::rbf;
    absolute = absolute || e.kind == Kind::laplacian;
    for (const Expression& part : e.parts) add(part);
  }
};

void add_feature(Pair& pair, const Needs& needs, double x, double z) {
  if (needs.product) pair.product = pair.product + two_product(x, z);
  if (!needs.square && !needs.absolute) return;
  const Two apart = two_sum(x, -z);
  if (needs.square) pair.square = pair.square + apart * apart;
  if (needs.absolute) pair.absolute = pair.absolute + magnitude(apart);
}

template <class T>
Pair pair_of(const DenseRows<T>& x, Index i, Index j, const Needs& needs) {
  Pair pair;
  const T *a = x.row(i), *b = x.row(j);
  for (Index k = 0; k < x.d; ++k) add_feature(pair, needs, static_cast<double>(a[k]), static_cast<double>(b[k]));
  return pair;
}

template <class R>
  requires R::is_sparse
Pair pair_of(const R& x, Index i, Index j, const Needs& needs) {
  Pair pair;
  Index a = x.indptr[i], b = x.indptr[j];
  const Index a_end = x.indptr[i + 1], b_end = x.indptr[j + 1];
  while (a < a_end || b < b_end) {
    const bool left = b == b_end || (a < a_end && x.indices[a] <= x.indices[b]);
    const bool right = a == a_end || (b < b_end && x.indices[b] <= x.indices[a]);
    add_feature(pair, needs, left ? x.value(a) : 0.0, right ? x.value(b) : 0.0);
    a += left;
    b += right;
  }
  return pair;
}

Two entry(const Expression& e, const Pair& pair, Index i, Index j) {
  switch (e.kind) {
    case Kind::linear:
      return pair.product;
    case Kind::polynomial:
      return power(pair.product * e.gamma + Two{e.coef0, 0.0}, e.degree);
    case Kind::sigmoid: {
      const Two t = pair.product * e.gamma + Two{e.coef0, 0.0}, q = exponential(-(magnitude(t) * 2.0));
      const Two found = (Two{1.0, 0.0} - q) / (Two{1.0, 0.0} + q);
      return t.hi < 0.0 ? -found : found;
    }
    case Kind::rbf:
      return exponential(-(pair.square * e.gamma));
    case Kind::laplacian:
      return exponential(-(pair.absolute * e.gamma));
    case Kind::constant:
      return {e.gamma, 0.0};
    case Kind::scaled:
      return entry(e.parts[0], pair, i, j) * e.gamma;
    case Kind::power:
      return power(entry(e.parts[0], pair, i, j), e.degree);
    case Kind::sum:
      return entry(e.parts[0], pair, i, j) + entry(e.parts[1], pair, i, j);
    case Kind::product:
      return entry(e.parts[0], pair, i, j) * entry(e.parts[1], pair, i, j);
    default:
      return {std::numeric_limits<double>::quiet_NaN(), 0.0};  // given entries have a way of their own
  }
}

}  // namespace

void twofold_expansion(const Expression& kernel, const Samples& X, Vector beta, Out out) {
  Needs needs;
  needs.add(kernel);
  std::vector<Index> support;
  for (Index j = 0; j < length(beta); ++j)
    if (beta[j] != 0.0) support.push_back(j);
  const Index n = X.size(), pieces = (n + piece_rows - 1) / piece_rows;
  std::visit(
      [&](const auto& x) {
        share(pieces, [&](Index piece, int) {
          for (Index i = piece * piece_rows; i < std::min(n, (piece + 1) * piece_rows); ++i) {
            Two sum;
            for (const Index j : support) sum = sum + entry(kernel, pair_of(x, X.chosen[i], X.chosen[j], needs), i, j) * beta[j];
            out[i] = sum.hi + sum.lo;
          }
        });
      },
      X.rows);
}

void twofold_weights(const Rows& rows, Vector beta, Out w) {
  std::visit(
      [&]<class R>(const R& x) {
        std::vector<Two> sums(w.size());
        for (Index i = 0; i < length(beta); ++i) {
          if (beta[i] == 0.0) continue;
          if constexpr (R::is_sparse)
            for (Index k = x.indptr[i]; k < x.indptr[i + 1]; ++k) sums[x.indices[k]] = sums[x.indices[k]] + two_product(x.value(k), beta[i]);
          else
            for (Index k = 0; k < x.d; ++k)
              sums[static_cast<std::size_t>(k)] = sums[static_cast<std::size_t>(k)] + two_product(static_cast<double>(x.row(i)[k]), beta[i]);
        }
        for (std::size_t k = 0; k < w.size(); ++k) w[k] = sums[k].hi + sums[k].lo;
      },
      rows);
}

void twofold_products(const Rows& rows, Vector w, Out out) {
  std::visit(
      [&]<class R>(const R& x) {
        for (Index i = 0; i < length(out); ++i) {
          Two sum;
          if constexpr (R::is_sparse)
            for (Index k = x.indptr[i]; k < x.indptr[i + 1]; ++k) sum = sum + two_product(x.value(k), w[x.indices[k]]);
          else
            for (Index k = 0; k < x.d; ++k) sum = sum + two_product(static_cast<double>(x.row(i)[k]), w[static_cast<std::size_t>(k)]);
          out[i] = sum.hi + sum.lo;
        }
      },
      rows);
}

}  // namespace gapless::proof
