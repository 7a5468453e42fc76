#include "newton/piecewise.hpp"

#include <algorithm>

#include "core/pool.hpp"
#include "newton/factored.hpp"

namespace gapless {
namespace {

// Entries of X and numbers of samples in one piece of a pass: some 50 µs, many times as long as handing it to a thread takes.
constexpr double piece_entries = 1 << 17;
constexpr Index most_pieces = 16;  // bounds the memory of the sums; the number of pieces must not depend on that of the threads
// The numbers of a sample that a pass reads and writes beside its row.
constexpr double sample_numbers = 10.0;
// Each piece has a vector Σ β a of its own, which is cleared and added up: a piece has at least so many entries for each number of that vector.
constexpr double entries_a_column = 8.0;
constexpr double enough = 0.01;  // the share of |Q′(0)| at which a line search ends: less would cost passes and gain little
constexpr int most_tries = 50;   // a guard: Newton's method on the piecewise linear Q′ takes 2 or 3 tries
// By how much a try may be longer than the one before as long as no end of the step is known: where Q′ is almost level, Newton's method would go
// almost infinitely far, past all kinks, and f would lose its digits there.
constexpr double most_growth = 10.0;
// The share of the squared residual that conjugate gradients may leave: at most this one, and near the optimum less and less, as the root of the
// estimated distance of P from its minimum relative to P (benchmarks/linear.py, news20 with C = 100: 2.4 s; without the root 3.3 s).
constexpr double rough = 0.01;
constexpr int most_products = 500;  // the most products of conjugate gradients: those of news20 at C = 100 end before

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Index first_entry(const Rows& rows, Index i) {
  return std::visit(
      [&]<class R>(const R& typed) {
        if constexpr (R::is_sparse)
          return typed.indptr[i] - typed.indptr[0];
        else
          return i * typed.d;
      },
      rows);
}

// The bounds of pieces of rows with about the same work each; the number of pieces does not depend on the machine.
std::vector<Index> cut(const Rows& rows, Index n, Index columns) {
  const auto work = [&](Index i) { return static_cast<double>(first_entry(rows, i)) + sample_numbers * static_cast<double>(i); };
  const double all = work(n);
  const double worth = std::min(all / piece_entries, all / (entries_a_column * static_cast<double>(columns)));
  const Index pieces = std::clamp<Index>(static_cast<Index>(worth), 1, most_pieces);
  std::vector<Index> bounds{0};
  for (Index piece = 1; piece < pieces; ++piece) {
    const double goal = all * static_cast<double>(piece) / static_cast<double>(pieces);
    Index low = bounds.back(), high = n;
    while (low < high) {
      const Index middle = (low + high) / 2;
      if (work(middle) < goal)
        low = middle + 1;
      else
        high = middle;
    }
    bounds.push_back(low);
  }
  bounds.push_back(n);
  return bounds;
}

const void* pointer(const Rows& rows) {
  return std::visit([](const auto& typed) { return static_cast<const void*>(&typed); }, rows);
}

double dot(Vector a, Vector b) {
  double total = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) total += a[j] * b[j];
  return total;
}

}  // namespace

Piecewise::Piecewise(const Rows& rows, Index d, bool ones, bool sparse, const DualBox& box, Vector rho,
                     Vector w, double width, Vector centre)
    : rows_(rows), n_(box.n), d_(d), ones_(ones), sparse_(sparse), box_(box), rho_(rho.begin(), rho.end()),
      bounds_(cut(rows, box.n, d + ones)), w_(w.begin(), w.end()), total_(at(d + ones)), slope_(at(d + ones)), f_(n_), df_(n_),
      beta_(n_), other_f_(n_), other_beta_(n_), inverse_(n_), inside_(n_), other_inside_(n_) {
  const bool anywhere = std::any_of(w_.begin(), w_.end(), [](double each) { return each != 0.0; });
  const bool wait = width > 0.0 && centre.empty();  // the centres depend on the decisions, which must be computed first
  if (!anywhere) std::fill(f_.begin(), f_.end(), 0.0);
  if (anywhere && wait) {
    Sweep first = task();
    first.direction = w_.data();
    first.product = f_.data();
    pass(first, nullptr);
  }
  prepare(width, centre);
  look(anywhere && !wait);
}

