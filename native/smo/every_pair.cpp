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
constexpr double same = 1e-12;    // of the largest coefficient: points that differ by no more are the same
constexpr Index telling = 256;    // samples that tell R: _SOME of gapless/proof/zero.py
// Samples that a large pair is begun with, and the most times that others are added to them; by hand. Targets on parts are stricter by the last number,
// since the values of the other samples add to what the proof finds.
constexpr Index some = 128;
constexpr Index most_in_table = 1600;  // of a pair with panels: with more samples the entries that are needed take less time than all
constexpr int most_rounds = 12;
constexpr double some_ahead = 0.4;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// The problem of one pair of classes; its arrays serve the next pair again.
class OnePair {
 public:
  // The problem of pair k, which begins at the feasible point that is nearest to `start`, whose sums are `f` where they are known. Without entries it can
  // be proven, by values from panels, but not solved.
  void state(const ClassPairs& pairs, Index k, Vector start, Vector f, bool with_entries = true) {
    const Index begin = pairs.starts[k], n = pairs.starts[k + 1] - begin, first = pairs.firsts[k];
    const bool nu = !pairs.halves.empty();
    const Places places = pairs.places.subspan(begin, n);
    first_ = first;
    panels_ = pairs.panels;
    if (with_entries)
      take_entries(pairs, places);
    else
      K_ = {}, places_ = places;
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
      diagonal_[i] = with_entries ? K_(places_[i], places_[i]) : 0.0;
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
    const bool begun = !nu && std::ranges::any_of(start, [](double b) { return b != 0.0; });
    start_f_ = {};
    if (nu || begun) {
      const std::vector<double> point = begun ? std::vector<double>(start.begin(), start.end()) : start_;
      proof::feasible(lower_, upper_, groups_, totals_, true, point, start_);
      if (begun && !f.empty() && std::isfinite(f[0]) && is_same(point)) start_f_ = f;
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
                    {.given = K_, .places = places_}, {}, start_, {.second_order = true, .cache_bytes = cache_bytes}, start_f_);
  }

  // Writes the feasible point that is nearest to another one, and returns its decision values.
  Vector values(Vector point, Out beta) {
    f_.resize(point.size());
    repair_ = proof::feasible(lower_, upper_, groups_, totals_, true, point, beta);
    terms_ = K_.rows > 0 ? proof::expand(K_, places_, beta, f_) : expand(beta);
    return f_;
  }

  // Proves the point of the last call of `values`, and writes the β of the proven model in its place.
  proof::TableProof prove(Out beta, std::span<proof::Interval> offsets, proof::TableRoom& room) {
    const proof::TableProof proven = proof::prove(to_prove_, repair_, beta, f_, static_cast<double>(terms_), offsets, room);
    for (double& b : beta) b /= proven.margin;
    for (double& each : f_) each /= proven.margin;
    return proven;
  }

  Vector sums() const { return f_; }  // of the β of the last call of `values` or `prove`

  bool counts_as_zero(double tol, const proof::TableProof& proven) const { return smo::counts_as_zero(zero_, tol, proven.primal, proven.dual); }

  // Of the hinge loss: the offset in the middle of those with which no sample of `inside` violates for given values, or the least violates.
  double offset(Vector beta, Vector f, std::span<const char> inside) const {
    double low = -infinity, high = infinity;
    for (Index i = 0; i < size(); ++i) {
      if (!inside[i]) continue;
      const double slope = p_[i] - f[i];
      if (beta[i] < upper_[i]) low = std::max(low, slope);
      if (beta[i] > lower_[i]) high = std::min(high, slope);
    }
    return 0.5 * (low + high);
  }

  Index size() const { return length(places_); }
  Index groups() const { return count(totals_.size()); }

 private:
  // f = Kβ from the panels; returns the number of entries of β that are not zero.
  Index expand(Vector beta) {
    left_.clear();
    c_.clear();
    for (Index i = 0; i < size(); ++i)
      if (beta[i] != 0.0) {
        left_.push_back(places_[i]);
        c_.push_back(beta[i]);
      }
    sums_.resize(static_cast<std::size_t>(panels_->size()));
    for (Index place : places_) sums_[static_cast<std::size_t>(place)] = 0.0;
    // The places of each class are in ascending order.
    for (const Places of_class : {places_.first(static_cast<std::size_t>(first_)), places_.subspan(static_cast<std::size_t>(first_))})
      panels_->expand(left_, c_, of_class, sums_.data());
    for (Index i = 0; i < size(); ++i) f_[i] = sums_[static_cast<std::size_t>(places_[i])];
    return length(Places(left_));
  }

