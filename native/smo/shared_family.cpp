#include "smo/shared_family.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/pool.hpp"
#include "core/runs.hpp"
#include "smo/block.hpp"
#include "smo/sizes.hpp"
#include "smo/starts.hpp"
#include "smo/table_products.hpp"

namespace gapless::smo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_proofs = 8;      // by hand: where so many proofs did not agree, with targets that are stricter each time, another method is due
constexpr double enough = 0x1p50;   // bytes for kernel entries, all of which are in memory already
// The gap of a point falls mostly as the square of its largest violation: it is expected to at first, and no longer where a proof has not agreed.
constexpr double gap_power = 0.5, least_step = 1e-3;
constexpr double little = 0.4;  // where no more of a gap than this share of the goal or of its rounding could be removed, it is left as it is
constexpr double f32_error = 3e-8;  // the error of an entry that was rounded to float32, as a share of it, in the mean

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

template <class T>
class FamilyOf final : public Family {
 public:
  FamilyOf(const SharedTable& table, Matrix<const T> K, Index a, float* room)
      : table_(table), all_(K), places_(table.places.subspan(table.starts[a], table.starts[a + 1] - table.starts[a])),
        p_(table.p.subspan(table.starts[a], places_.size())), m_(length(places_)), first_(a * table.weights.rows), ends_(run_ends(places_)), single_(room),
        fits_(table.weights.rows) {
    for (const Index place : places_) {
      diagonal_.push_back(table.diagonal[place]);
      g_.push_back(table.g[place]);
      r_.push_back(table.r[place]);
    }
    groups_.assign(m_, 0);
    zeros_.assign(m_, 0.0);
    if (!table.same.empty()) find_twins();
  }

  void state(Vector C, Vector gap, double kkt, SharedSolutions& found) override {
    std::vector<Index> first, further;  // the members with another point to try, of a first C and of a further one
    for (Index m = 0; m < count(fits_.size()); ++m) {
      MemberFit& fit = fits_[m];
      fit.gap = 0.0;
      if (!(C[m] > 0.0)) continue;
      const bool fresh = fit.C == 0.0, kept = keeps(fit, C[m], gap[m], first_ + m, found);
      if (!fresh && !kept) leave(samples(), fit, C[m]);
      set_cost(m, C[m]);
      fit.steps = 0.0;
      if (kept) continue;
      fit.gap = gap[m];
      fit.asked = false;
      fit.margin = 1.0;
      fit.epsilon.assign(m_, table_.epsilon[m]);
      fit.next_beta.assign(m_, 0.0);
      if (fresh ? begin(samples(), fit) : arrive(samples(), fit, kkt)) (fresh ? first : further).push_back(m);
    }
    if (!further.empty()) roughly_expand(further);
    for (const Index m : further) stay_at_bounds(samples(), fits_[m], kkt);
    if (first.empty()) return;
    expand(first);
    for (const Index m : first) take_larger(samples(), fits_[m]);
    if (!table_.margins) return;
    for (const Index m : first) nearest_first(samples(), fits_[m]);
    expand(first);
    for (const Index m : first) take_larger(samples(), fits_[m]);
  }

  void ask(Vector gap) override {
    for (std::size_t m = 0; m < fits_.size(); ++m) {
      fits_[m].gap = fits_[m].C > 0.0 ? gap[m] : 0.0;
      fits_[m].asked = true;
    }
  }

