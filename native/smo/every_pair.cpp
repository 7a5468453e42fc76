#include "smo/every_pair.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "core/pool.hpp"
#include "proof/feasible.hpp"
#include "proof/table_proof.hpp"
#include "smo/engine.hpp"
#include "smo/zero.hpp"

namespace gapless::smo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_proofs = 8;      // by hand: where so many proofs did not agree, with targets that are stricter each time, another method is due
constexpr Index telling = 256;    // samples that tell R: _SOME of gapless/proof/zero.py

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// The problem of one pair of classes; its arrays serve the next pair again.
class OnePair {
 public:
  void state(const ClassPairs& pairs, Index k) {
    const Index begin = pairs.starts[k], n = pairs.starts[k + 1] - begin, first = pairs.firsts[k];
    const bool nu = !pairs.halves.empty();
    const Places places = pairs.places.subspan(begin, n);
    take_entries(pairs, places);
    cost_ = pairs.cost.subspan(begin, n);
    zeros_.resize(n, 0.0);
    p_.assign(n, 0.0);
    lower_.assign(n, 0.0);
    upper_.assign(n, 0.0);
    diagonal_.resize(n);
    g_.resize(n);
    r_.resize(n);
    groups_.assign(n, 0);
    start_.assign(n, 0.0);
    for (Index i = 0; i < n; ++i) {
      diagonal_[i] = K_(places_[i], places_[i]);
      g_[i] = pairs.g[places[i]];
      r_[i] = pairs.r[places[i]];
      if (i < first) {
        lower_[i] = -cost_[i];
        if (nu) groups_[i] = 1;
      } else {
        upper_[i] = cost_[i];
      }
      if (!nu) p_[i] = i < first ? -1.0 : 1.0;
    }
    totals_.assign(nu ? 2 : 1, 0.0);
    if (nu) {
      const double half = pairs.halves[k];
      totals_ = {half, -half};
      begin_at_bounds(0, first);
      begin_at_bounds(first, n);
    }
    const DualBox box = {p_.data(), zeros_.data(), zeros_.data(), lower_.data(), upper_.data(), n};
    to_prove_ = {box, groups_, totals_, g_, r_, !nu};
    zero_ = zero_scale(pairs);
    if (nu) {
      const std::vector<double> whole = start_;
      proof::feasible(lower_, upper_, groups_, totals_, true, whole, start_);
    }
  }

  std::unique_ptr<Smo> engine(double cache_bytes) const {
    // The given matrix has all entries, so that none is computed, and no f is asked for from outside.
    return make_smo({.dual = to_prove_.box,
                     .diagonal = diagonal_.data(),
                     .groups = groups_.data(),
                     .totals = totals_,
                     .coupled = true,
                     .hard = false,
                     .shift = 0.0,
                     .zero = zero_,
                     .entry_work = 1.0},
                    {.given = K_, .places = places_}, {}, start_, {.second_order = true, .cache_bytes = cache_bytes});
  }

  // Writes the β of the proven model.
  proof::TableProof prove(Vector point, Out beta, std::span<proof::Interval> offsets, proof::TableRoom& room) {
    f_.resize(point.size());
    const proof::Repair repair = proof::feasible(lower_, upper_, groups_, totals_, true, point, beta);
    const Index terms = proof::expand(K_, places_, beta, f_);
    const proof::TableProof proven = proof::prove(to_prove_, repair, beta, f_, static_cast<double>(terms), offsets, room);
    for (double& b : beta) b /= proven.margin;
    return proven;
  }

  // A gap that counts as zero where −D is as small.
  double zero_level(double tol) const { return smo::zero_level(zero_, tol); }

  Index size() const { return length(places_); }
  Index groups() const { return count(totals_.size()); }

 private:
  void take_entries(const ClassPairs& pairs, Places places) {
    K_ = pairs.K;
    places_ = places;
    if (pairs.panels == nullptr) return;
    const Index n = length(places);
    while (count(order_.size()) < n) order_.push_back(count(order_.size()));
    if (count(table_.size()) < n * n) table_ = std::vector<double>(static_cast<std::size_t>(n * n));
    const Matrix<double> table = {table_.data(), n, n, n};
    pairs.panels->extend(places, 0, 0.0, table);
    K_ = {table_.data(), n, n, n};
    places_ = Places(order_).first(static_cast<std::size_t>(n));
  }

  // The samples of one class of a ν-SVC, from the first on at their bounds, until they have the sum that they must have (first_point of
  // gapless/proof/feasible.py).
  void begin_at_bounds(Index begin, Index end) {
    double left = totals_[0];
    for (Index i = begin; i < end && left > 0.0; ++i) {
      const double size = std::min(left, cost_[i]);
      start_[i] = upper_[i] > 0.0 ? size : -size;
      left -= size;
    }
  }

