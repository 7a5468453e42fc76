#include "proof/primal_side.hpp"

#include <algorithm>
#include <vector>

#include "core/sums.hpp"
#include "proof/loss.hpp"
#include "proof/pieces.hpp"
#include "proof/quantile.hpp"
#include "proof/rounding.hpp"

namespace gapless::proof {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr Index pivot_samples = 31;  // events whose median is the next pivot: near enough to the median of all to halve what is left
constexpr Index few = 24;            // events that are sorted instead of being divided once more: fewer than the samples of a pivot
constexpr int most_steps = 400;      // steps of Newton and bisection together: bisection alone needs some 60 to halve a bracket to its last digit

// A place where S changes its course: for b ≥ x, level + rate b is added to S.
struct Event {
  double x, level, rate;
};

// The sum of some events: S(b) = Σ level + b Σ rate where all of them have been passed.
struct Line {
  Sum level, rate;

  void add(const Event& event) {
    level.add(event.level);
    rate.add(event.rate);
  }
  double at(double b) const {
    const double slant = rate.value();
    return slant == 0.0 ? level.value() : level.value() + slant * b;
  }
};

// S between two neighbouring events, level + rate b, and its value after the right one.
struct Piece {
  double low, high, level, rate, value;

  double before() const { return level + rate * high; }
  // Where S crosses zero on (low, high]. S has crossed before the right end only if its limit there, before(), is at least `enough`.
  double crossing(double enough) const {
    if (high < infinity && (!(rate > 0.0) || before() < enough)) return high;
    if (!(rate > 0.0)) return low;
    return std::min(std::max(-level / rate, low), high);
  }
};

// S of one group for box terms. Its events are sorted only as far as the search for its zero needs it: quickselect, with sums in the place of counts.
class Slope {
 public:
  Slope(const DualBox& box, Places groups, Index g, double total, Vector f) {
    before_.level.add(total);
    events_.reserve(f.size());
    for (Index i = 0; i < length(f); ++i) {
      if (groups[i] != g) continue;
      const double apart = box.p[i] - f[i], e = box.epsilon[i], d = box.d[i];
      is_finite_ = is_finite_ && std::isfinite(apart);
      if (box.upper[i] > 0.0) {
        if (box.upper[i] < infinity) {
          before_.level.add(-box.upper[i]);
          ramp(apart - e - d * box.upper[i], apart - e, d, box.upper[i]);
        } else {
          before_.add(line(apart - e, d, 1.0));
          events_.push_back(line(apart - e, d, -1.0));
        }
      }
      if (box.lower[i] < 0.0) {
        if (box.lower[i] > -infinity)
          ramp(apart + e, apart + e - d * box.lower[i], d, -box.lower[i]);
        else
          events_.push_back(line(apart + e, d, 1.0));
      }
    }
    // The sums keep what rounding loses, so that slanted parts (lines) that cancel each other leave no more than the square of a rounding error.
    rounding_ = slope_rounding(static_cast<double>(events_.size()), height_ + epsilon * slant_);
  }

  Interval zero() {
    if (!is_finite_) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    if (events_.empty()) return {0.0, 0.0};
    const Piece reached = search([&](double slope) { return slope >= -rounding_; });
    const double low = reached.crossing(0.0);
    if (reached.high == infinity || reached.before() > rounding_) return {low, low};
    if (reached.value > rounding_) return {low, std::max(low, reached.high)};
    const Piece passed = search([&](double slope) { return slope > rounding_; });
    return {low, std::max(low, passed.crossing(rounding_))};
  }

 private:
  // The event from which on the line of rate ±1/d through (x, 0) is added.
  Event line(double x, double d, double sign) {
    slant_ += 2.0 * std::fabs(x / d);
    return {x, -sign * (x / d), sign * (1.0 / d)};
  }

  // Adds the events of a rise by `height` between `from` and `to`; a step where d = 0.
  void ramp(double from, double to, double d, double height) {
    height_ += height;
    events_.push_back({to, height, 0.0});
    if (d == 0.0) return;
    const Event rise = line(from, d, 1.0);
    events_.push_back(rise);
    events_.push_back({to, -rise.level, -rise.rate});
  }

