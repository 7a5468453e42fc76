#include "smo/laggards.hpp"

#include <algorithm>

namespace gapless::smo {
namespace {

constexpr std::size_t most_rounds = 32;  // rounds that are remembered: after so many all samples are caught up

}  // namespace

void Laggards::record(std::vector<Index> moved, std::vector<double> change, double swing) {
  rounds_.push_back({std::move(moved), std::move(change)});
  drift_.push_back(drift_.back() + swing);
}

void Laggards::settle(Places which) {
  for (const Index k : which) since_[k] = static_cast<std::int32_t>(rounds_.size());
}

void Laggards::settle(Index begin, Index end) {
  std::fill(since_.begin() + begin, since_.begin() + end, static_cast<std::int32_t>(rounds_.size()));
}

std::vector<Index> Laggards::waiting(Index n) const {
  std::vector<Index> out;
  const auto now = static_cast<std::int32_t>(rounds_.size());
  if (now > 0)
    for (Index k = 0; k < n; ++k)
      if (since_[k] < now) out.push_back(k);
  return out;
}

std::vector<Index> Laggards::waiting(Places which) const {
  std::vector<Index> out;
  const auto now = static_cast<std::int32_t>(rounds_.size());
  if (now > 0)
    for (const Index k : which)
      if (since_[k] < now) out.push_back(k);
  return out;
}

std::vector<Index> Laggards::due(Index n, const double* slack) const {
  if (rounds_.size() >= most_rounds) return waiting(n);
  std::vector<Index> out;
  const auto now = static_cast<std::int32_t>(rounds_.size());
  for (Index k = 0; k < n; ++k)
    if (since_[k] < now && !(slack[k] > drift_.back() - drift_[since_[k]])) out.push_back(k);
  return out;
}

void Laggards::catch_up(std::vector<Index> late, const Expand& expand) {
  std::sort(late.begin(), late.end());
  std::vector<std::vector<Index>> batches(rounds_.size());
  for (const Index k : late) batches[since_[k]].push_back(k);
  std::vector<Index> moved, kept;
  std::vector<double> change;
  // The rounds are passed from the last back to the first, so that the changes since each round are sums that grow by one round at a time.
  for (std::size_t r = rounds_.size(); r-- > 0;) {
    const Round& round = rounds_[r];
    for (std::size_t k = 0; k < round.moved.size(); ++k) {
      const Index i = round.moved[k];
      if (!seen_[i]) {
        seen_[i] = 1;
        moved.push_back(i);
      }
      sum_[i] += round.change[k];
    }
    if (batches[r].empty()) continue;
    std::sort(moved.begin(), moved.end());
    kept.clear();
    change.clear();
    for (const Index i : moved)
      if (sum_[i] != 0.0) {
        kept.push_back(i);
        change.push_back(sum_[i]);
      }
    expand(kept, change, batches[r]);
  }
  for (const Index i : moved) {
    sum_[i] = 0.0;
    seen_[i] = 0;
  }
  settle(late);
  if (rounds_.size() >= most_rounds && waiting(count(since_.size())).empty()) forget();
}

void Laggards::forget() {
  std::fill(since_.begin(), since_.end(), 0);
  rounds_.clear();
  drift_.assign(1, 0.0);
}

}  // namespace gapless::smo