Sweep Piecewise::task() const {
  return {.begin = 0, .end = n_, .ones = ones_,
          .smooth = {rounded_ ? p_.data() : box_.p, box_.epsilon, inverse_.data(), box_.lower, box_.upper},
          .p = box_.p, .d = box_.d, .rounded = rounded_, .direction = nullptr, .product = nullptr, .df = nullptr, .f = f_.data(), .t = 0.0,
          .last = nullptr, .beta = nullptr, .decisions = nullptr, .inside = nullptr, .total = nullptr};
}

template <class Work>
void Piecewise::in_pieces(const Work& work) const {
  const Index pieces = count(bounds_.size()) - 1;
  if (pieces == 1) return work(bounds_[0], bounds_[1]);
  share(pieces, [&](Index piece, int) { work(bounds_[at(piece)], bounds_[at(piece) + 1]); });
}

SweepSums Piecewise::pass(const Sweep& common, double* total) {
  const SweepLoops& loops = sweep_loops();
  const Index pieces = count(bounds_.size()) - 1, width = columns();
  const bool reads_rows = common.direction || total;
  const auto* rows = pointer(rows_);
  std::vector<SweepSums> sums(at(pieces));
  std::vector<double> totals(total ? at(pieces * width) : 0);
  const auto run = [&](Index piece, int) {
    Sweep mine = common;
    mine.begin = bounds_[at(piece)];
    mine.end = bounds_[at(piece) + 1];
    mine.total = total ? totals.data() + piece * width : nullptr;
    sums[at(piece)] = reads_rows || common.beta ? loops.pass[rows_.index()](rows, mine) : loops.along(mine);
  };
  if (pieces == 1)
    run(0, 0);
  else
    share(pieces, run);
  SweepSums out;
  for (const SweepSums& each : sums) out.add(each);
  for (Index piece = 0; total && piece < pieces; ++piece)
    for (Index j = 0; j < width; ++j) total[j] += totals[at(piece * width + j)];
  return out;
}

void Piecewise::round(double width, Vector centre) {
  prepare(width, centre);
  look(false);
}

void Piecewise::prepare(double width, Vector centre) {
  rounded_ = width > 0.0;
  if (rounded_ && p_.size() == 0) p_ = Buffer<double>(n_);
  in_pieces([&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double lower = box_.lower[i], upper = box_.upper[i];
      double d = box_.d[i];
      if (rounded_) {
        const double reach = std::max(upper, -lower), r = reach > 0.0 ? width / reach : 1.0;
        double middle = 0.5 * (lower + upper);
        if (!centre.empty())
          middle = centre[at(i)];
        else if (lower < 0.0 && upper > 0.0)
          middle = 0.5 * (f_[i] < box_.p[i] ? upper : lower);
        p_[i] = box_.p[i] + r * middle;
        d += r;
      }
      inverse_[i] = d > 0.0 ? 1.0 / d : 0.0;
    }
  });
  hessian_.clear();
  hopeful_ = true;
}

void Piecewise::look(bool decide) {
  Sweep next = task();
  if (decide) {
    next.direction = w_.data();
    next.product = f_.data();
  }
  next.beta = other_beta_.data();
  next.decisions = other_f_.data();
  next.inside = inside_.data();
  std::fill(total_.begin(), total_.end(), 0.0);
  sums_ = pass(next, total_.data());
  beta_.swap(other_beta_);
  f_.swap(other_f_);
  settle();
}

void Piecewise::settle() {
  penalty_ = residual_ = free_slope_ = 0.0;
  for (std::size_t j = 0; j < w_.size(); ++j) {
    slope_[j] = rho_[j] * w_[j] - total_[j];
    penalty_ += 0.5 * rho_[j] * w_[j] * w_[j];
    if (rho_[j] > 0.0)
      residual_ += 0.5 * slope_[j] * slope_[j] / rho_[j];
    else
      free_slope_ += slope_[j];
  }
}