  void solve(const SharedTargets& targets, std::vector<FamilyRoom>& rooms, SharedSolutions& found) override {
    std::vector<Index> pending;
    for (Index m = 0; m < count(fits_.size()); ++m)
      if (fits_[m].gap > 0.0) pending.push_back(m);
    if (pending.empty()) return;
    const Clock::time_point began = Clock::now();
    single_.prepare<T>(all_, places_, ends_, diagonal_.data());
    for (const Index m : pending) {
      MemberFit& fit = fits_[m];
      fit.left = fit.tired = false;
      fit.next_beta = fit.beta;
      fit.next_f = fit.f;
      // A first proof finds most gaps small enough where no violation is too large: only where it does not the engine estimates the gap itself.
      fit.gap_target = fit.asked ? fit.gap : infinity;
      fit.kkt_target = targets.ahead * targets.kkt;
      const Index at = first_ + m;
      if (fit.asked && found.done[at]) aim(fit, fit.gap * std::fabs(found.primal[at]), found.apart[at], found.apart_rounding[at], found.violation[at], gap_power);
    }
    for (int proofs = 0; proofs < most_proofs && !pending.empty(); ++proofs) {
      // Each thread has as many members as the others, small ones together; those that are left over are solved one by one, with threads that share
      // their blocks.
      const std::span<const Index> all(pending);
      const Index many = count(pending.size()), threads = thread_count(), each = m_ <= one_block ? std::max<Index>(1, many / threads) : 1;
      const Index parts = many / each / threads * threads;
      share(parts, [&](Index part, int thread) { step(all.subspan(part * each, each), targets.turns, rooms[thread]); });
      for (Index k = parts * each; k < many; ++k) step(all.subspan(k, 1), targets.turns, rooms[0]);
      const double terms = expand(pending);
      share(count(pending.size()), [&](Index k, int thread) {
        const Index m = pending[k];
        judge(fits_[m], targets, terms, rooms[thread].proof, began, first_ + m, found);
      });
      std::erase_if(pending, [&](Index m) { return fits_[m].left || fits_[m].gap == 0.0; });
    }
    for (MemberFit& fit : fits_) fit.engine.reset();
    for (MemberFit& fit : fits_) fit.gap = 0.0;
  }

  void put_aside(Index turn, Vector C, SharedSolutions& found) override {
    const std::size_t members = fits_.size(), first = static_cast<std::size_t>(turn) * members;
    aside_.resize(std::max(aside_.size(), first + members));
    for (Index m = 0; m < count(members); ++m)
      if (C[m] > 0.0) aside_[first + m] = {fits_[m].beta, fits_[m].f, fits_[m].margin, found.row(first_ + m), found.kept[first_ + m] > 0.0};
  }

  void take_up(Index turn, Vector C, Vector gap, SharedSolutions& found) override {
    for (Index m = 0; m < count(fits_.size()); ++m) {
      if (!(C[m] > 0.0)) continue;
      MemberFit& fit = fits_[m];
      Aside& aside = aside_[static_cast<std::size_t>(turn) * fits_.size() + m];
      const bool kept = aside.kept && keeps(fit, C[m], gap[m], first_ + m, found);
      set_cost(m, C[m]);
      if (kept) continue;
      fit.beta.swap(aside.beta);
      fit.f.swap(aside.f);
      fit.margin = aside.margin;
      found.put(first_ + m, aside.found);
      found.kept[first_ + m] = 0.0;
    }
  }

  Vector known_f(Index member) const override { return covers_all() ? Vector(fits_[member].f) : Vector(); }
  Vector beta(Index member) const override { return fits_[member].beta; }
  double margin(Index member) const override { return fits_[member].margin; }

 private:
  // What was found of a member at a turn.
  struct Aside {
    std::vector<double> beta, f;
    double margin;
    SharedSolutions::Row found;
    bool kept;
  };

  // Whether what was proven of the last problem of a member holds of the next one: the model has no losses, so that its P is the same with a larger C,
  // and β, which has room to its bounds, is still feasible, with the same D. Otherwise nothing is known of the next problem.
  bool keeps(MemberFit& fit, double C, double gap, Index at, SharedSolutions& found) const {
    const double width = found.primal[at] - found.dual[at];
    const bool kept = found.done[at] && !found.own[at] && C >= fit.C && width <= gap * std::fabs(found.primal[at]);
    found.kept[at] = kept;
    found.done[at] = kept;
    found.seconds[at] = found.checked[at] = found.steps[at] = 0.0;
    if (!kept) return false;
    double norm = 0.0;
    for (Index i = 0; i < m_; ++i) norm += fit.beta[i] * fit.f[i];
    found.plain_primal[at] = 0.5 * norm + C / fit.C * (found.plain_primal[at] - 0.5 * norm);
    fit.last_beta.clear();  // no line leads through a point that has not moved
    return true;
  }

