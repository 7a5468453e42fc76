#include "smo/active_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/pool.hpp"
#include "core/runs.hpp"

namespace gapless::smo {
namespace {

constexpr std::size_t kept_bytes = std::size_t(257) << 20;  // the table of 8,192 samples (full_active of sizes.hpp) in float32 takes 256.5 MiB
constexpr std::size_t small_bytes = std::size_t(4) << 20;   // a table of up to so many bytes gets no more than it asks for

constexpr Index strip = 64;  // rows that a thread takes at a time

// Memory of a large table is asked for in huge pages, where the system has them: a block reads from hundreds of its rows, each in other pages, and the
// processor remembers the places of some thousand pages only.
constexpr std::size_t huge_page = std::size_t(2) << 20;
std::align_val_t alignment_of(std::size_t bytes) { return std::align_val_t(bytes > small_bytes ? huge_page : 64); }
void* allocate(std::size_t bytes) {
  void* const data = ::operator new(bytes, alignment_of(bytes));
#if defined(__linux__)
  if (bytes > small_bytes) madvise(data, bytes, MADV_HUGEPAGE);  // where it fails, pages are small
#endif
  return data;
}

struct Block {
  void* data;
  std::size_t bytes;
};

// Blocks that solvers have left, at most as many as solvers work side by side, each of up to kept_bytes.
std::mutex lock;
std::vector<Block> spare;
Index most_spare = 1;

// The system may take the pages of a block that waits, where it runs short of memory; until then they stay where they are.
void offer(Block block) {
#if defined(__linux__) && defined(MADV_FREE)
  madvise(block.data, block.bytes, MADV_FREE);
#endif
}

bool smaller(const Block& a, const Block& b) { return a.bytes < b.bytes; }
void release(Block block) { ::operator delete(block.data, alignment_of(block.bytes)); }

// The numbers between the beginnings of two rows: whole lines of the cache, plus one, so that rows do not all begin at the same place of the cache.
Index stride_of(Index side) { return (side + 15) / 16 * 16 + 16; }

}  // namespace

void work_side_by_side(Index more) {
  const std::lock_guard<std::mutex> guard(lock);
  most_spare += more;
  while (count(spare.size()) > most_spare) {
    const auto least = std::min_element(spare.begin(), spare.end(), smaller);
    release(*least);
    spare.erase(least);
  }
}

Buffer::Buffer(std::size_t bytes) {
  if (bytes > small_bytes) {
    const std::lock_guard<std::mutex> guard(lock);
    const auto largest = std::max_element(spare.begin(), spare.end(), smaller);
    if (largest != spare.end() && largest->bytes >= bytes) {
      data_ = largest->data;
      bytes_ = largest->bytes;
      spare.erase(largest);
      return;
    }
  }
  bytes_ = bytes > small_bytes ? std::max(bytes, kept_bytes) : bytes;  // pages that are never touched take no memory, small tables are the heap's
  bytes_ = (bytes_ + 63) / 64 * 64;
  data_ = allocate(bytes_);
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  Block left = {data_, bytes_};
  if (bytes_ > small_bytes && bytes_ <= kept_bytes) {
    const std::lock_guard<std::mutex> guard(lock);
    offer(left);
    if (count(spare.size()) < most_spare) {
      spare.push_back(left);
      return;
    }
    const auto least = std::min_element(spare.begin(), spare.end(), smaller);
    if (least->bytes < left.bytes) std::swap(*least, left);
  }
  release(left);
}

Buffer::Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

template <class T>
ActiveSet<T>::ActiveSet(Panels* panels, double shift, Index wide)
    : inside(panels->size(), 0), panels_(panels), shift_(shift), wide_(std::min(wide, panels->size())) {}

template <class T>
ActiveSet<T>::ActiveSet(Matrix<const T> given, Places places, double shift)
    : ids(places.size()), inside(places.size(), 1), panels_(nullptr), shift_(shift), wide_(length(places)), rows_(length(places)) {
  std::iota(ids.begin(), ids.end(), Index(0));
  if (rows_ == given.rows && shift == 0.0 && std::equal(ids.begin(), ids.end(), places.begin())) {
    data_ = given.data;
    stride_ = given.stride;
    return;
  }
  stride_ = (rows_ + 15) / 16 * 16;
  filled_ = stride_;
  buffer_ = Buffer(static_cast<std::size_t>(rows_) * stride_ * sizeof(T));
  data_ = own();
  given_ = given;
  places_.assign(places.begin(), places.end());
  ends_ = run_ends(places);
  there_.assign(rows_, 0);
}

template <class T>
void ActiveSet<T>::fetch(Index i) {
  T* const to = own() + i * stride_;
  const T* const from = given_.row(places_[i]);
  for (Index j = 0; j < rows_; j = ends_[j])
    for (Index k = j; k < ends_[j]; ++k) to[k] = from[places_[j] + k - j] + static_cast<T>(shift_);
  std::fill(to + rows_, to + stride_, T(0));
  there_[i] = 1;
}

template <class T>
void ActiveSet<T>::enter(Places members, Index limit) {
  if (members.empty()) return;
  const Index m = size();
  ids.insert(ids.end(), members.begin(), members.end());
  for (const Index k : members) inside[k] = 1;
  make_room(m, std::max(limit, size()));
  panels_->extend(ids, m, shift_, Matrix<T>{own(), size(), size(), stride_});
  filled_ = 0;
  if (size() == samples()) {  // all samples are members, and none will leave: rows can be filled up with zeros
    filled_ = (size() + 15) / 16 * 16;
    for (Index i = 0; i < size(); ++i) std::fill(own() + i * stride_ + size(), own() + i * stride_ + filled_, T(0));
  }
}

template <class T>
void ActiveSet<T>::keep(Places kept) {
  const Index m = length(kept);
  T* data = own();
  // First the columns of each row that stays are moved together, in place, which threads share; then whole rows are moved.
  share((m + strip - 1) / strip, [&](Index piece, int) {
    for (Index i = piece * strip; i < std::min((piece + 1) * strip, m); ++i) {
      T* row = data + kept[i] * stride_;
      for (Index j = 0; j < m; ++j) row[j] = row[kept[j]];
    }
  });
  for (Index i = 0; i < m; ++i)
    if (kept[i] != i) std::copy_n(data + kept[i] * stride_, m, data + i * stride_);
  filled_ = 0;
  for (const Index k : ids) inside[k] = 0;
  for (Index i = 0; i < m; ++i) ids[i] = ids[kept[i]];
  ids.resize(m);
  for (const Index k : ids) inside[k] = 1;
}

template <class T>
void ActiveSet<T>::make_room(Index known, Index limit) {
  if (limit <= rows_) return;
  const Index stride = std::max(stride_, stride_of(std::max(limit, wide_)));
  const std::size_t bytes = static_cast<std::size_t>(limit) * stride * sizeof(T);
  if (buffer_.bytes() < bytes) {
    Buffer larger(bytes);
    for (Index i = 0; i < known; ++i) std::copy_n(data_ + i * stride_, known, static_cast<T*>(larger.data()) + i * stride);
    buffer_ = std::move(larger);
  } else if (stride > stride_) {
    for (Index i = known - 1; i > 0; --i) std::memmove(own() + i * stride, data_ + i * stride_, known * sizeof(T));
  }
  data_ = own();
  rows_ = limit;
  stride_ = stride;
}

template class ActiveSet<float>;
template class ActiveSet<double>;

}  // namespace gapless::smo
