// Epochs on two threads, each with half of the visits and a copy of w of its own (Jaggi et al. 2014, CoCoA).
//
// After each round of visits the changes of both halves are added with the exact step η = argmax over [0, 1] of D(β + η(Δβ₁ + Δβ₂)), so that D rises
// even where both halves have moved w the same way. The halves are the same with one core and with many: the result does not depend on the number of
// threads.
#include <algorithm>
#include <cmath>

#include "core/pool.hpp"
#include "sdca/sdca.hpp"

namespace gapless {
namespace {

// The visits between two merges: at least so many, and so many that the rows read have 6 entries for each number of w that a merge reads and writes.
constexpr double entries_a_number = 6.0, least_visits = 1024.0;

}  // namespace

void Sdca::sweep_in_halves(Visits visit) {
  const auto round = static_cast<std::size_t>(std::max(least_visits, entries_a_number * static_cast<double>(w_.size() + 1) / entries_));
  while (!visit.empty()) {
    const Visits piece = visit.first(std::min(round, visit.size()));
    visit = visit.subspan(piece.size());
    const std::size_t middle = piece.size() / 2;
    const Visits parts[2] = {piece.first(middle), piece.subspan(middle)};
    SdcaTally tallies[2];
    for (SdcaTally& tally : tallies) {
      tally.offset = tally_.offset;
      tally.threshold = tally_.threshold;
      tally.largest = tally_.largest;
    }
    std::visit(
        [&](auto& samples) {
          old_.resize(piece.size());
          for (std::size_t k = 0; k < piece.size(); ++k) old_[k] = samples[piece[k]].beta;
          share(2, [&](Index half, int) {
            half_w_[half].assign(w_.begin(), w_.end());
            sweep(parts[half], half_w_[half].data(), tallies[half]);
          });
          merge(samples.data(), piece, tallies[0], tallies[1]);
        },
        samples_);
  }
}

// Adds the changes of both halves with the exact step. Along the step |β| is replaced by its chord, which is not below it, so that D rises at least
// by the computed gain.
template <class S>
void Sdca::merge(S* samples, Visits visit, const SdcaTally& a, const SdcaTally& b) {
  double linear = 0.0, square = 0.0, moved = 0.0;
  for (std::size_t k = 0; k < visit.size(); ++k) {
    const S& s = samples[visit[k]];
    const double old = old_[k], change = s.beta - old;
    if (change == 0.0) continue;
    moved += change;
    linear += change * (s.p - s.bend * old) - s.epsilon * (std::fabs(s.beta) - std::fabs(old));
    square += s.bend * change * change;
  }
  linear -= tally_.offset * moved;
  square += options_.shift * moved * moved;
  std::vector<double>& changes = half_w_[0];
  for (std::size_t j = 0; j < w_.size(); ++j) {
    const double change = (changes[j] - w_[j]) + (half_w_[1][j] - w_[j]);
    changes[j] = change;
    linear -= w_[j] * change;
    square += change * change;
  }
  const double step = linear >= square ? 1.0 : std::max(0.0, linear / square);
  for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += step * changes[j];
  if (step < 1.0)
    for (std::size_t k = 0; k < visit.size(); ++k) {
      S& s = samples[visit[k]];
      s.beta = old_[k] + step * (s.beta - old_[k]);
    }
  tally_.offset += step * options_.shift * moved;
  tally_.moved += step * moved;
  tally_.gain += step * linear - 0.5 * step * step * square;
  tally_.gap += a.gap + b.gap;
  tally_.largest = std::max(a.largest, b.largest);
}

}  // namespace gapless