  // The bounds of a member's variables at this C.
  void set_cost(Index m, double C) {
    MemberFit& fit = fits_[m];
    fit.C = C;
    const double* weight = table_.weights.row(m);
    for (auto* each : {&fit.lower, &fit.upper}) each->assign(m_, 0.0);
    for (Index i = 0; i < m_; ++i) {
      const double cost = C * weight[places_[i]];
      if (!table_.margins || p_[i] < 0.0) fit.lower[i] = -cost;
      if (!table_.margins || p_[i] > 0.0) fit.upper[i] = cost;
    }
  }

  bool covers_all() const { return m_ == all_.rows && ends_[0] == m_; }

  FamilySamples samples() const { return {p_, diagonal_, zeros_, totals_, groups_, table_.margins}; }
  DualBox box(const MemberFit& fit) const { return samples().box(fit); }

  // Finds the samples that the family has twice, as it has those with labels that contradict each other. Samples that it has more often, as those of a
  // regression, are left alone: a sum of several β may round more than is left of it.
  void find_twins() {
    std::vector<std::pair<Index, Index>> order;  // by sample
    for (Index i = 0; i < m_; ++i) order.emplace_back(table_.same[places_[i]], i);
    std::sort(order.begin(), order.end());
    const auto differs = [&](std::size_t k, std::size_t other) { return other >= order.size() || order[k].first != order[other].first; };
    for (std::size_t k = 1; k < order.size(); ++k)
      if (!differs(k, k - 1) && differs(k, k + 1) && (k < 2 || differs(k, k - 2))) twins_.emplace_back(order[k - 1].second, order[k].second);
  }

  // next_f = K next_β for some members at a time; returns the roundings of each sum. Where a sample contradicts itself, its β of both labels grow with C
  // and cancel: they are added up before the sum, so that it does not round what cancels.
  double expand(const std::vector<Index>& which) {
    std::vector<const double*> from;
    std::vector<double*> to;
    for (const Index m : which) {
      MemberFit& fit = fits_[m];
      fit.next_f.resize(m_);
      to.push_back(fit.next_f.data());
      from.push_back(fit.next_beta.data());
      if (twins_.empty()) continue;
      fit.factors = fit.next_beta;
      for (const auto& [one, other] : twins_) fit.factors[one] += std::exchange(fit.factors[other], 0.0);
      from.back() = fit.factors.data();
    }
    return table_products<T>(all_, places_, from, to) + (twins_.empty() ? 0.0 : 1.0);
  }

  // next_f = K next_β for the free variables of some members: for starts, whose f is not proven, with entries in float32 where that reads less.
  void roughly_expand(const std::vector<Index>& which) {
    single_.prepare<T>(all_, places_, ends_, diagonal_.data());
    Index rows = 0;
    for (const Index m : which) rows += count(fits_[m].free.size());
    if (single_.all.data == nullptr || rows > 2 * m_) {
      expand(which);
      return;
    }
    std::vector<Index> moved;
    std::vector<double> change;
    for (const Index m : which) {
      MemberFit& fit = fits_[m];
      moved.clear();
      change.clear();
      for (const Index i : fit.free) {
        moved.push_back(i);
        change.push_back(fit.next_beta[i]);
      }
      fit.next_f.assign(m_, 0.0);
      spread<float>({single_.all.data, m_, m_, single_.all.stride}, moved, change.data(), fit.next_f.data());
    }
  }

