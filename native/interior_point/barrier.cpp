#include "interior_point/barrier.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/pool.hpp"
#include "newton/factored.hpp"
#include "newton/gram.hpp"

namespace gapless {
namespace {

constexpr double boundary = 0.995;   // the share of the way to the nearest bound that a step may go (Mehrotra's choice, as in most implementations)
constexpr double least_step = 1e-6;  // a shorter step means that rounding is in the way: the iteration is stuck
// Entries of A and numbers of samples in one piece of a pass: some 50 µs, many times as long as handing it to a thread takes. A pass reads and writes
// some 20 numbers of a sample beside its row.
constexpr double piece_entries = 1 << 17, sample_numbers = 20.0;
constexpr Index most_pieces = 16;    // bounds the memory of the sums; the number of pieces must not depend on that of the threads

constexpr int halvings = 60;  // of the share of a price at which a half with a bend begins

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// u and ξ = u + r with width/u + width/ξ = 1, the root that keeps both positive, without cancellation.
struct Centred {
  double surplus, slack;

  Centred(double r, double width) {
    const double root = std::sqrt(r * r + 4.0 * width * width);
    if (r > 0.0) {
      slack = 0.5 * (root + r) + width;
      surplus = width * slack / (slack - width);
    } else {
      surplus = 0.5 * (root - r) + width;
      slack = width * surplus / (surplus - width);
    }
  }
};

}  // namespace

Barrier::Barrier(const DenseRows<double>& A, const DualBox& box, Vector factor, Vector rho, Vector g, double constant, Vector w,
                 double width)
    : A_(A), halves_(1), rho_(rho.begin(), rho.end()), g_(g.begin(), g.end()), w_(w.begin(), w.end()), f_(at(A.n)),
      weight_(at(A.n)), rhs_(at(A.n)), aimed_(at(A.n)), df_(at(A.n)), constant_(constant) {
  const Index n = A.n;
  for (Index i = 0; i < n && halves_ == 1; ++i)
    if (box.upper[i] > 0.0 && box.lower[i] < 0.0) halves_ = 2;
  const std::size_t size = at(halves_ * n);
  for (auto* each : {&sign_, &target_, &price_, &bend_, &alpha_, &surplus_, &slack_, &dalpha_, &dsurplus_, &dslack_}) each->resize(size);
  for (Index i = 0; i < n; ++i) {
    const double scale = factor.empty() ? 1.0 : factor[at(i)];
    const bool below = halves_ == 1 && box.lower[i] < 0.0;
    sign_[at(i)] = below ? -1.0 : 1.0;
    target_[at(i)] = sign_[at(i)] * box.p[i] - box.epsilon[i];
    price_[at(i)] = scale * (below ? -box.lower[i] : box.upper[i]);
    bend_[at(i)] = box.d[i] / scale;
    if (halves_ == 2) {
      sign_[at(n + i)] = -1.0;
      target_[at(n + i)] = -box.p[i] - box.epsilon[i];
      price_[at(n + i)] = scale * -box.lower[i];
      bend_[at(n + i)] = box.d[i] / scale;
    }
  }
  BarrierTask first = task();
  first.direction = w_.data();
  first.mu = 0.0;
  // The decisions A w, by the pass that computes products with A; its other results are not used here.
  pass(&BarrierLoops::predict, first, nullptr);
  f_ = aimed_;
  for (std::size_t k = 0; k < size; ++k) {
    const double r = target_[k] - sign_[k] * f_[k % at(n)];
    Centred here(r, width);
    if (bend_[k] > 0.0) {  // a share of c, on which r − dα falls; the root is where the point centred for r − dα has that share
      double low = 0.0, high = 1.0;
      for (int tries = 0; tries < halvings; ++tries) {
        const double middle = 0.5 * (low + high);
        here = Centred(r - bend_[k] * price_[k] * middle, width);
        (width > middle * here.surplus ? low : high) = middle;
      }
    }
    surplus_[k] = here.surplus;
    slack_[k] = here.slack;
    alpha_[k] = price_[k] * width / surplus_[k];
    // To rounding, what halving has left is made up for by the larger of the two.
    const double apart = sign_[k] * f_[k % at(n)] - target_[k] + bend_[k] * alpha_[k];
    if (bend_[k] > 0.0) (apart > 0.0 ? surplus_[k] : slack_[k]) = apart > 0.0 ? slack_[k] + apart : surplus_[k] - apart;
  }
  std::vector<double> short_of(w_.size());
  const std::vector<double> own = beta();
  for (Index i = 0; i < n; ++i) A_.add(i, own[at(i)], short_of.data());
  for (std::size_t j = 0; j < w_.size(); ++j) {
    const double residual = rho_[j] * w_[j] - g_[j] - short_of[j];
    residual_ += rho_[j] > 0.0 ? 0.5 * residual * residual / rho_[j] : std::fabs(residual) * width;
  }
  BarrierTask here = task();
  here.step = 0.0;
  measure(pass(&BarrierLoops::move, here, nullptr));
}

BarrierTask Barrier::task() {
  return {.A = A_, .begin = 0, .end = A_.n, .halves = halves_,
          .sign = sign_.data(), .target = target_.data(), .price = price_.data(), .bend = bend_.data(),
          .alpha = alpha_.data(), .surplus = surplus_.data(), .slack = slack_.data(),
          .dalpha = dalpha_.data(), .dsurplus = dsurplus_.data(), .dslack = dslack_.data(),
          .f = f_.data(), .direction = nullptr, .weight = weight_.data(), .rhs = rhs_.data(),
          .aimed = aimed_.data(), .df = df_.data(), .total = nullptr, .mu = 0.0, .step = 0.0};
}

BarrierSums Barrier::pass(Loop loop, const BarrierTask& common, double* total) {
  const auto run = barrier_loops().*loop;
  const Index n = A_.n, width = A_.d;
  const double work = static_cast<double>(n) * (static_cast<double>(width) + sample_numbers);
  const Index pieces = std::clamp<Index>(static_cast<Index>(work / piece_entries), 1, most_pieces);
  std::vector<BarrierSums> sums(at(pieces));
  std::vector<double> totals(total ? at(pieces * width) : 0);
  share(pieces, [&](Index piece, int) {
    BarrierTask mine = common;
    mine.begin = n * piece / pieces;
    mine.end = n * (piece + 1) / pieces;
    mine.total = totals.data() + (total ? piece * width : 0);
    sums[at(piece)] = run(mine);
  });
  BarrierSums out = sums.front();
  for (Index piece = 1; piece < pieces; ++piece) {
    const BarrierSums& next = sums[at(piece)];
    out.blocking = std::max(out.blocking, next.blocking);
    out.zero += next.zero;
    out.two += next.two;
    out.total += next.total;
    out.lacking += next.lacking;
    out.loss += next.loss;
  }
  for (Index piece = 0; total && piece < pieces; ++piece)
    for (Index j = 0; j < width; ++j) total[j] += totals[at(piece * width + j)];
  return out;
}

void Barrier::measure(const BarrierSums& sums) {
  lacking_ = sums.lacking;
  value_ = constant_ + sums.loss;
  for (std::size_t j = 0; j < w_.size(); ++j) value_ += 0.5 * rho_[j] * w_[j] * w_[j] - g_[j] * w_[j];
}

double Barrier::mu() const {
  double price = 0.0;
  for (double each : price_) price += each;
  return gap() / std::max(2.0 * price, std::numeric_limits<double>::min());
}

std::vector<double> Barrier::beta() const {
  std::vector<double> out(at(A_.n));
  for (std::size_t k = 0; k < alpha_.size(); ++k) out[k % out.size()] += sign_[k] * alpha_[k];
  return out;
}

void Barrier::iterate() {
  const std::size_t width = w_.size();
  std::vector<double> base(width), rhs(width), towards(width), gram(width * width);
  for (std::size_t j = 0; j < width; ++j) rhs[j] = base[j] = g_[j] - rho_[j] * w_[j];
  BarrierTask next = task();
  pass(&BarrierLoops::predictor, next, rhs.data());
  weighted_gram(A_, {nullptr, weight_.data(), A_.n, false, false, false}, gram.data());
  const Factored system(gram.data(), rho_);
  system.solve(rhs, towards);
  next.direction = towards.data();
  const BarrierSums ahead = pass(&BarrierLoops::predict, next, nullptr);
  const double reach = 1.0 / ahead.blocking;
  const double left = std::max(0.0, (1.0 - reach) * ahead.zero + reach * reach * ahead.two) / ahead.zero;
  next.mu = left * left * left * ahead.zero / ahead.total;
  rhs = base;
  pass(&BarrierLoops::corrector, next, rhs.data());
  system.solve(rhs, towards);
  const BarrierSums bounds = pass(&BarrierLoops::correct, next, nullptr);
  const double step = std::min(1.0, boundary / bounds.blocking);
  const bool finite = std::all_of(towards.begin(), towards.end(), [](double each) { return std::isfinite(each); });
  if (!finite || !(step > least_step)) {
    stuck_ = true;
    return;
  }
  for (std::size_t j = 0; j < width; ++j) w_[j] += step * towards[j];
  for (std::size_t i = 0; i < f_.size(); ++i) f_[i] += step * df_[i];
  next.step = step;
  infeasible_ *= (1.0 - step) * (1.0 - step);
  measure(pass(&BarrierLoops::move, next, nullptr));
}

}  // namespace gapless
