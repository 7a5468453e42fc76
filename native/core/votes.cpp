#include "core/votes.hpp"

#include <algorithm>
#include <vector>

#include "core/pool.hpp"

namespace gapless {
namespace {

constexpr Index piece = 128;  // rows that a thread takes at a time

void by_rows(Index rows, const std::function<void(Index first, Index last)>& work) {
  share((rows + piece - 1) / piece, [&](Index k, int) { work(k * piece, std::min((k + 1) * piece, rows)); });
}

}  // namespace

void winners(Matrix<const double> decisions, Index classes, Index* winners) {
  by_rows(decisions.rows, [&](Index first, Index last) {
    std::vector<Index> votes(static_cast<std::size_t>(classes));
    for (Index i = first; i < last; ++i) {
      std::fill(votes.begin(), votes.end(), Index(0));
      const double* value = decisions.row(i);
      for (Index c = 0; c < classes; ++c)
        for (Index d = c + 1; d < classes; ++d, ++value) {
          const Index won = *value > 0.0;
          votes[c] += won;
          votes[d] += 1 - won;
        }
      winners[i] = std::max_element(votes.begin(), votes.end()) - votes.begin();
    }
  });
}

void possible_winners(Matrix<const double> low, Matrix<const double> high, Index classes, Matrix<bool> possible) {
  by_rows(low.rows, [&](Index first, Index last) {
    std::vector<Index> most(static_cast<std::size_t>(classes)), sure(most), after(most);
    for (Index i = first; i < last; ++i) {
      std::fill(most.begin(), most.end(), Index(0));
      std::fill(sure.begin(), sure.end(), Index(0));
      const double *least = low.row(i), *largest = high.row(i);
      for (Index c = 0; c < classes; ++c)
        for (Index d = c + 1; d < classes; ++d, ++least, ++largest) {
          const Index can_first = !(*largest < 0.0), can_second = !(*least > 0.0);
          most[c] += can_first;
          most[d] += can_second;
          sure[c] += 1 - can_second;
          sure[d] += 1 - can_first;
        }
      after[classes - 1] = -1;  // the most that a class after this one is sure of
      for (Index c = classes - 1; c > 0; --c) after[c - 1] = std::max(after[c], sure[c]);
      Index before = -1;
      for (Index c = 0; c < classes; ++c) {
        possible(i, c) = most[c] > before && most[c] >= after[c];  // a class before it wins with as many votes
        before = std::max(before, sure[c]);
      }
    }
  });
}

}  // namespace gapless
