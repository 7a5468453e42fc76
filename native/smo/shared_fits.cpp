#include "smo/shared_fits.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/pool.hpp"
#include "core/runs.hpp"
#include "proof/table_proof.hpp"
#include "proof/table_sums.hpp"
#include "smo/starts.hpp"

namespace gapless::smo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_proofs = 8;      // by hand: where so many proofs did not agree, with targets that are stricter each time, another method is due
constexpr Index columns = 512;      // columns of the table that a thread sums at a time
constexpr double enough = 0x1p50;   // bytes for kernel entries, all of which are in memory already
constexpr double f32_error = 3e-8;  // the error of an entry that was rounded to float32, as a share of it, in the mean

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

}  // namespace

class SharedFits::Family {
 public:
  virtual ~Family() = default;
  // States the problems of the members with C > 0, each with a point to begin with, chosen with a view to the bound `kkt` on violations.
  virtual void state(Vector C, Vector gap, double kkt) = 0;
  // Asks for closer proofs of the problems with gap > 0.
  virtual void ask(Vector gap) = 0;
  virtual void solve(const SharedTargets& targets, Index number, SharedSolutions& found) = 0;
  // f = Kβ at all rows of K where the family has all of them, else empty.
  virtual Vector known_f(Index member) const = 0;
  virtual Vector beta(Index member) const = 0;
  virtual double margin(Index member) const = 0;
};

template <class T>
class SharedFits::FamilyOf final : public Family {
 public:
  FamilyOf(const SharedTable& table, Matrix<const T> K, Index a)
      : table_(table), all_(K), places_(table.places.subspan(table.starts[a], table.starts[a + 1] - table.starts[a])),
        p_(table.p.subspan(table.starts[a], places_.size())), m_(length(places_)), fits_(table.weights.rows) {
    for (const Index place : places_) {
      diagonal_.push_back(table.diagonal[place]);
      g_.push_back(table.g[place]);
      r_.push_back(table.r[place]);
    }
    groups_.assign(m_, 0);
    zeros_.assign(m_, 0.0);
    order_.resize(m_);
    for (Index i = 0; i < m_; ++i) order_[i] = i;
  }

  void state(Vector C, Vector gap, double kkt) override {
    std::vector<Index> todo, tried;  // `tried` are the members with another point to try
    std::vector<double> ratios(fits_.size(), 0.0);
    for (Index m = 0; m < count(fits_.size()); ++m) {
      MemberFit& fit = fits_[m];
      fit.gap = 0.0;
      if (!(C[m] > 0.0)) continue;
      todo.push_back(m);
      fit.fresh = fit.C == 0.0;
      fit.next_beta.assign(m_, 0.0);
      if (!fit.fresh) {
        ratios[m] = C[m] / fit.C;
        if (go_on(samples(), fit, ratios[m])) tried.push_back(m);
      }
      fit.C = C[m];
      fit.gap = gap[m];
      fit.asked = false;
      fit.steps = 0.0;
      fit.margin = 1.0;
      fit.lower.assign(m_, 0.0);
      fit.upper.assign(m_, 0.0);
      fit.epsilon.assign(m_, table_.epsilon[m]);
      const double* weight = table_.weights.row(m);
      for (Index i = 0; i < m_; ++i) {
        const double cost = fit.C * weight[places_[i]];
        if (!table_.margins || p_[i] < 0.0) fit.lower[i] = -cost;
        if (!table_.margins || p_[i] > 0.0) fit.upper[i] = cost;
      }
      if (fit.fresh && begin(samples(), fit)) tried.push_back(m);
    }
    if (!tried.empty()) {
      copy_table();
      expand(tried, &MemberFit::next_beta, &MemberFit::next_f);
    }
    for (const Index m : todo) {
      const bool other = std::find(tried.begin(), tried.end(), m) != tried.end();
      if (!fits_[m].fresh) end_going_on(samples(), fits_[m], ratios[m], other);
      if (other) take_better(samples(), fits_[m], kkt);
    }
    std::erase_if(tried, [&](Index m) { return !(table_.margins && fits_[m].fresh); });
    if (tried.empty()) return;
    for (const Index m : tried) nearest_first(samples(), fits_[m]);
    expand(tried, &MemberFit::next_beta, &MemberFit::next_f);
    for (const Index m : tried) take_better(samples(), fits_[m], kkt);
  }

  void ask(Vector gap) override {
    for (std::size_t m = 0; m < fits_.size(); ++m) {
      fits_[m].gap = fits_[m].C > 0.0 ? gap[m] : 0.0;
      fits_[m].asked = true;
    }
  }

