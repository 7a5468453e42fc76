#include "core/tallies.hpp"

#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using V = Lanes<double>;

constexpr int width = lanes<double>;
static_assert(width <= tally_room);

#if defined(__GNUC__) || defined(__clang__)
using Counts = Lanes<std::int64_t>;

// Counts the pairs of one class by vectors, and returns how many pairs are left, at whose beginning a vector would not end within the row.
template <bool above>
GAPLESS_INLINE Index by_vectors(const double* value, Index pairs, Index inside, std::int64_t& first, std::int64_t* second) {
  Counts number, sum{};
  for (int k = 0; k < width; ++k) number[k] = k;
  Index at = 0;
  for (; at < pairs && at + width <= inside; at += width) {
    const V values = read<V>(value + at);
    const Counts hit = above ? Counts(values > 0.0) : Counts(values < 0.0);  // −1 where it is true
    Counts before;
    std::memcpy(&before, second + at, sizeof(Counts));
    before -= hit & Counts(number < pairs - at);  // the lanes after the last pair belong to the next class
    sum -= hit & Counts(number < pairs - at);
    std::memcpy(second + at, &before, sizeof(Counts));
  }
  for (int k = 0; k < width; ++k) first += sum[k];
  return at < pairs ? pairs - at : 0;
}
#else
template <bool above>
Index by_vectors(const double*, Index pairs, Index, std::int64_t&, std::int64_t*) { return pairs; }
#endif

template <bool above>
void tally(const double* decisions, Index classes, std::int64_t* first, std::int64_t* second) {
  for (Index c = 0; c < classes + tally_room; ++c) first[c] = second[c] = 0;
  const double* const end = decisions + classes * (classes - 1) / 2;
  for (Index c = 0; c < classes; ++c) {
    const Index pairs = classes - 1 - c, left = by_vectors<above>(decisions, pairs, end - decisions, first[c], second + c + 1);
    for (Index k = pairs - left; k < pairs; ++k) {
      const std::int64_t hit = above ? decisions[k] > 0.0 : decisions[k] < 0.0;
      first[c] += hit;
      second[c + 1 + k] += hit;
    }
    decisions += pairs;
  }
}

}  // namespace

extern const TallyLoops tally_loops = {tally<true>, tally<false>};

}  // namespace gapless::GAPLESS_LEVEL
