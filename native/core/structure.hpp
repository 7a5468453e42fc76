// Where the entries of a CSR matrix are: checked once, in memory that nobody else can write to.
//
// The loops over sparse rows read w[indices[k]] without a look at the index. So the indices that they read are a copy of the caller's, made and checked
// here: whatever becomes of the caller's arrays, at whatever time and in whatever thread, no loop reads outside. Only a mapped file is read in place.
// What is written: the copy. Time: one pass, in pieces that stay in the cache between the copy and the checks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/span.hpp"

namespace gapless {

class Structure {
 public:
  // `columns` is the number of features. Throws std::invalid_argument, with the sentence that the user reads, where an index is not below it, or
  // where `ends` does not divide the indices among rows.
  template <class I, class P>
  static Structure copied(std::span<const I> indices, std::span<const P> ends, Index columns);
  // Indices that stay where they are; the caller keeps them there, and unchanged.
  template <class P>
  static Structure borrowed(std::span<const std::uint32_t> indices, std::span<const P> ends, Index columns);

  const std::uint32_t* indices() const { return places_; }
  const Index* indptr() const { return ends_.data(); }
  const std::int32_t* narrow_indptr() const { return narrow_.data(); }  // the same in 32 bits, for SciPy; empty where that is too short
  bool is_narrow() const { return !narrow_.empty(); }
  Index rows() const { return count(ends_.size()) - 1; }
  Index entries() const { return entries_; }
  Index columns() const { return columns_; }
  bool is_canonical() const { return canonical_; }  // whether the indices of each row ascend, none twice
  bool owns() const { return own_ != nullptr; }

 private:
  std::unique_ptr<std::uint32_t[]> own_;
  const std::uint32_t* places_ = nullptr;
  std::vector<Index> ends_;
  std::vector<std::int32_t> narrow_;
  Index entries_ = 0, columns_ = 0;
  bool canonical_ = true;

  template <class P>
  void divide(std::span<const P> ends, Index entries, Index columns);
  template <class I>
  void check(const I* given, std::uint32_t* to);
};

}  // namespace gapless