  // From next_β and next_f of some members to points that meet the targets: by pairs in float32 as long as they get on, then by a walk over faces or
  // by the engine.
  void step(std::span<const Index> members, double turns, FamilyRoom& room) {
    step_single(members, turns, room);
    for (const Index m : members) {
      MemberFit& fit = fits_[m];
      if (fit.tired && !walk(fit, turns, room.walk)) step_full(fit, turns);
      const std::vector<double> found = fit.next_beta;
      fit.repair = proof::feasible(fit.lower, fit.upper, groups_, totals_, true, found, fit.next_beta);
    }
  }

  // The engine, which walks too, takes longer to begin than the walk of few samples takes.
  bool walk(MemberFit& fit, double turns, TableWalk& walk) {
    if (fit.engine || m_ > one_block) return false;
    const double pair = 4.0 * static_cast<double>(m_);  // its work, as Turns counts it
    const double most = std::min(walk_room * std::max(pair * fit.steps, FaceWalk::expected_work(box(fit), m_, fit.next_beta.data())),
                                 pair * (turns * static_cast<double>(m_) - fit.steps));
    if (!(most > 0.0)) return false;
    walk.stand_on<T>(all_, places_, ends_);
    const bool reached =
        walk.solve(box(fit), diagonal_.data(), groups_, totals_, walk_share * fit.kkt_target, most, fit.next_beta.data(), fit.next_f.data());
    fit.steps += std::ceil(walk.work() / pair);
    return reached;
  }

  // Members whose pairs do not get on become tired.
  void step_single(std::span<const Index> members, double turns, FamilyRoom& room) {
    std::vector<SingleProblem> problems;
    std::vector<MemberFit*> of;
    for (const Index m : members) {
      MemberFit& fit = fits_[m];
      if (fit.tired) continue;
      of.push_back(&fit);
      problems.push_back({box(fit), fit.kkt_target, turns * static_cast<double>(m_) - fit.steps, fit.next_beta.data(), fit.next_f.data()});
    }
    if (single_.all.data == nullptr)
      for (SingleProblem& problem : problems) problem.end = SingleProblem::End::tired;
    else if (single_.few.empty())
      room.pairs.solve(problems, diagonal_.data(), single_.all);
    else
      for (SingleProblem& problem : problems) room.sparse_pairs.solve(problem, diagonal_.data(), single_.few);
    for (std::size_t k = 0; k < of.size(); ++k) {
      of[k]->steps += problems[k].steps;
      if (problems[k].end == SingleProblem::End::reached) continue;
      of[k]->tired = true;
      refresh(of[k]->next_beta, of[k]->next_f.data());
    }
  }

  void step_full(MemberFit& fit, double turns) {
    if (!fit.engine) {
      SmoEntries entries = {.places = places_};
      if constexpr (sizeof(T) == 4) {
        entries.given_single = all_;
        entries.error = f32_error * *std::max_element(diagonal_.begin(), diagonal_.end());
      } else {
        entries.given = all_;
      }
      const Exact exact = [this](Vector beta, std::optional<Places>, double* f) { refresh(beta, f); };
      fit.engine = make_smo({.dual = box(fit),
                             .diagonal = diagonal_.data(),
                             .groups = groups_.data(),
                             .totals = {0.0},
                             .coupled = true,
                             .hard = false,
                             .shift = 0.0,
                             .zero = 0.0,
                             .entry_work = 1.0},
                            entries, exact, fit.next_beta, {.second_order = true, .cache_bytes = enough, .walk_first = true}, fit.next_f);
    }
    const double most = turns * static_cast<double>(m_);
    SmoAdvance advance;
    do {
      advance = fit.engine->step(infinity, most - fit.steps, fit.gap_target, fit.kkt_target);
      fit.steps += advance.iterations;
    } while (advance.outcome == SmoOutcome::running && fit.steps < most);
    fit.left = advance.outcome != SmoOutcome::ready;
    fit.next_beta.assign(fit.engine->beta().begin(), fit.engine->beta().end());
  }

  void refresh(Vector beta, double* f) const { table_products<T>(all_, places_, {beta.data()}, {f}); }

