#include "smo/engine.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "smo/block.hpp"
#include "smo/gap_estimate.hpp"
#include "smo/kept_rows.hpp"
#include "smo/laggards.hpp"
#include "smo/newton_finish.hpp"
#include "smo/sizes.hpp"
#include "smo/turns.hpp"
#include "smo/active_set.hpp"
#include "smo/zero.hpp"

namespace gapless::smo {
namespace {

template <class Dual, class T>
class Engine final : public Smo {
 public:
  Engine(const SmoProblem& problem, const Dual& dual, const SmoEntries& entries, Exact exact, Vector start, SmoOptions options, Vector start_f)
      : problem_(problem),
        dual_(dual),
        options_(options),
        panels_(entries.panels),
        error_(entries.error),
        exact_(std::move(exact)),
        n_(length(start)),
        last_(entries.last),
        table_(make_table(problem, entries, start, options)),
        in_order_(std::is_sorted(table_.ids.begin(), table_.ids.end())),
        late_(everybody() ? 0 : n_),
        beta_(start.begin(), start.end()),
        f_(n_, 0.0),
        known_(n_, 0.0),
        up_(n_),
        down_(n_),
        offsets_(problem.totals.size(), 0.0),
        levels_(problem.totals.size(), 0.0) {
    if (options.walk_first) turns_.walk_first();
    const bool begun = std::any_of(beta_.begin(), beta_.end(), [](double b) { return b != 0.0; });
    const bool parts = std::all_of(problem_.totals.begin(), problem_.totals.end(), [](double t) { return t == 0.0; });
    reach_ = begun || n_ <= 4 * whole || !parts || panels_ == nullptr ? n_ : whole;
    if (panels_ == nullptr || complete()) {
      if (panels_ != nullptr) {
        std::vector<Index> all(n_);
        std::iota(all.begin(), all.end(), Index(0));
        table_.enter(all, n_);
      }
      work_ += static_cast<double>(n_) * static_cast<double>(n_) * problem_.entry_work;
    } else if (n_ > 2 * whole && panels_->is_costly() && !panels_->sums_rows()) {
      const double room = std::floor((options_.cache_bytes - table_bytes) / (sizeof(T) * static_cast<double>(n_)));
      if (room >= 1.0) rows_.emplace(panels_, static_cast<Index>(std::min(room, static_cast<double>(n_))));
    }
    if (begun && !start_f.empty()) {
      std::copy(start_f.begin(), start_f.end(), f_.begin());
      known_ = beta_;
    } else if (begun) {
      if (everybody())
        refresh({});
      else
        expand_support(0, n_);
    }
  }

  ~Engine() override {
    if constexpr (sizeof(T) == 4)
      if (last_ != nullptr && is_whole_) last_->leave(std::move(table_));
  }

  SmoAdvance step(double work, double iterations, double gap_target, double kkt_target) override {
    pairs_ = 0.0;
    if (told_) {  // the last step ended `ready`; this step is called because the proof did not agree
      told_ = false;
      doubted_ = true;
      if (!everybody()) catch_up(late_.waiting(reach_));
    }
    SmoOutcome outcome;
    do {
      outcome = round(steps_within(work - work_, iterations - pairs_), gap_target, kkt_target);
    } while (outcome == SmoOutcome::running && complete() && work_ < work && pairs_ < iterations);
    told_ = outcome == SmoOutcome::ready;
    return {pairs_, std::exchange(work_, 0.0), outcome};
  }

  Vector beta() const override { return beta_; }
  Vector f() const override { return f_; }
  Index reach() const override { return reach_; }
  Index active() const override { return table_.size(); }
  Index active_room() const override { return table_.room(); }
  bool fits_in_full() const override {
    const Index wanted = std::min(n_, wanted_active(support_of(dual_, n_, beta_.data())));
    return static_cast<double>(wanted) * static_cast<double>(wanted) * sizeof(double) <= options_.cache_bytes;
  }
  bool keeps_rows() const override { return rows_.has_value(); }
  Index finishes() const override { return finishes_ + turns_.walks(); }

 private:
  static Index most_of(Index n, double cache_bytes) {
    return std::min(n, std::max(Index(2), static_cast<Index>(std::sqrt(cache_bytes / sizeof(T)))));
  }
  static ActiveSet<T> make_table(const SmoProblem& problem, const SmoEntries& entries, Vector start, SmoOptions options) {
    if constexpr (sizeof(T) == 4)
      if (entries.last != nullptr && std::any_of(start.begin(), start.end(), [](double b) { return b != 0.0; })) {
        std::optional<ActiveSet<T>> left = entries.last->take();
        if (left && left->shift() == problem.shift && left->room() <= most_of(left->samples(), options.cache_bytes)) return std::move(*left);
      }
    if (entries.panels == nullptr) {
      if constexpr (sizeof(T) == 8)
        return ActiveSet<T>(entries.given, entries.places, problem.shift);
      else
        return ActiveSet<T>(entries.given_single, entries.places, problem.shift);
    }
    return ActiveSet<T>(entries.panels, problem.shift, std::min(most_active, most_of(entries.panels->size(), options.cache_bytes)));
  }

