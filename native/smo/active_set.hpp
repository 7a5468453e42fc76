// The active set: the samples that a solver works on, with their kernel entries. Samples enter and leave, and entries of those that stay are kept.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/panels.hpp"
#include "smo/table_rows.hpp"

namespace gapless::smo {

// So many more solvers (fewer where it is negative) work side by side from now on.
void work_side_by_side(Index more);

// Memory for a table of entries. The first touch of fresh memory is slow, so that a table of up to `kept_bytes` is kept for the next solver of this
// process; where solvers work side by side, one for each of them.
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

// `ids` are the members in the order of the table, `inside` marks them among all samples; the table's first m rows and columns hold their kernel
// entries plus `shift`. From the start rows begin `wide` entries apart, so that they hardly ever move when more members enter.
template <class T>
class ActiveSet {
 public:
  // For the samples of some panels, none of which is a member yet.
  ActiveSet(Panels* panels, double shift, Index wide);
  // For the samples `places` of a given matrix, all of which are members. Where these are all of its samples, in order, and shift = 0, the matrix is
  // not copied.
  ActiveSet(Matrix<const T> given, Places places, double shift);

  // Appends new members; the table gets room for at least `limit` members.
  void enter(Places members, Index limit);
  // Keeps only the members at these places of the table, which are in ascending order.
  void keep(Places kept);

  Index size() const { return count(ids.size()); }
  Index samples() const { return count(inside.size()); }
  Index room() const { return rows_; }
  double shift() const { return shift_; }
  // The table. It may have further columns of zeros, which fill up the last vector of a row.
  Matrix<const T> entries() const { return {data_, size(), filled_ > 0 ? filled_ : size(), stride_}; }
  // The same; of a given matrix a row is copied when it is asked for.
  TableRows<T> rows() {
    if (there_.empty()) return entries();
    return {entries(), there_.data(), [](void* self, Index i) { static_cast<ActiveSet*>(self)->fetch(i); }, this};
  }

  std::vector<Index> ids;
  std::vector<char> inside;

 private:
  T* own() const { return static_cast<T*>(buffer_.data()); }
  void make_room(Index known, Index limit);
  void fetch(Index i);

  Panels* panels_;
  double shift_;
  Index wide_, rows_ = 0, stride_ = 0, filled_ = 0;  // filled_: the number of columns with those of zeros; 0 where there are none of zeros
  Buffer buffer_;
  const T* data_ = nullptr;  // the entries of a given matrix, or those in the buffer
  // Of a given matrix: where the members are in it, where runs of neighbours end among them, and which rows have been copied.
  Matrix<const T> given_ = {};
  std::vector<Index> places_, ends_;
  std::vector<char> there_;
};

// Where the table of the last solver on some panels waits for the next one: problems that differ in their costs alone have entries in common.
template <class T>
class LastTable {
 public:
  std::optional<ActiveSet<T>> take() {
    const std::lock_guard<std::mutex> guard(lock_);
    return std::exchange(table_, std::nullopt);
  }
  void leave(ActiveSet<T> table) {
    const std::lock_guard<std::mutex> guard(lock_);
    table_ = std::move(table);
  }

 private:
  std::mutex lock_;
  std::optional<ActiveSet<T>> table_;
};

}  // namespace gapless::smo
