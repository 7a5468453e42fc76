// Products of all rows with vectors, in float64 whatever the type of the values, on the threads of the pool. How the work is cut into pieces, and
// with it the rounding, does not depend on the number of threads.
#pragma once

#include "core/isa.hpp"
#include "core/rows.hpp"

namespace gapless {

// out = X W, where W is (d, columns) and out (n, columns), both by rows.
void matvec(const Rows& rows, const double* w, Index columns, double* out);

// out = Xᵀ B, where B is (n, columns) and out (d, columns), both by rows. A row of X whose row of B is zero is not read.
void rmatvec(const Rows& rows, const double* beta, Index columns, Index d, double* out);

// out[k] = ‖x‖² of row k · step, for every k with k · step < n.
void squared_norms(const Rows& rows, Index n, Index step, double* out);

// The loops of one level (core/isa.hpp), for one kind of rows.
template <class R>
struct ProductLoop {
  void (*dots)(const R& rows, Index begin, Index end, const double* w, Index columns, double* out);
  // out[k] = ⟨row begin + k, w⟩ for each k below end − begin.
  void (*dots_at)(const R& rows, Index begin, Index end, const double* w, double* out);
  void (*combine)(const R& rows, Index begin, Index end, const double* beta, Index columns, double* out);
  void (*squares)(const R& rows, Index begin, Index end, Index step, double* out);
};

struct ProductLoops {
  ProductLoop<DenseRows<float>> dense32;
  ProductLoop<DenseRows<double>> dense64;
  ProductLoop<CsrRows<float>> csr32;
  ProductLoop<CsrRows<double>> csr64;
  ProductLoop<OnesRows> ones;

  const auto& of(const DenseRows<float>&) const { return dense32; }
  const auto& of(const DenseRows<double>&) const { return dense64; }
  const auto& of(const CsrRows<float>&) const { return csr32; }
  const auto& of(const CsrRows<double>&) const { return csr64; }
  const auto& of(const OnesRows&) const { return ones; }
};

GAPLESS_DECLARE_LEVELS(ProductLoops, product_loops)

}  // namespace gapless