  Groups groups() const { return {problem_.groups, count(problem_.totals.size())}; }
  bool everybody() const { return in_order_ && table_.size() == n_; }
  // Whether all samples are in the active set for good, with entries in float64, as those of a given matrix are: nothing is to be chosen, expanded or
  // computed again.
  bool complete() const { return sizeof(T) == 8 && (n_ <= whole || panels_ == nullptr) && most_of(n_, options_.cache_bytes) == n_; }

  Index steps_within(double work, double iterations) const {
    double most = most_steps;
    if (reach_ <= whole) most = std::floor(work / (4.0 * static_cast<double>(complete() ? n_ : std::min(reach_, block_size))));
    return static_cast<Index>(std::max(1.0, std::min(most, std::ceil(iterations - 1e-9))));
  }

  SmoOutcome round(Index max_steps, double gap_target, double kkt_target) {
    const Index n = reach_;
    const auto [noise, worst] =
        survey(dual_, n, problem_.diagonal, beta_.data(), f_.data(), groups(), problem_.coupled, up_.data(), down_.data());
    work_ += 4.0 * static_cast<double>(n);
    double gap = infinity;
    if (problem_.hard || !complete())
      gap = problem_.hard ? worst : suggested_gap(gap_target);
    else if (worst <= kkt_target)
      gap = std::isinf(gap_target) ? 0.0 : suggested_gap(gap_target);
    const bool met = worst <= kkt_target && gap <= trusted * gap_target;
    if (n < n_) {
      if ((!problem_.hard && gap <= level_gap) || worst <= noise) {
        grow();
        return SmoOutcome::running;
      }
    } else if (met && !doubted_) {
      return SmoOutcome::ready;
    } else if (met && !complete()) {
      doubted_ = false;
      return stalled(SmoOutcome::running);
    } else if (0.1 * worst < off * error_ * distance_of(beta_, known_)) {
      set_levels();
      refresh(near_violating(n, up_.data(), down_.data(), groups(), levels_.data(), near_share * worst));
      return SmoOutcome::running;
    }
    doubted_ = false;
    if (everybody()) return solve_everybody(worst, gap, noise, max_steps, gap_target, kkt_target);
    set_levels();
    enter();
    catch_up(late_.waiting(table_.ids));
    return solve_active(worst, gap, max_steps, gap_target, kkt_target);
  }

  // A round where all samples are in the active set, in order.
  SmoOutcome solve_everybody(double worst, double gap, double noise, Index max_steps, double gap_target, double kkt_target) {
    if (worst <= least_violation<Dual>(noise)) return stalled(SmoOutcome::ready);
    const double target = complete() && worst > kkt_target ? kkt_target : round_target(worst, worst, gap, gap_target, kkt_target);
    const typename BlockSolver<Dual, T>::Part part = {dual_, problem_.diagonal, table_.rows(), groups(), problem_.coupled, options_.second_order};
    const Index taken = maximise(part, target, max_steps, beta_.data(), f_.data());
    pairs_ += static_cast<double>(taken);
    work_ += 4.0 * static_cast<double>(taken) * static_cast<double>(complete() ? n_ : std::min(n_, block_size));
    if (taken == 0) return stalled(SmoOutcome::ready);
    if (refreshed_ < patience) stuck_ = 0;
    return SmoOutcome::running;
  }