  void solve(const SharedTargets& targets, Index number, SharedSolutions& found) override {
    std::vector<Index> pending;
    for (Index m = 0; m < count(fits_.size()); ++m)
      if (fits_[m].gap > 0.0) pending.push_back(m);
    if (pending.empty()) return;
    const Clock::time_point began = Clock::now();
    copy_table();
    for (const Index m : pending) {
      MemberFit& fit = fits_[m];
      fit.left = false;
      // A first proof finds most gaps small enough where no violation is too large: only where it does not the engine estimates the gap itself.
      fit.gap_target = fit.asked ? fit.gap : infinity;
      fit.kkt_target = targets.ahead * targets.kkt;
    }
    std::vector<proof::TableRoom> rooms(static_cast<std::size_t>(core_count()));
    for (int proofs = 0; proofs < most_proofs && !pending.empty(); ++proofs) {
      share(count(pending.size()), [&](Index k, int) { step(fits_[pending[k]], targets.turns); });
      const double terms = expand(pending, &MemberFit::next_beta, &MemberFit::next_f);
      share(count(pending.size()), [&](Index k, int thread) {
        const Index m = pending[k];
        judge(fits_[m], targets, terms, rooms[thread], began, number * count(fits_.size()) + m, found);
      });
      std::erase_if(pending, [&](Index m) { return fits_[m].left || fits_[m].gap == 0.0; });
    }
    for (MemberFit& fit : fits_) fit.engine.reset();
    for (MemberFit& fit : fits_) fit.gap = 0.0;
  }

  Vector known_f(Index member) const override { return covers_all() ? Vector(fits_[member].f) : Vector(); }
  Vector beta(Index member) const override { return fits_[member].beta; }
  double margin(Index member) const override { return fits_[member].margin; }

 private:
  // The family's own table, side by side in memory: all members and all C's read it.
  void copy_table() {
    if (table_of_family_.data != nullptr) return;
    if (covers_all()) {
      table_of_family_ = all_;
      return;
    }
    const Index stride = (m_ + 15) / 16 * 16;
    buffer_.assign(static_cast<std::size_t>(m_ * stride + 16), T(0));
    T* data = reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(buffer_.data()) + 63) / 64 * 64);
    const std::vector<Index> ends = run_ends(places_);
    for (Index i = 0; i < m_; ++i) {
      const T* const from = all_.row(places_[i]);
      for (Index j = 0; j < m_; j = ends[j]) std::copy_n(from + places_[j], ends[j] - j, data + i * stride + j);
    }
    table_of_family_ = {data, m_, m_, stride};
  }

  bool covers_all() const { return m_ == all_.rows && std::equal(order_.begin(), order_.end(), places_.begin()); }

  FamilySamples samples() const { return {p_, diagonal_, zeros_, totals_, groups_, table_.margins}; }
  DualBox box(const MemberFit& fit) const { return samples().box(fit); }

  // f = Kβ for some members at a time; returns the roundings of each sum.
  double expand(const std::vector<Index>& which, std::vector<double> MemberFit::* beta, std::vector<double> MemberFit::* f) {
    const Index models = count(which.size());
    std::vector<const T*> rows;
    std::vector<double> c;
    for (Index i = 0; i < m_; ++i) {
      bool any = false;
      for (const Index m : which) any = any || (fits_[m].*beta)[i] != 0.0;
      if (!any) continue;
      rows.push_back(table_of_family_.row(i));
      for (const Index m : which) c.push_back((fits_[m].*beta)[i]);
    }
    std::vector<double> sums(static_cast<std::size_t>(models * m_), 0.0);
    const Matrix<double> out = {sums.data(), models, m_, m_};
    const Matrix<const double> factors = {c.data(), count(rows.size()), models, models};
    share((m_ + columns - 1) / columns, [&](Index piece, int) {
      proof::table_sum<T>()(rows.data(), factors, piece * columns, std::min((piece + 1) * columns, m_), out);
    });
    for (Index k = 0; k < models; ++k) (fits_[which[k]].*f).assign(out.row(k), out.row(k) + m_);
    return proof::table_roundings(count(rows.size()));
  }

  void step(MemberFit& fit, double turns) {
    if (!fit.engine) {
      SmoEntries entries = {.places = order_};
      if constexpr (sizeof(T) == 4) {
        entries.given_single = table_of_family_;
        entries.error = f32_error * *std::max_element(diagonal_.begin(), diagonal_.end());
      } else {
        entries.given = table_of_family_;
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
                            entries, exact, fit.beta, {.second_order = true, .cache_bytes = enough}, fit.f);
    }
    const double most = turns * static_cast<double>(m_);
    SmoAdvance advance;
    do {
      advance = fit.engine->step(infinity, most - fit.steps, fit.gap_target, fit.kkt_target);
      fit.steps += advance.iterations;
    } while (advance.outcome == SmoOutcome::running && fit.steps < most);
    fit.left = advance.outcome != SmoOutcome::ready;
    fit.next_beta.resize(m_);
    fit.repair = proof::feasible(fit.lower, fit.upper, groups_, totals_, true, fit.engine->beta(), fit.next_beta);
  }

  void refresh(Vector beta, double* f) const {
    std::vector<const T*> rows;
    std::vector<double> c;
    for (Index i = 0; i < m_; ++i)
      if (beta[i] != 0.0) {
        rows.push_back(table_of_family_.row(i));
        c.push_back(beta[i]);
      }
    std::fill(f, f + m_, 0.0);
    share((m_ + columns - 1) / columns, [&](Index piece, int) {
      proof::table_sum<T>()(rows.data(), {c.data(), count(rows.size()), 1, 1}, piece * columns, std::min((piece + 1) * columns, m_),
                            {f, 1, m_, m_});
    });
  }

  void judge(MemberFit& fit, const SharedTargets& targets, double terms, proof::TableRoom& room, Clock::time_point began, Index at, SharedSolutions& found) {
    proof::Interval offsets[1];
    const proof::TableProblem problem = {box(fit), groups_, totals_, g_, r_, table_.margins};
    const proof::TableProof proven = proof::prove(problem, fit.repair, fit.next_beta, fit.next_f, terms, offsets, room);
    const double gap = proven.primal - proven.dual, goal = fit.gap * std::fabs(proven.primal);
    const bool known = found.done[at] > 0, closer = !known || gap < found.primal[at] - found.dual[at];
    const bool met = std::isfinite(gap) && gap <= goal && proven.violation <= targets.kkt;
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
    fit.left = fit.left || !std::isfinite(gap) || (gap > goal && gap - proven.rounding <= goal);
    fit.gap_target = std::isinf(fit.gap_target) ? fit.gap : targets.stricter * fit.gap_target;
    fit.kkt_target *= targets.stricter;
  }

  const SharedTable& table_;
  const Matrix<const T> all_;
  const Places places_;
  const Vector p_;
  const Index m_;
  std::vector<double> diagonal_, g_, r_, zeros_;
  const std::vector<double> totals_ = {0.0};
  std::vector<Index> groups_, order_;
  std::vector<T> buffer_;
  Matrix<const T> table_of_family_ = {};
  std::vector<MemberFit> fits_;
};