  // The piece that ends at the next event after which holds(S) is true. The next search goes on behind that event.
  template <class Holds>
  Piece search(Holds holds) {
    Event* const all = events_.data();
    Index begin = done_, end = count(events_.size());
    while (end - begin > few) {
      const double pivot = pivot_of(begin, end);
      Index middle = std::partition(all + begin, all + end, [&](const Event& e) { return e.x <= pivot; }) - all;
      double at = pivot;
      if (middle == end) {  // the pivot is the last of all
        middle = std::partition(all + begin, all + end, [&](const Event& e) { return e.x < pivot; }) - all;
        if (middle == begin) break;  // and the first
        at = std::max_element(all + begin, all + middle, [](const Event& a, const Event& b) { return a.x < b.x; })->x;
      }
      Line through = before_;
      for (Index k = begin; k < middle; ++k) through.add(all[k]);
      if (holds(through.at(at))) {
        end = middle;
      } else {
        before_ = through;
        begin = middle;
        last_ = at;
      }
    }
    std::sort(all + begin, all + end, [](const Event& a, const Event& b) { return a.x < b.x; });
    Piece piece{last_, infinity, 0.0, 0.0, infinity};
    while (begin < end) {
      const double x = all[begin].x;
      Line through = before_;
      for (; begin < end && all[begin].x == x; ++begin) through.add(all[begin]);
      piece = {last_, x, before_.level.value(), before_.rate.value(), through.at(x)};
      before_ = through;
      done_ = begin;
      last_ = x;
      if (holds(piece.value)) return piece;
    }
    // Where the window ends before the last event, holds(S) was true at its end when the window was cut, and is false now by the order of summation
    // alone.
    if (end < count(events_.size())) return piece;
    return {last_, infinity, before_.level.value(), before_.rate.value(), infinity};
  }

  // The median of a sample of the events from `begin` to `end`.
  double pivot_of(Index begin, Index end) const {
    double some[pivot_samples];
    Index count = 0;
    for (Index place = begin, step = (end - begin + pivot_samples - 1) / pivot_samples; place < end; place += step)
      some[count++] = events_[place].x;
    std::nth_element(some, some + count / 2, some + count);
    return some[count / 2];
  }