  SmoOutcome solve_active(double worst, double gap, Index max_steps, double gap_target, double kkt_target) {
    const std::vector<Index>& chosen = table_.ids;
    const Index m = table_.size();
    part_beta_.resize(m);
    part_f_.resize(m);
    part_diagonal_.resize(m);
    part_groups_.resize(m);
    std::vector<double> up(m), down(m);
    for (Index k = 0; k < m; ++k) {
      const Index i = chosen[k];
      part_beta_[k] = beta_[i];
      part_f_[k] = f_[i];
      part_diagonal_[k] = problem_.diagonal[i];
      part_groups_[k] = problem_.groups[i];
      up[k] = up_[i];
      down[k] = down_[i];
    }
    const Groups own = {part_groups_.data(), groups().count};
    const double within = largest_violation(m, up.data(), down.data(), own, problem_.coupled);
    const double target = round_target(worst, within, gap, gap_target, kkt_target);
    const typename BlockSolver<Dual, T>::Part part = {terms_.take(dual_, chosen), part_diagonal_.data(), table_.entries(), own,
                                                      problem_.coupled, options_.second_order};
    Index taken = 0;
    try {
      taken = maximise(part, target, max_steps, part_beta_.data(), part_f_.data());
    } catch (...) {  // after an interruption β is as far as the block solver came
      for (Index k = 0; k < m; ++k) beta_[chosen[k]] = part_beta_[k];
      throw;
    }
    pairs_ += static_cast<double>(taken);
    work_ += 4.0 * static_cast<double>(taken) * static_cast<double>(std::min(m, block_size));
    double swing = 0.0;
    std::vector<Index> moved;
    std::vector<double> change;
    for (Index k = 0; k < m; ++k) {
      const Index i = chosen[k];
      swing = std::max(swing, std::fabs(part_f_[k] - f_[i]));
      if (part_beta_[k] != beta_[i]) {
        moved.push_back(i);
        change.push_back(part_beta_[k] - beta_[i]);
      }
      beta_[i] = part_beta_[k];
      f_[i] = part_f_[k];
    }
    if (moved.empty()) return stalled(reach_ == n_ ? SmoOutcome::ready : SmoOutcome::running);
    if (m < reach_) {
      // Where rows are kept (so that an expansion is cheap), or the dual is an entropy (whose slopes are no distances), f of all samples follows at
      // once.
      late_.record(std::move(moved), std::move(change), rows_ || Dual::is_entropy ? infinity : swing);
      late_.settle(chosen);
      std::vector<double> slack(reach_);
      outlying(reach_, up_.data(), down_.data(), groups(), levels_.data(), slack.data());
      for (double& s : slack) s = -s;
      catch_up(late_.due(reach_, slack.data()));
    }
    if (refreshed_ < patience) stuck_ = 0;
    return SmoOutcome::running;
  }

  Index maximise(const typename BlockSolver<Dual, T>::Part& part, double target, Index max_steps, double* beta, double* f) {
    if (complete()) return by_turns(part, n_, groups_share, target, max_steps, beta, f);
    Index moved = 0;
    const Index m = part.K.matrix.rows;
    if constexpr (!Dual::is_entropy)
      if (face_ > 0 && !turns_.is_walking()) {
        moved = solve_face<T>(part.dual, part.diagonal, part.K.matrix, part.groups, part.coupled, target, face_, beta, f) / 2;
        finishes_ += moved > 0;
      }
    const std::vector<double> before(beta, beta + m);
    const Index taken = by_turns(part, block_size, block_share, target, max_steps, beta, f);
    // Newton's method has not found the face, and neither have pairs from there: the way goes from face to face.
    if (moved > 0 && taken > m) turns_.walk_first();
    if constexpr (!Dual::is_entropy)
      if (taken > 0 && options_.second_order) {
        const double entries = static_cast<double>(m) * static_cast<double>(m) * sizeof(T);
        const double room = rows_ ? 0.0 : options_.cache_bytes - entries;  // kept rows take all memory beyond the active set's
        face_ = paying_face(part.dual, m, before.data(), beta, static_cast<double>(taken), room);
      }
    return moved + taken;
  }

  // Pairs in blocks of so many variables; where entries are float64, in turns with walks over faces.
  Index by_turns(const typename BlockSolver<Dual, T>::Part& part, Index size, double share, double target, Index max_steps, double* beta, double* f) {
    if constexpr (!Dual::is_entropy && sizeof(T) == 8)
      if (options_.second_order && !problem_.hard) return turns_.solve(blocks_, part, own_totals().data(), target, max_steps, beta, f);
    return blocks_.solve(part, size, share, target, max_steps, beta, f);
  }

  // What β of the members of the active set adds up to in each group: the total less what the other samples have.
  std::vector<double> own_totals() const {
    std::vector<double> totals = problem_.totals;
    for (Index k = 0; k < n_; ++k)
      if (!table_.inside[k]) totals[groups().count == 1 ? 0 : problem_.groups[k]] -= beta_[k];
    return totals;
  }

  // The violation at which a round ends: a share of the one within the active set, but not below half of what the targets need.
  double round_target(double worst, double within, double gap, double gap_target, double kkt_target) const {
    const double wanted = std::min({kkt_target, worst * gap_target / std::max(gap, 1e-300), within});
    return std::max((face_ > 0 ? faced_share : round_share) * within, 0.5 * wanted);
  }