  // Whether the start is this point except for rounding.
  bool is_same(Vector point) const {
    double largest = 0.0, off = 0.0;
    for (std::size_t i = 0; i < point.size(); ++i) {
      largest = std::max(largest, std::fabs(point[i]));
      off = std::max(off, std::fabs(point[i] - start_[i]));
    }
    return off <= same * largest;
  }

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
  Index first_ = 0, terms_ = 0;
  Panels* panels_ = nullptr;
  proof::Repair repair_ = {};
  std::vector<Index> order_, left_;
  std::vector<double> c_, sums_, table_, p_, zeros_, lower_, upper_, diagonal_, g_, r_, f_, totals_, start_;
  Vector start_f_;
  std::vector<Index> groups_;
  proof::TableProblem to_prove_ = {};
  double zero_ = 0.0;
};

// The memory of a thread. `part` is a pair of classes without most of its samples.
struct Room {
  OnePair pair, part;
  proof::TableRoom proof;
  std::vector<proof::Interval> offsets;
  std::vector<char> inside;
  std::vector<Index> places, worst;
  std::vector<double> cost, point, violation, start, f, part_start, part_f;
};

void record(const proof::TableProof& proven, Vector f, Index begin, std::span<const proof::Interval> offsets, Index done, Index k, Clock::time_point began, PairSolutions& found) {
  for (std::size_t g = 0; g < offsets.size(); ++g) {
    found.low[k * offsets.size() + g] = offsets[g].low;
    found.high[k * offsets.size() + g] = offsets[g].high;
  }
  std::ranges::copy(f, found.f.begin() + begin);
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
  found.done[k] = done;
}

bool keeps(const proof::TableProof& proven, const PairTargets& targets) {
  return proven.primal - proven.dual <= targets.gap * std::fabs(proven.primal) && std::isfinite(proven.primal);
}

// Solves a pair of classes, of the hinge loss and with panels, on some of its samples and on those of the others that violate, until none does: most
// samples of classes that hardly overlap never need their entries with each other. Returns whether the pair is proven; where too many samples are needed,
// or steps, it is not.
bool solve_on_some(const ClassPairs& pairs, const PairTargets& targets, Index k, Clock::time_point began, Room& room, PairSolutions& found) {
  OnePair &pair = room.pair, &part = room.part;
  pair.state(pairs, k, {}, {}, false);
  const Index begin = pairs.starts[k], n = pair.size(), first = pairs.firsts[k];
  const Out beta(found.beta.data() + begin, static_cast<std::size_t>(n));
  room.inside.assign(n, 0);
  for (Index i = 0; i < n; i += n / some) room.inside[i] = 1;
  room.inside[first] = 1;  // a class of few samples may lie between
  Index begun = 0;
  for (Index i = 0; i < n; ++i)
    if (room.start[i] != 0.0) {
      room.inside[i] = 1;
      ++begun;
    }
  if (begun > std::min(n / 2, most_in_table)) return false;
  room.point = room.start;
  bool known = begun > 0;
  room.offsets.resize(1);
  const double enough = 0.5 * targets.ahead * targets.kkt;
  double steps = 0.0;
  for (int rounds = 0; rounds < most_rounds; ++rounds) {
    room.places.clear();
    room.cost.clear();
    room.part_start.clear();
    room.part_f.clear();
    Index of_first = 0;
    for (Index i = 0; i < n; ++i)
      if (room.inside[i]) {
        room.places.push_back(pairs.places[begin + i]);
        room.cost.push_back(pairs.cost[begin + i]);
        room.part_start.push_back(room.point[i]);
        if (known) room.part_f.push_back(room.f[i]);
        of_first += i < first;
      }
    const Index m = count(room.places.size()), starts[] = {0, m};
    part.state({.K = {}, .panels = pairs.panels, .g = pairs.g, .r = pairs.r, .places = room.places, .starts = starts, .firsts = {&of_first, 1},
                .cost = room.cost, .halves = {}}, 0, room.part_start, room.part_f);
    const std::unique_ptr<Smo> engine = part.engine(targets.cache_bytes);
    const double most = std::min(targets.most - steps, targets.turns * static_cast<double>(m));
    const SmoAdvance advance = engine->step(infinity, most, targets.gap * some_ahead, targets.kkt * some_ahead);
    steps += advance.iterations;
    if (advance.outcome != SmoOutcome::ready) return false;
    room.point.assign(n, 0.0);
    for (Index i = 0, at = 0; i < n; ++i)
      if (room.inside[i]) room.point[i] = engine->beta()[at++];
    const Vector f = pair.values(room.point, beta);
    room.f.assign(f.begin(), f.end());
    known = true;
    const double b = pair.offset(beta, f, room.inside);
    room.worst.clear();
    room.violation.assign(n, 0.0);
    for (Index i = 0; i < n; ++i) {
      const double y = i < first ? -1.0 : 1.0;
      room.violation[i] = 1.0 - y * (f[i] + b);
      if (!room.inside[i] && room.violation[i] > enough) room.worst.push_back(i);
    }
    if (room.worst.empty()) {
      const proof::TableProof proven = pair.prove(beta, room.offsets, room.proof);
      if (!(proven.violation <= targets.kkt) || !keeps(proven, targets)) return false;
      found.steps[k] = steps;
      record(proven, pair.sums(), begin, room.offsets, 1, k, began, found);
      return true;
    }
    if (m + count(room.worst.size()) > std::min(n / 2, most_in_table)) return false;
    const Index least = std::max(some, m);
    if (count(room.worst.size()) > least) {
      std::ranges::nth_element(room.worst, room.worst.begin() + least, [&](Index i, Index j) {
        return room.violation[i] != room.violation[j] ? room.violation[i] > room.violation[j] : i < j;
      });
      room.worst.resize(static_cast<std::size_t>(least));
    }
    for (Index i : room.worst) room.inside[i] = 1;
  }
  return false;
}

