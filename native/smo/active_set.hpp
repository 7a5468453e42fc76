// The kernel entries of the samples that a solver works on: they enter and leave, and what stays is not computed again.
#pragma once

#include <vector>

#include "kernels/panels.hpp"

namespace gapless::smo {

// Memory for a table. One of up to `kept_bytes` stays for the next solver of this process, since fresh memory is slow.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// `ids` are the members in order, `inside` marks them among all samples; table(:m, :m) holds their kernel entries plus `shift`. From the start rows
// begin `wide` entries apart, so that they hardly ever move as more members enter.
template <class T>
class ActiveSet {
 public:
  // Of the samples of some panels, none of which is a member yet.
  ActiveSet(Panels* panels, double shift, Index wide);
  // Of some samples of a given matrix, all of which are members; where they are all of its samples, in order, and nothing is added, it is read where
  // it is.
  ActiveSet(Matrix<const T> given, Places places, double shift);

  // New members, after the others; there is room for `limit` at least.
  void enter(Places members, Index limit);
  // Only these places, in ascending order, stay.
  void keep(Places kept);

  Index size() const { return count(ids.size()); }
  Index samples() const { return count(inside.size()); }
  Index room() const { return rows_; }
  // Further columns of zeros, where there are some, fill up vectors.
  Matrix<const T> entries() const { return {data_, size(), filled_ > 0 ? filled_ : size(), stride_}; }

  std::vector<Index> ids;
  std::vector<char> inside;

 private:
  T* own() const { return static_cast<T*>(buffer_.data()); }
  void make_room(Index known, Index limit);

  Panels* panels_;
  double shift_;
  Index wide_, rows_ = 0, stride_ = 0, filled_ = 0;  // filled: columns, zeros included
  Buffer buffer_;
  const T* data_ = nullptr;  // of a given matrix, or the buffer's
};

}  // namespace gapless::smo