  // Nothing moves by f as it was kept: f is computed from scratch, and the solve is stalled where that has not helped several times in a row.
  SmoOutcome stalled(SmoOutcome otherwise) {
    if (reach_ < n_) {
      grow();
      return SmoOutcome::running;
    }
    refresh({});
    ++refreshed_;
    ++stuck_;
    return stuck_ > most_stuck ? SmoOutcome::stalled : otherwise;
  }

  // The relative gap that f as it is kept suggests, with the best offsets; it proves nothing.
  double suggested_gap(double gap_target) {
    const GapEstimate found = own_gap(dual_, reach_, beta_.data(), f_.data(), groups(), problem_.totals.data(), problem_.coupled, offsets_.data(), open_);
    if (counts_as_zero(trusted * problem_.zero, gap_target, found.primal, found.primal - found.gap)) return 0.0;
    return found.gap / std::max(std::fabs(found.primal), std::numeric_limits<double>::min());
  }

  // Sets the offsets against which violations of single samples are measured: the best ones; zero for an entropy, whose ends are relative already;
  // the middle between both ends for a hard margin.
  void set_levels() {
    for (Index g = 0; g < groups().count; ++g) {
      levels_[g] = Dual::is_entropy ? 0.0 : offsets_[g];
      if (!problem_.hard || !problem_.coupled || Dual::is_entropy) continue;
      double top = -big, bottom = big;
      for (Index k = 0; k < reach_; ++k)
        if (problem_.groups[k] == g) {
          top = std::max(top, up_[k]);
          bottom = std::min(bottom, down_[k]);
        }
      levels_[g] = 0.5 * (top + bottom);
    }
  }

  // The worst violators enter the active set; where it is full, the members that are farthest from violating leave it.
  void enter() {
    const Index n = reach_;
    const Support support = support_of(dual_, n_, beta_.data());
    const Index many = entering_at_most(support), most = active_limit(n_, most_of(n_, options_.cache_bytes), table_.room(), support, rows_.has_value());
    std::vector<Index> entering;
    if (n <= std::min(whole, most)) {
      for (Index k = 0; k < n; ++k)
        if (!table_.inside[k]) entering.push_back(k);
    } else {
      entering = selection_.entrants(n, up_.data(), down_.data(), groups(), levels_.data(), problem_.coupled, enter_share, table_.inside,
                                     std::max(Index(2), std::min(many, most / 2)));
    }
    if (table_.size() == 0 && support.free > 0) add_free(most, entering);
    const Index fresh = count(entering.size()), m = table_.size();
    is_whole_ = false;
    if (m + fresh > most) {  // more members leave than must, since each time the entries of all that stay are moved
      std::vector<double> up(m), down(m), scores(m);
      std::vector<Index> own(m);
      for (Index k = 0; k < m; ++k) {
        up[k] = up_[table_.ids[k]];
        down[k] = down_[table_.ids[k]];
        own[k] = problem_.groups[table_.ids[k]];
      }
      outlying(m, up.data(), down.data(), {own.data(), groups().count}, levels_.data(), scores.data());
      table_.keep(selection_.nearest(scores, std::max(most / 4, most - fresh - most / 4)));
    }
    table_.enter(entering, most);
    is_whole_ = true;
    if (fresh > 0) {
      in_order_ = std::is_sorted(table_.ids.begin(), table_.ids.end());
      turns_.change_samples();
    }
    work_ += static_cast<double>(fresh) * static_cast<double>(table_.size()) * problem_.entry_work;
  }

  // The free support vectors of a point that a solve begins from are needed until its end: they enter first, where there is room for all of them. Where
  // there is none they are free because β was scaled for another C, and the violators say which ones are needed.
  void add_free(Index most, std::vector<Index>& entering) const {
    std::vector<Index> free;
    for (Index k = 0; k < reach_; ++k)
      if (dual_.lower[k] < beta_[k] && beta_[k] < dual_.upper[k] && beta_[k] != 0.0) free.push_back(k);
    if (count(free.size()) > most) return;
    std::vector<Index> both;
    std::set_union(free.begin(), free.end(), entering.begin(), entering.end(), std::back_inserter(both));
    entering = std::move(count(both.size()) > most ? free : both);
  }

  // Brings f of these samples up to date with β.
  void catch_up(std::vector<Index> late) {
    if (late.empty()) return;
    late_.catch_up(std::move(late), [this](Places moved, Vector change, Places to) { expand(moved, change, to); });
  }

