// The rows of a table of kernel entries, some of which may still have to be copied from elsewhere: pairs of a short problem ask for few of them.
#pragma once

#include "core/span.hpp"

namespace gapless::smo {

template <class T>
struct TableRows {
  TableRows(Matrix<const T> matrix) : matrix(matrix) {}  // all rows are there
  // `there` marks the rows that are; `fetch` writes one that is not, and marks it.
  TableRows(Matrix<const T> matrix, const char* there, void (*fetch)(void*, Index), void* owner)
      : matrix(matrix), there(there), fetch(fetch), owner(owner) {}

  const T* row(Index i) const {
    if (there != nullptr && !there[i]) fetch(owner, i);
    return matrix.row(i);
  }
  // The matrix after these rows have been asked for; no other rows of it may be read.
  Matrix<const T> with(Places rows) const {
    if (there != nullptr)
      for (const Index i : rows) row(i);
    return matrix;
  }

  Matrix<const T> matrix;
  const char* there = nullptr;
  void (*fetch)(void*, Index) = nullptr;
  void* owner = nullptr;
};

}  // namespace gapless::smo