  std::vector<Event> events_;
  Line before_;                // S left of events_[done_]
  Index done_ = 0;             // the number of events that the search has passed; all others are to their right
  double last_ = -infinity;    // the place of the last event that was passed
  bool is_finite_ = true;
  double height_ = 0.0, slant_ = 0.0, rounding_ = 0.0;
};

Interval zero_of(const DualBox& box, Places groups, Index g, double total, Vector f, const Interval* near) {
  if (near != nullptr)
    if (const std::optional<Interval> found = quantile_in(box, total, f, *near)) return *found;
  return Slope(box, groups, g, total, f).zero();
}

// The S of the entropy is smooth and rises everywhere: its zero is found by Newton's method inside a bracket.
Interval zero_of(const DualEntropy& entropy, Places groups, Index g, double total, Vector f, const Interval*) {
  double reach = 1.0;  // for offsets beyond ±reach every decision value f + b has the sign of b
  bool any = false;
  for (Index i = 0; i < length(f); ++i)
    if (groups[i] == g && entropy.cost[i] > 0.0) {
      any = true;
      reach = std::max(reach, std::min(2.0 * std::fabs(f[i]), 1e300));
    }
  if (!any) return {0.0, 0.0};
  double rate = 0.0;
  const auto slope = [&](double b) {
    struct Part {
      double slope = 0.0, rate = 0.0;
    };
    Sum sum, bend;
    sum.add(total);
    by_pieces(
        length(f),
        [&](Index begin, Index end) {
          Sum slope, rate;
          for (Index i = begin; i < end; ++i) {
            if (groups[i] != g || entropy.cost[i] <= 0.0) continue;
            const double share = 1.0 / (1.0 + std::exp(std::min(entropy.y[i] * (f[i] + b), 700.0)));
            slope.add(-entropy.y[i] * entropy.cost[i] * share);
            rate.add(entropy.cost[i] * share * (1.0 - share));
          }
          return Part{slope.value(), rate.value()};
        },
        [&](const Part& part) {
          sum.add(part.slope);
          bend.add(part.rate);
        });
    rate = bend.value();
    return sum.value();
  };
  double low = -reach, high = reach;
  for (double step = reach; slope(low) > 0.0 && step < 1e300; step *= 2.0) low -= step;
  for (double step = reach; slope(high) < 0.0 && step < 1e300; step *= 2.0) high += step;
  double b = std::min(std::max(0.0, low), high), last = high - low;
  for (int k = 0; k < most_steps; ++k) {
    const double value = slope(b);
    if (value == 0.0) break;
    (value < 0.0 ? low : high) = b;
    double next = b - value / rate;
    // A Newton step that leaves the bracket, or is longer than half of the last step and so might cycle, is replaced by bisection.
    if (!(low < next && next < high) || std::fabs(next - b) > 0.5 * last) next = 0.5 * (low + high);
    last = std::fabs(next - b);
    b = next;
    if (last <= 2.0 * epsilon * std::fabs(b) || high - low <= 2.0 * epsilon * std::fabs(b)) break;
  }
  return {b, b};
}

LossTask task_of(const DualBox& box, Places groups, Vector offsets, Vector f, const Errors& errors, Index begin, Index end) {
  return {box.p, box.epsilon, box.d, box.lower, box.upper, f.data(), offsets.data(), offsets.size() == 1 ? nullptr : groups.data(), errors, begin, end};
}

LossSums bounds_of(const DualEntropy& entropy, Places groups, Vector offsets, Vector f, const Errors& errors, Index begin, Index end) {
  const bool one = offsets.size() == 1;
  Sum above, plain;
  double rounding = 0.0;
  for (Index i = begin; i < end; ++i) {
    const double v = f[i] + offsets[one ? 0 : groups[i]], value = loss(entropy, i, v);
    plain.add(value);
    if (errors.sizes.empty()) continue;
    const Largest most = largest_loss(entropy, i, value, errors.at(i, f[i]) + unit * std::fabs(v));
    above.add(most.value);
    rounding += most.excess;
  }
  return {above.value(), rounding, plain.value()};
}

}  // namespace

Interval best_offset(const DualTerms& dual, Places groups, Index g, double total, Vector f, const Interval* near) {
  return std::visit([&](const auto& terms) { return zero_of(terms, groups, g, total, f, near); }, dual);
}

LossSums loss_bounds(const DualTerms& dual, Places groups, Vector offsets, Vector f, const Errors& errors) {
  Sum above, plain;
  double rounding = 0.0;
  by_pieces(
      length(f),
      [&](Index begin, Index end) {
        if (const DualBox* const box = std::get_if<DualBox>(&dual))
          return loss_loops().bounds(task_of(*box, groups, offsets, f, errors, begin, end));
        return bounds_of(std::get<DualEntropy>(dual), groups, offsets, f, errors, begin, end);
      },
      [&](const LossSums& part) {
        above.add(part.above);
        rounding += part.rounding;
        plain.add(part.plain);
      });
  const double most = above.value();
  return {most + sum_error(length(f), most, most), rounding, plain.value()};
}

double losses_at(const DualTerms& dual, Places groups, Vector offsets, Vector f) {
  Sum all;
  by_pieces(
      length(f),
      [&](Index begin, Index end) {
        if (const DualBox* const box = std::get_if<DualBox>(&dual))
          return loss_loops().plain(task_of(*box, groups, offsets, f, {}, begin, end));
        return bounds_of(std::get<DualEntropy>(dual), groups, offsets, f, {}, begin, end).plain;
      },
      [&](double part) { all.add(part); });
  return all.value();
}

}  // namespace gapless::proof