  void expand(Places moved, Vector change, Places to) {
    if (rows_)
      rows_->expand(moved, change, to, reach_, f_.data());
    else
      panels_->expand(moved, change, to, f_.data());
    if (problem_.shift != 0.0) {
      const double added = problem_.shift * std::accumulate(change.begin(), change.end(), 0.0);
      for (const Index k : to) f_[k] += added;
    }
    work_ += expansion_work(moved.size(), to.size());
  }

  // The work of adding what so many samples give to f of so many others.
  double expansion_work(std::size_t moved, std::size_t others) const {
    const double m = static_cast<double>(moved), n = static_cast<double>(others);
    return (panels_->sums_rows() ? m + n : m * n) * problem_.entry_work;
  }

  // The places where β is not zero, and β there.
  std::pair<std::vector<Index>, std::vector<double>> moved_so_far() const {
    std::vector<Index> places;
    std::vector<double> values;
    for (Index k = 0; k < n_; ++k)
      if (beta_[k] != 0.0) {
        places.push_back(k);
        values.push_back(beta_[k]);
      }
    return {places, values};
  }

  // Computes f of the samples from begin to end from the support vectors.
  void expand_support(Index begin, Index end) {
    const auto [support, values] = moved_so_far();
    std::fill(f_.begin() + begin, f_.begin() + end, problem_.shift * std::accumulate(values.begin(), values.end(), 0.0));
    if (rows_)
      rows_->expand(support, values, begin, end, reach_, f_.data());
    else
      panels_->expand(support, values, begin, end, f_.data());
    work_ += expansion_work(support.size(), static_cast<std::size_t>(end - begin));
  }

  // Doubles the number of samples that take part.
  void grow() {
    const Index begin = reach_;
    reach_ = std::min(2 * reach_, n_);
    expand_support(begin, reach_);
    late_.settle(begin, reach_);
  }

  // Computes f from scratch, in float64: of all samples, or of those that are near to violating.
  void refresh(std::optional<std::vector<Index>> near) {
    if (complete()) {
      std::fill(f_.begin(), f_.end(), 0.0);
      const auto [support, values] = moved_so_far();
      const Matrix<const T> K = table_.rows().with(support);
      spread<T>({K.data, n_, n_, K.stride}, support, values.data(), f_.data());
      return;
    }
    if (sizeof(T) == 4) {
      exact_(beta_, near ? std::optional<Places>(*near) : std::nullopt, f_.data());
      known_ = beta_;
    } else {
      near.reset();
      expand_support(0, n_);
    }
    if (everybody()) return;
    if (near)
      late_.settle(*near);
    else
      late_.forget();
  }

  const SmoProblem problem_;
  const Dual dual_;
  const SmoOptions options_;
  Panels* const panels_;
  const double error_;
  const Exact exact_;
  const Index n_;
  LastTable<float>* const last_;
  ActiveSet<T> table_;
  bool in_order_;  // whether the members of the active set are in the order of the samples
  Laggards late_;
  std::optional<KeptRows<T>> rows_;
  BlockSolver<Dual, T> blocks_;
  Turns turns_;
  Selection selection_;
  TakenTerms<Dual> terms_;
  std::vector<double> beta_, f_, known_, up_, down_;  // known_: the β for which f was last computed in float64
  std::vector<double> offsets_, levels_, part_beta_, part_f_, part_diagonal_;
  std::vector<Index> part_groups_, open_;
  Index reach_ = 0, refreshed_ = 0, stuck_ = 0, finishes_ = 0;
  double pairs_ = 0.0, work_ = 0.0;
  bool is_whole_ = true;  // whether all entries of the table are there: not after an interruption while some were computed
  bool told_ = false;     // whether the last step ended `ready`
  bool doubted_ = false;  // whether a proof did not agree with `ready`, and nothing has moved since
  Index face_ = 0;        // the most variables of the face with which the next round begins, by Newton's method (paying_face); 0: by pairs alone
};

template <class Dual>
std::unique_ptr<Smo> make(const SmoProblem& problem, const Dual& dual, const SmoEntries& entries, Exact exact, Vector start, SmoOptions options,
                          Vector start_f) {
  if (entries.panels != nullptr ? entries.panels->is_single() : entries.given_single.data != nullptr)
    return std::make_unique<Engine<Dual, float>>(problem, dual, entries, std::move(exact), start, options, start_f);
  return std::make_unique<Engine<Dual, double>>(problem, dual, entries, std::move(exact), start, options, start_f);
}

}  // namespace

std::unique_ptr<Smo> make_smo(SmoProblem problem, SmoEntries entries, Exact exact, Vector start, SmoOptions options, Vector start_f) {
  return std::visit([&](const auto& dual) { return make(problem, dual, entries, std::move(exact), start, options, start_f); }, problem.dual);
}

}  // namespace gapless::smo