double Piecewise::falls(Vector dw) const { return -dot(slope_, dw); }

double Piecewise::step(Vector dw) {
  const double first = falls(dw);
  if (!(first > 0.0)) return 0.0;
  double linear = 0.0, quadratic = 0.0;
  for (std::size_t j = 0; j < dw.size(); ++j) {
    linear += rho_[j] * w_[j] * dw[j];
    quadratic += rho_[j] * dw[j] * dw[j];
  }
  std::vector<double> total = total_;
  Sweep next = task();
  next.df = df_.data();
  next.t = 1.0;
  next.last = beta_.data();
  const auto respond = [&] {
    next.beta = other_beta_.data();
    next.decisions = other_f_.data();
    next.inside = other_inside_.data();
  };
  next.direction = dw.data();
  next.product = df_.data();
  if (hopeful_) respond();
  SweepSums found = pass(next, hopeful_ ? total.data() : nullptr);
  next.direction = nullptr;
  double low = 0.0, high = infinity;
  bool done = false;
  for (int tries = 0; tries < most_tries; ++tries) {
    const double slope = found.slope + linear + next.t * quadratic, curvature = found.curvature + quadratic;
    if (std::fabs(slope) <= enough * first) {
      done = hopeful_ && tries == 0;
      break;
    }
    (slope < 0.0 ? low : high) = next.t;
    double t = curvature > 0.0 ? next.t - slope / curvature : infinity;
    if (high == infinity)
      t = std::min(t, most_growth * next.t);
    else if (!(low < t && t < high))
      t = 0.5 * (low + high);
    if (t == next.t) break;
    next.t = t;
    next.beta = nullptr;
    found = pass(next, nullptr);
  }
  if (!done) {
    total = total_;
    respond();
    found = pass(next, total.data());
  }
  hopeful_ = next.t == 1.0;
  for (std::size_t j = 0; j < dw.size(); ++j) w_[j] += next.t * dw[j];
  total_.swap(total);
  beta_.swap(other_beta_);
  f_.swap(other_f_);
  inside_.swap(other_inside_);
  sums_ = found;
  settle();
  return next.t;
}

const std::vector<double>& Piecewise::hessian(bool single) {
  const bool known = !hessian_.empty() && hessian_single_ == single;
  Index members = 0, changed = 0;
  for (Index i = 0; i < n_; ++i) members += is_inside(i);
  for (Index i = 0; known && i < n_; ++i) changed += is_inside(i) != (members_[i] != 0);
  const bool anew = !known || 2 * changed >= members;
  // The loop below writes every row, and advances only past those that count (no branch to mispredict): one place more than these are.
  Buffer<Index> chosen((anew ? members : changed) + 1);
  Buffer<double> weight(chosen.size());
  Index k = 0;
  for (Index i = 0; i < n_; ++i) {
    const bool in = is_inside(i);
    chosen[k] = i;
    weight[k] = in ? inverse_[i] : -inverse_[i];
    k += anew ? in : in != (members_[i] != 0);
  }
  const auto entries = at(columns() * columns());
  std::vector<double> sum(entries);
  weighted_gram(rows_, {chosen.data(), weight.data(), k, ones_, single, sparse_}, sum.data());
  if (!anew)
    for (std::size_t k = 0; k < entries; ++k) sum[k] += hessian_[k];
  hessian_.swap(sum);
  hessian_single_ = single;
  if (members_.size() == 0) members_ = Buffer<std::uint8_t>(n_);
  std::copy_n(inside_.data(), n_, members_.data());
  return hessian_;
}

void Piecewise::newton(bool single, Out dw) {
  hessian(single);
  const std::size_t width = at(columns());
  std::vector<double> against(width);
  for (std::size_t j = 0; j < width; ++j) against[j] = -slope_[j];
  Factored(hessian_.data(), ridge()).solve(against, dw);
}

