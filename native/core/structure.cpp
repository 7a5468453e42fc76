#include "core/structure.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace gapless {
namespace {

constexpr Index piece = 1 << 13;  // indices that are copied and then checked: 32 KiB of them stay in the first cache

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

std::string told(Index number) { return std::to_string(number); }

}  // namespace

template <class P>
void Structure::divide(std::span<const P> ends, Index entries, Index columns) {
  if (ends.empty()) refuse("indptr must have an entry more than there are rows; it is empty");
  if (columns < 0 || columns > std::numeric_limits<std::uint32_t>::max()) refuse("columns must be fewer than 2³²; there are " + told(columns));
  columns_ = columns;
  entries_ = entries;
  ends_.assign(ends.begin(), ends.end());
  if (ends_.front() != 0) refuse("indptr must begin with 0; got " + told(ends_.front()));
  for (std::size_t i = 1; i < ends_.size(); ++i)
    if (ends_[i] < ends_[i - 1])
      refuse("indptr must not fall; entry " + told(count(i)) + " is " + told(ends_[i]) + " after " + told(ends_[i - 1]));
  if (ends_.back() != entries)
    refuse("indptr must end with the number of its entries; it ends with " + told(ends_.back()) + ", with " + told(entries) + " indices");
  if (columns <= std::numeric_limits<std::int32_t>::max() && entries <= std::numeric_limits<std::int32_t>::max())
    narrow_.assign(ends_.begin(), ends_.end());
}

template <class I>
void Structure::check(const I* given, std::uint32_t* to) {
  // An index that is negative, or too large for 32 bits, is made the largest number of 32 bits: it is above every column then.
  constexpr Index beyond = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t highest = 0;
  Index falls = 0, row = 0;
  for (Index begin = 0; begin < entries_; begin += piece) {
    const Index end = std::min(begin + piece, entries_);
    if constexpr (sizeof(I) == sizeof(std::uint32_t)) {
      if (to != nullptr) std::copy(given + begin, given + end, to + begin);
    } else {
      for (Index k = begin; k < end; ++k)
        to[k] = given[k] < 0 || static_cast<Index>(given[k]) > beyond ? static_cast<std::uint32_t>(beyond) : static_cast<std::uint32_t>(given[k]);
    }
    const std::uint32_t* const now = places_;
    for (Index k = begin; k < end; ++k) highest = std::max(highest, now[k]);
    if (!canonical_) continue;
    // As many places where an index does not ascend as there are rows that begin with such a place: then none is within a row.
    std::uint32_t here = 0;
    for (Index k = std::max<Index>(begin, 1); k < end; ++k) here += now[k] <= now[k - 1];
    falls += here;
    for (; row < rows() && ends_[static_cast<std::size_t>(row)] < end; ++row) {
      const Index first = ends_[static_cast<std::size_t>(row)];
      if (first > 0 && first < ends_[static_cast<std::size_t>(row) + 1]) falls -= now[first] <= now[first - 1];
    }
    canonical_ = falls == 0;
  }
  if (entries_ > 0 && static_cast<Index>(highest) >= columns_) {
    const auto wrong = std::find_if(places_, places_ + entries_, [&](std::uint32_t j) { return static_cast<Index>(j) >= columns_; });
    const std::string what = sizeof(I) == sizeof(std::uint32_t)
                                 ? told(static_cast<Index>(static_cast<std::int32_t>(*wrong)))
                                 : told(static_cast<Index>(given[wrong - places_]));
    refuse("indices must lie between 0 and " + told(columns_ - 1) + "; got " + what);
  }
}

template <class I, class P>
Structure Structure::copied(std::span<const I> indices, std::span<const P> ends, Index columns) {
  Structure made;
  made.divide(ends, count(indices.size()), columns);
  made.own_ = std::make_unique_for_overwrite<std::uint32_t[]>(indices.size() + 1);
  made.places_ = made.own_.get();
  made.check(indices.data(), made.own_.get());
  return made;
}

template <class P>
Structure Structure::borrowed(std::span<const std::uint32_t> indices, std::span<const P> ends, Index columns) {
  Structure made;
  made.divide(ends, count(indices.size()), columns);
  made.places_ = indices.data();
  made.check(indices.data(), static_cast<std::uint32_t*>(nullptr));
  return made;
}

template Structure Structure::copied(std::span<const std::uint32_t>, std::span<const std::int32_t>, Index);
template Structure Structure::copied(std::span<const std::uint32_t>, std::span<const Index>, Index);
template Structure Structure::copied(std::span<const Index>, std::span<const std::int32_t>, Index);
template Structure Structure::copied(std::span<const Index>, std::span<const Index>, Index);
template Structure Structure::borrowed(std::span<const std::uint32_t>, std::span<const std::int32_t>, Index);
template Structure Structure::borrowed(std::span<const std::uint32_t>, std::span<const Index>, Index);

}  // namespace gapless