SharedFits::SharedFits(const SharedTable& table)
    : table_(table), members_(table.weights.rows), values_(table.K, table.diagonal, table.g, table.r, table.places, table.starts) {
  const Index families = length(table.starts) - 1;
  longest_.resize(static_cast<std::size_t>(members_ * families));
  for (Index m = 0; m < members_; ++m) values_.longest(table.weights.row(m), Out(longest_).subspan(m * families, families));
  for (std::vector<double>* each : {&found.low, &found.high, &found.steps, &found.seconds, &found.checked, &found.primal, &found.dual, &found.rounding,
                                    &found.violation, &found.outside, &found.off, &found.plain_primal, &found.plain_dual, &found.margin})
    each->resize(static_cast<std::size_t>(families * members_));
  found.done.resize(found.low.size());
  found.own.resize(found.low.size());
  std::visit(
      [&]<class T>(const Matrix<const T>& K) {
        for (Index a = 0; a < families; ++a) families_.push_back(std::make_unique<FamilyOf<T>>(table_, K, a));
      },
      table_.K);
}

SharedFits::~SharedFits() = default;

void SharedFits::advance(Vector C, Vector gap, const SharedTargets& targets) {
  for (Index a = 0; a < count(families_.size()); ++a)
    for (Index m = 0; m < members_; ++m)
      if (C[m] > 0.0) found.done[a * members_ + m] = 0, found.seconds[a * members_ + m] = 0.0;
  share(count(families_.size()), [&](Index a, int) {
    families_[a]->state(C, gap, targets.kkt);
    families_[a]->solve(targets, a, found);
  });
}

void SharedFits::tighten(Vector gap, const SharedTargets& targets) {
  share(count(families_.size()), [&](Index a, int) {
    families_[a]->ask(gap.subspan(a * members_, members_));
    families_[a]->solve(targets, a, found);
  });
}

void SharedFits::beta(Index member, Out out) const {
  Index at = 0;
  for (const auto& family : families_) {
    const double margin = family->margin(member);
    for (const double b : family->beta(member)) out[at++] = b / margin;
  }
}

void SharedFits::values(Index member, Places rows, Places which, bool flip, const SharedValues& out) const {
  const Index families = count(families_.size());
  std::vector<FamilyModel> models;
  for (const Index a : which) {
    const Index at = a * members_ + member;
    const Family& family = *families_[a];
    // ‖w − w*‖ is at most √gap where w is the dual point's own, else √(2 gap) (gapless/proof/interval.py).
    const double gap = std::max(0.0, found.primal[at] - found.dual[at]);
    models.push_back({.family = a,
                      .beta = family.beta(member),
                      .f = family.known_f(member),
                      .margin = family.margin(member),
                      .offset = 0.5 * (found.low[at] + found.high[at]),
                      .distance = std::sqrt(found.own[at] ? gap : 2.0 * gap),
                      .longest = longest_[member * families + a]});
  }
  values_.values(models, rows, flip, out);
}

}  // namespace gapless::smo
