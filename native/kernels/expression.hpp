// A kernel as an expression of its parts, and the samples that its entries are computed for.
#pragma once

#include <memory>
#include <vector>

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

// n samples of many: those at `places`, or a run of consecutive ones.
struct Chosen {
  const Index* places = nullptr;  // null for the run from `begin` on
  Index begin = 0, n = 0;

  GAPLESS_INLINE Index operator[](Index i) const { return places ? places[i] : begin + i; }
};

// Chosen rows of a matrix.
struct Samples {
  Rows rows;
  Chosen chosen;
  const void* matrix = nullptr;  // a name for the matrix, which a Block (below) is called with

  Index size() const { return chosen.n; }
  Index features() const {
    return std::visit([](const auto& x) { return x.d; }, rows);
  }
};

// Entries that are computed outside of this core: a kernel in Python.
class Block {
 public:
  virtual ~Block() = default;
  // Writes out(i, j) = k(row left[i] of the left matrix, row right[j] of the right matrix). Any thread may call it.
  virtual void fill(const void* left_matrix, Places left, const void* right_matrix, Places right, Matrix<double> out) const = 0;
};

// A given Gram matrix, in either precision, with any strides.
struct Table {
  const void* data = nullptr;
  bool single = false;
  Index n = 0, row_stride = 0, column_stride = 0;

  GAPLESS_INLINE double operator()(Index i, Index j) const {
    const Index at = i * row_stride + j * column_stride;
    return single ? static_cast<double>(static_cast<const float*>(data)[at]) : static_cast<const double*>(data)[at];
  }
};

struct Expression {
  enum class Kind { linear, polynomial, sigmoid, rbf, laplacian, constant, scaled, power, sum, product, table, block };

  Kind kind = Kind::linear;
  double gamma = 1.0, coef0 = 0.0;  // the parameters of the kernel's formula; gamma is also the factor of scaled and the value of constant
  int degree = 1;                   // the degree of polynomial, the exponent of power
  std::vector<Expression> parts;    // the operands of scaled, power, sum and product
  Table table;
  std::shared_ptr<const Block> block;  // the same kernel computed outside, for samples on which its own loops would lose too many digits
};

}  // namespace gapless