void solve_one(const ClassPairs& pairs, const PairTargets& targets, Index k, Clock::time_point began, Room& room, PairSolutions& found) {
  const Out beta(found.beta.data() + pairs.starts[k], static_cast<std::size_t>(pairs.starts[k + 1] - pairs.starts[k]));
  room.start.assign(beta.begin(), beta.end());
  room.f.assign(found.f.begin() + pairs.starts[k], found.f.begin() + pairs.starts[k + 1]);
  if (pairs.panels != nullptr && pairs.halves.empty() && count(beta.size()) >= 4 * some) {
    if (solve_on_some(pairs, targets, k, began, room, found)) return;
    std::ranges::copy(room.start, beta.begin());
    room.f.assign(found.f.begin() + pairs.starts[k], found.f.begin() + pairs.starts[k + 1]);
  }
  if (pairs.panels != nullptr && pairs.starts[k + 1] - pairs.starts[k] > most_in_table) return;
  OnePair& pair = room.pair;
  pair.state(pairs, k, room.start, room.f);
  const Index n = pair.size(), groups = pair.groups();
  room.offsets.resize(groups);
  const std::unique_ptr<Smo> engine = pair.engine(targets.cache_bytes);
  const double most = std::min(targets.most, targets.turns * static_cast<double>(n));
  // Where the pair is not done, the caller goes on from β as it is.
  const auto leave = [&] { std::ranges::copy(engine->beta(), beta.begin()); };
  double gap_target = targets.gap, kkt_target = targets.ahead * targets.kkt, steps = 0.0;
  for (int proofs = 0; proofs < most_proofs && steps < most; ++proofs) {
    const SmoAdvance advance = engine->step(infinity, most - steps, gap_target, kkt_target);
    steps += advance.iterations;
    found.steps[k] = steps;
    if (advance.outcome != SmoOutcome::ready) return leave();
    pair.values(engine->beta(), beta);
    const proof::TableProof proven = pair.prove(beta, room.offsets, room.proof);
    const double gap = proven.primal - proven.dual, goal = targets.gap * std::fabs(proven.primal);
    const bool close = keeps(proven, targets);
    if (proven.violation <= targets.kkt && (close || pair.counts_as_zero(targets.gap, proven)))
      return record(proven, pair.sums(), pairs.starts[k], room.offsets, close ? 1 : 2, k, began, found);
    if (!std::isfinite(gap) || (gap > goal && gap - proven.rounding <= goal)) return leave();  // no better point of float64 would prove more
    gap_target *= targets.stricter;
    kkt_target *= targets.stricter;
  }
  leave();
}

}  // namespace

PairSolutions::PairSolutions(const ClassPairs& pairs)
    : done(pairs.firsts.size()), beta(pairs.places.size()), f(pairs.places.size(), std::nan("")), own(pairs.firsts.size()) {
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