  void judge(MemberFit& fit, const SharedTargets& targets, double terms, proof::TableRoom& room, Clock::time_point began, Index at, SharedSolutions& found) {
    proof::Interval offsets[1];
    const proof::TableProblem problem = {box(fit), groups_, totals_, g_, r_, table_.margins, twins_.empty() ? Vector() : Vector(fit.factors)};
    const proof::TableProof proven = proof::prove(problem, fit.repair, fit.next_beta, fit.next_f, terms, offsets, room);
    // Where a closer proof is asked for, the distance from the optimum is what has to become small.
    const double gap = proven.primal - proven.dual, goal = fit.gap * std::fabs(proven.primal), last = fit.kkt_target;
    const double reached = fit.asked ? proven.apart : gap, rounding = fit.asked ? proven.apart_rounding : proven.rounding;
    const bool known = found.done[at] > 0;
    const bool closer = !known || (gap <= found.primal[at] - found.dual[at] && proven.apart <= found.apart[at]);
    const bool met = std::isfinite(reached) && reached <= goal && proven.violation <= targets.kkt;
    found.steps[at] = fit.steps;
    found.seconds[at] += seconds_since(began);
    if (closer && (met || (known && proven.violation <= targets.kkt))) {
      found.done[at] = 1;
      found.own[at] = proven.own;
      found.low[at] = offsets[0].low;
      found.high[at] = offsets[0].high;
      found.primal[at] = proven.primal;
      found.dual[at] = proven.dual;
      found.rounding[at] = proven.rounding;
      found.apart[at] = proven.apart;
      found.apart_rounding[at] = proven.apart_rounding;
      found.violation[at] = proven.violation;
      found.outside[at] = proven.outside;
      found.off[at] = proven.off;
      found.plain_primal[at] = proven.plain_primal;
      found.plain_dual[at] = proven.plain_dual;
      found.margin[at] = fit.margin = proven.margin;
      found.checked[at] = found.seconds[at];
      fit.beta = fit.next_beta;
      fit.f = fit.next_f;
    } else if (!known) {  // where to go on from
      fit.beta = fit.next_beta;
      fit.f = fit.next_f;
    }
    if (met) fit.gap = 0.0;
    // No better point of float64 would prove more where rounding is what is left.
    fit.left = fit.left || !std::isfinite(reached) || (reached > goal && reached - rounding <= little * std::max(goal, rounding));
    aim(fit, goal, reached, rounding, std::min(proven.violation, fit.kkt_target), 1.0);
    fit.kkt_target = std::min(fit.kkt_target, targets.stricter * last);
    fit.gap_target = std::isinf(fit.gap_target) ? fit.gap : targets.stricter * fit.gap_target;
  }

  // Sets the largest violation with which the gap is expected to be at the goal, where a point with that violation has that gap, a part of which is
  // rounding, which stays.
  static void aim(MemberFit& fit, double goal, double gap, double rounding, double violation, double power) {
    if (!(gap > goal)) return;
    const double share = std::max(goal - rounding, 0.9 * little * goal) / std::max(gap - rounding, little * goal);
    fit.kkt_target = std::min(fit.kkt_target, violation * std::max(least_step, std::pow(trusted * share, power)));
  }

  const SharedTable& table_;
  const Matrix<const T> all_;
  const Places places_;
  const Vector p_;
  const Index m_, first_;  // the samples, and the family's first problem
  std::vector<double> diagonal_, g_, r_, zeros_;
  const std::vector<double> totals_ = {0.0};
  std::vector<Index> groups_, ends_;
  std::vector<std::pair<Index, Index>> twins_;  // samples that are the same
  SingleEntries single_;
  std::vector<MemberFit> fits_;
  std::vector<Aside> aside_;  // turn by turn
};

}  // namespace

std::unique_ptr<Family> make_family(const SharedTable& table, Index a, float* room) {
  return std::visit([&]<class T>(const Matrix<const T>& K) -> std::unique_ptr<Family> { return std::make_unique<FamilyOf<T>>(table, K, a, room); },
                    table.K);
}

}  // namespace gapless::smo
