#include "smo/working_set.hpp"

#include <algorithm>

namespace gapless::smo {

template <class Score>
void Selection::largest(Index n, Score score, double floor, Index most, std::vector<Index>& chosen) {
  if (most <= 0) return;
  if (count(open_.size()) < n) {
    open_.resize(n);
    values_.resize(n);
  }
  Index found = 0;
  for (Index k = 0; k < n; ++k) {  // written without a branch, which a processor would mispredict
    const double value = score(k);
    open_[found] = k;
    values_[found] = value;
    found += !taken_[k] && value >= floor;
  }
  double threshold = -infinity;
  if (most < found) {
    sorted_.assign(values_.begin(), values_.begin() + found);
    std::nth_element(sorted_.begin(), sorted_.begin() + (found - most), sorted_.end());
    threshold = sorted_[found - most];
  }
  for (const bool strict : {true, false})
    for (Index h = 0; h < found; ++h)
      if (most > 0 && (strict ? values_[h] > threshold : values_[h] == threshold)) {
        taken_[open_[h]] = 1;
        chosen.push_back(open_[h]);
        --most;
      }
}

void Selection::block(Index n, const double* up, const double* down, const std::vector<char>& keep, Groups groups, bool coupled, Index size,
                      WorkingSet& out) {
  taken_.assign(n, 0);
  std::vector<Index>& chosen = out.chosen;
  chosen.clear();
  out.starts.assign(groups.count + 1, 0);
  const Index most = std::min(size, n);
  for (Index g = 0; g < groups.count; ++g) {
    const auto mine = [&](Index k) { return groups.count == 1 || groups.of[k] == g; };
    const Index begin = count(chosen.size()), room = (most - begin) / (groups.count - g);
    double top = -big, bottom = big;
    for (Index k = 0; k < n; ++k)
      if (mine(k)) {
        top = std::max(top, up[k]);
        bottom = std::min(bottom, down[k]);
      }
    const double low = coupled ? bottom : 0.0, high = coupled ? top : 0.0, middle = 0.5 * (low + high);
    for (const char kept : {2, 1})
      largest(n, [&](Index k) { return keep[k] == kept && mine(k) ? std::fabs(0.5 * (up[k] + down[k]) - middle) : -1.0; }, 0.0,
              room / 2 - (count(chosen.size()) - begin), chosen);
    const Index half = (room - (count(chosen.size()) - begin) + 1) / 2;
    const auto take = [&](auto score, double nearer, double floor, Index most) {
      const Index before = count(chosen.size());
      largest(n, score, std::max(nearer, -0.5 * big), most, chosen);  // mostly there are enough beyond the middle, and fewer to sort
      largest(n, score, std::max(floor, -0.5 * big), most - (count(chosen.size()) - before), chosen);
    };
    take([&](Index k) { return mine(k) ? up[k] : -big; }, middle, low, half);
    const Index rest = room - (count(chosen.size()) - begin);
    take([&](Index k) { return mine(k) ? -down[k] : -big; }, -middle, -high, rest);
    std::sort(chosen.begin() + begin, chosen.end());
    out.starts[g + 1] = count(chosen.size());
  }
}

std::vector<Index> Selection::entrants(Index n, const double* up, const double* down, Groups groups, const double* offsets, bool coupled,
                                       double share, const std::vector<char>& inside, Index most) {
  taken_.assign(inside.begin(), inside.begin() + n);
  std::vector<Index> chosen;
  most = std::min(most, n);
  for (Index g = 0; g < groups.count; ++g) {
    const auto mine = [&](Index k) { return groups.count == 1 || groups.of[k] == g; };
    const Index begin = count(chosen.size()), room = (most - begin) / (groups.count - g);
    double top = -big, bottom = big;
    for (Index k = 0; k < n; ++k)
      if (mine(k)) {
        top = std::max(top, up[k]);
        bottom = std::min(bottom, down[k]);
      }
    const double middle = coupled ? 0.5 * (top + bottom) : 0.0;
    const double low = std::min(offsets[g], middle), high = std::max(offsets[g], middle);
    largest(n, [&](Index k) { return mine(k) ? up[k] : -big; }, low + share * std::max(top - low, 0.0), (room + 1) / 2, chosen);
    const Index rest = room - (count(chosen.size()) - begin);
    largest(n, [&](Index k) { return mine(k) ? -down[k] : -big; }, share * std::max(high - bottom, 0.0) - high, rest, chosen);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<Index> Selection::nearest(const std::vector<double>& scores, Index most) {
  const Index n = count(scores.size());
  taken_.assign(n, 0);
  std::vector<Index> chosen;
  largest(n, [&](Index k) { return scores[k]; }, -infinity, std::min(most, n), chosen);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace gapless::smo
