// What a kernel is made of, and the samples it is asked for.
#pragma once

#include <memory>
#include <vector>

#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless {

// Some samples of many: those named, or a run of them.
struct Chosen {
  const Index* places = nullptr;  // a run from `begin` on if null
  Index begin = 0, n = 0;

  GAPLESS_INLINE Index operator[](Index i) const { return places ? places[i] : begin + i; }
};

// Chosen rows of a matrix.
struct Samples {
  Rows rows;
  Chosen chosen;
  const void* matrix = nullptr;  // by which a Block knows the matrix

  Index size() const { return chosen.n; }
  Index features() const {
    return std::visit([](const auto& x) { return x.d; }, rows);
  }
};

// Entries that somebody else computes: a kernel in Python.
class Block {
 public:
  virtual ~Block() = default;
  // out(i, j) = k(row left[i] of one matrix, row right[j] of another); any thread may call it.
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
  double gamma = 1.0, coef0 = 0.0;  // of the kernel's formula; gamma is the scale or the constant of those that have one
  int degree = 1;                   // of polynomial and power
  std::vector<Expression> parts;    // of scaled, power, sum and product
  Table table;
  std::shared_ptr<const Block> block;  // the kernel as a whole, where its own loops would lose too much
};

}  // namespace gapless