  // ½ (S·R)² of a ν-SVC (zero_scale of gapless/proof/zero.py); 0 for the hinge loss.
  double zero_scale(const ClassPairs& pairs) const {
    if (pairs.halves.empty()) return 0.0;
    const Index n = size(), some = std::min(n, telling);
    double square = 0.0;
    for (Index i = 0; i < some; ++i) {
      const Index from = i * n / some;
      const double* row = K_.row(places_[from]);
      double entries = 0.0;
      for (Index j = 0; j < some; ++j) entries += row[places_[j * n / some]];
      square += (diagonal_[from] - entries / static_cast<double>(some)) / static_cast<double>(some);
    }
    const double size = 2.0 * totals_[0];
    return 0.5 * size * size * std::max(square, 0.0);
  }

  Matrix<const double> K_ = {};
  Places places_;  // in K_
  Vector cost_;
  std::vector<Index> order_;
  std::vector<double> table_, p_, zeros_, lower_, upper_, diagonal_, g_, r_, f_, totals_, start_;
  std::vector<Index> groups_;
  proof::TableProblem to_prove_ = {};
  double zero_ = 0.0;
};

struct Room {
  OnePair pair;
  proof::TableRoom proof;
  std::vector<proof::Interval> offsets;
};

void solve_one(const ClassPairs& pairs, const PairTargets& targets, Index k, Clock::time_point began, Room& room, PairSolutions& found) {
  OnePair& pair = room.pair;
  pair.state(pairs, k);
  const Index n = pair.size(), groups = pair.groups();
  room.offsets.resize(groups);
  const std::unique_ptr<Smo> engine = pair.engine(targets.cache_bytes);
  const Out beta(found.beta.data() + pairs.starts[k], static_cast<std::size_t>(n));
  const double most = std::min(targets.most, targets.turns * static_cast<double>(n));
  // Where the pair is not done, the caller goes on from β as it is.
  const auto leave = [&] { std::ranges::copy(engine->beta(), beta.begin()); };
  double gap_target = targets.gap, kkt_target = targets.ahead * targets.kkt, steps = 0.0;
  for (int proofs = 0; proofs < most_proofs && steps < most; ++proofs) {
    const SmoAdvance advance = engine->step(infinity, most - steps, gap_target, kkt_target);
    steps += advance.iterations;
    found.steps[k] = steps;
    if (advance.outcome != SmoOutcome::ready) return leave();
    const proof::TableProof proven = pair.prove(engine->beta(), beta, room.offsets, room.proof);
    const double gap = proven.primal - proven.dual, goal = targets.gap * std::fabs(proven.primal);
    const bool close = gap <= goal && std::isfinite(proven.primal);
    if (proven.violation <= targets.kkt && (close || std::max(gap, -proven.dual) <= pair.zero_level(targets.gap))) {
      for (Index g = 0; g < groups; ++g) {
        found.low[k * groups + g] = room.offsets[g].low;
        found.high[k * groups + g] = room.offsets[g].high;
      }
      found.primal[k] = proven.primal;
      found.dual[k] = proven.dual;
      found.rounding[k] = proven.rounding;
      found.violation[k] = proven.violation;
      found.outside[k] = proven.outside;
      found.off[k] = proven.off;
      found.plain_primal[k] = proven.plain_primal;
      found.plain_dual[k] = proven.plain_dual;
      found.own[k] = proven.own;
      found.checked[k] = seconds_since(began);
      found.done[k] = close ? 1 : 2;
      return;
    }
    if (!std::isfinite(gap) || (gap > goal && gap - proven.rounding <= goal)) return leave();  // no better point of float64 would prove more
    gap_target *= targets.stricter;
    kkt_target *= targets.stricter;
  }
  leave();
}

}  // namespace

PairSolutions::PairSolutions(const ClassPairs& pairs) : done(pairs.firsts.size()), beta(pairs.places.size()), own(pairs.firsts.size()) {
  for (std::vector<double>* each : {&steps, &checked, &seconds, &primal, &dual, &rounding, &violation, &outside, &off, &plain_primal, &plain_dual})
    each->resize(done.size());
  for (std::vector<double>* each : {&low, &high}) each->resize(pairs.halves.empty() ? done.size() : 2 * done.size());
}

void solve_every_pair(const ClassPairs& pairs, const PairTargets& targets, PairSolutions& found) {
  const Clock::time_point began = Clock::now();
  std::vector<Room> rooms(static_cast<std::size_t>(core_count()));
  share(length(pairs.firsts), [&](Index k, int thread) {
    if (seconds_since(began) >= targets.seconds) return;
    const Clock::time_point now = Clock::now();
    solve_one(pairs, targets, k, now, rooms[thread], found);
    found.seconds[k] = seconds_since(now);
  });
}

}  // namespace gapless::smo
