#include "core/votes.hpp"

#include <algorithm>
#include <vector>

#include "core/pool.hpp"
#include "core/tallies.hpp"

namespace gapless {
namespace {

constexpr Index piece = 128;  // rows that a thread takes at a time

void by_rows(Index rows, const std::function<void(Index first, Index last)>& work) {
  share((rows + piece - 1) / piece, [&](Index k, int) { work(k * piece, std::min((k + 1) * piece, rows)); });
}

// The counts of one row.
struct Counts {
  std::vector<std::int64_t> first, second;

  explicit Counts(Index classes) : first(static_cast<std::size_t>(classes + tally_room)), second(first) {}
  void take(Tally tally, const double* decisions, Index classes) { tally(decisions, classes, first.data(), second.data()); }
};

}  // namespace

void winners(Matrix<const double> decisions, Index classes, Index* winners) {
  by_rows(decisions.rows, [&](Index first, Index last) {
    Counts above(classes);
    for (Index i = first; i < last; ++i) {
      above.take(tally_loops().above, decisions.row(i), classes);
      Index most = -1;
      for (Index c = 0; c < classes; ++c) {
        const Index votes = above.first[c] + c - above.second[c];  // of the c pairs whose second class it is, those that the first has not won
        if (votes > most) most = votes, winners[i] = c;
      }
    }
  });
}

void possible_winners(Matrix<const double> low, Matrix<const double> high, Index classes, Matrix<bool> possible) {
  by_rows(low.rows, [&](Index first, Index last) {
    Counts above(classes), below(classes);  // the pairs that the first class has surely won, and those that the second has
    std::vector<Index> after(static_cast<std::size_t>(classes));
    for (Index i = first; i < last; ++i) {
      above.take(tally_loops().above, low.row(i), classes);
      below.take(tally_loops().below, high.row(i), classes);
      const auto sure = [&](Index c) { return above.first[c] + below.second[c]; };
      after[classes - 1] = -1;  // the most that a class after this one is sure of
      for (Index c = classes - 1; c > 0; --c) after[c - 1] = std::max(after[c], sure(c));
      Index before = -1;
      for (Index c = 0; c < classes; ++c) {
        const Index most = classes - 1 - below.first[c] - above.second[c];
        possible(i, c) = most > before && most >= after[c];  // a class before it wins with as many votes
        before = std::max(before, sure(c));
      }
    }
  });
}

}  // namespace gapless