std::pair<double, double> Piecewise::descend(bool single) {
  std::vector<double> dw(at(columns()));
  newton(single, dw);
  const double decrement = falls(dw);
  return {decrement, decrement > 0.0 ? step(dw) : 0.0};
}

std::vector<double> Piecewise::ridge() const {
  std::vector<double> out = rho_;
  if (rho_.back() == 0.0 && inside_count() == 0)
    for (Index i = 0; i < n_; ++i) out.back() += inverse_[i];
  return out;
}

Index Piecewise::inside_count() const { return std::count_if(inside_.data(), inside_.data() + n_, [](auto in) { return in != 0; }); }

double Piecewise::moved() const {
  double total = 0.0;
  for (Index i = 0; rounded_ && i < n_; ++i) {
    const double r = 1.0 / inverse_[i] - box_.d[i];
    const double away = r * beta_[i] - (p_[i] - box_.p[i]);  // r (β − β̄)
    total += 0.5 * away * away / r;
  }
  return total;
}

double Piecewise::conjugate(Out dw) const {
  std::vector<Index> chosen;
  std::vector<double> weight;
  for (Index i = 0; i < n_; ++i)
    if (is_inside(i)) {
      chosen.push_back(i);
      weight.push_back(inverse_[i]);
    }
  const std::size_t width = at(columns());
  const std::vector<double> rho = ridge();
  std::vector<double> diagonal = rho;
  std::visit(
      [&]<class R>(const R& rows) {
        for (std::size_t k = 0; k < chosen.size(); ++k) {
          const Index i = chosen[k];
          if constexpr (R::is_sparse)
            for (Index e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e)
              diagonal[rows.indices[e]] += weight[k] * rows.value(e) * rows.value(e);
          else
            for (Index j = 0; j < d_; ++j) diagonal[at(j)] += weight[k] * static_cast<double>(rows.row(i)[j]) * rows.row(i)[j];
          if (ones_) diagonal[at(d_)] += weight[k];
        }
      },
      rows_);
  for (double& each : diagonal)
    if (each <= 0.0) each = 1.0;

  const SweepLoops& loops = sweep_loops();
  const Index pieces = count(bounds_.size()) - 1, rows = count(chosen.size());
  std::vector<double> parts(at(pieces) * width);
  const auto multiply = [&](const std::vector<double>& v, std::vector<double>& out) {
    std::fill(parts.begin(), parts.end(), 0.0);
    share(pieces, [&](Index piece, int) {
      loops.multiply[rows_.index()](pointer(rows_), chosen.data(), weight.data(), rows * piece / pieces,
                                    rows * (piece + 1) / pieces, ones_, v.data(), parts.data() + at(piece) * width);
    });
    for (std::size_t j = 0; j < width; ++j) {
      out[j] = rho[j] * v[j];
      for (Index piece = 0; piece < pieces; ++piece) out[j] += parts[at(piece) * width + j];
    }
  };
  std::vector<double> residual(width), direction(width), product(width);
  double rz = 0.0;
  for (std::size_t j = 0; j < width; ++j) {
    dw[j] = 0.0;
    residual[j] = -slope_[j];
    direction[j] = residual[j] / diagonal[j];
    rz += residual[j] * direction[j];
  }
  const double goal = rz * std::min(rough, std::sqrt(rz / std::max(1e-300, std::fabs(value()))));
  int products = 0;
  while (products < most_products && rz > goal) {
    multiply(direction, product);
    ++products;
    const double curved = dot(direction, product);
    if (!(curved > 0.0)) break;
    const double step = rz / curved, last = rz;
    rz = 0.0;
    for (std::size_t j = 0; j < width; ++j) {
      dw[j] += step * direction[j];
      residual[j] -= step * product[j];
      rz += residual[j] * (residual[j] / diagonal[j]);
    }
    for (std::size_t j = 0; j < width; ++j) direction[j] = residual[j] / diagonal[j] + rz / last * direction[j];
  }
  return static_cast<double>(products) * static_cast<double>(rows);
}

}  // namespace gapless
