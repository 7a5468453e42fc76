// An array whose entries are written before they are read. Unlike std::vector it is not filled with zeros first: that would take as long as a pass
// over the array, and the first touch of each page is left to the thread that uses it.
#pragma once

#include <memory>
#include <utility>

#include "core/span.hpp"

namespace gapless {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index size) : values_(new T[static_cast<std::size_t>(size)]), size_(size) {}

  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }
  Index size() const { return size_; }
  T& operator[](Index i) { return values_[static_cast<std::size_t>(i)]; }
  const T& operator[](Index i) const { return values_[static_cast<std::size_t>(i)]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  void swap(Buffer& other) {
    values_.swap(other.values_);
    std::swap(size_, other.size_);
  }

 private:
  std::unique_ptr<T[]> values_;
  Index size_ = 0;
};

}  // namespace gapless
