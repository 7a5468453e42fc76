// Passes over rows (sweep.hpp), block by block. Sums are taken from short arrays: the loops that fill these have no order, and vectorise.
#include "newton/sweep.hpp"

#include "newton/box.hpp"
#include "newton/products.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

constexpr Index most_block = 256;           // samples whose terms are held at a time
constexpr double block_entries = 1 << 14;   // entries of X that a block may have: 128 KiB, which stay in the cache for Σ β a
constexpr Index least_block = 16;

template <class R>
GAPLESS_INLINE Index block_of(const R& rows) {
  const Index fits = static_cast<Index>(block_entries * static_cast<double>(rows.n) / larger(1.0, rows.entries()));
  return fits < least_block ? least_block : (fits > most_block ? most_block : fits);
}

GAPLESS_INLINE double is_inside(double beta, double lower, double upper) {
  return (beta != 0.0) & (lower < beta) & (beta < upper) ? 1.0 : 0.0;
}

// Slope and curvature of the samples [i, i + count).
GAPLESS_INLINE void derivatives(const Sweep& task, Index i, Index count, double* term, SweepSums& sums) {
  const SmoothBox& box = task.smooth;
  double bent[most_block];
  for (Index k = 0; k < count; ++k) {
    const double df = task.df[i + k], lower = box.lower[i + k], upper = box.upper[i + k], inverse = box.inverse[i + k];
    const double beta = answer(box.p[i + k] - (task.f[i + k] + task.t * df), box.epsilon[i + k], inverse, lower, upper);
    term[k] = -beta * df;
    bent[k] = is_inside(beta, lower, upper) * (df * df * inverse);
  }
  sums.slope += sum_of(term, count);
  sums.curvature += sum_of(bent, count);
}

template <bool rounded, bool moves>
GAPLESS_INLINE void respond(const Sweep& task, Index i, Index count, SweepSums& sums) {
  const SmoothBox& box = task.smooth;
  double loss[most_block], lacking[most_block], slope[most_block], bent[most_block], inside[most_block];
  for (Index k = 0; k < count; ++k) {
    const double epsilon = box.epsilon[i + k], lower = box.lower[i + k], upper = box.upper[i + k], inverse = box.inverse[i + k];
    const double df = moves ? task.df[i + k] : 0.0;
    const double f = moves ? task.f[i + k] + task.t * df : task.f[i + k];
    const double beta = answer(box.p[i + k] - f, epsilon, inverse, lower, upper);
    task.decisions[i + k] = f;
    task.beta[i + k] = beta;
    inside[k] = is_inside(beta, lower, upper);
    const double e = task.p[i + k] - f, d = task.d[i + k];
    const double best = rounded ? best_answer(e, epsilon, d, lower, upper) : beta;
    loss[k] = box_term(e, epsilon, d, best);
    if (rounded) lacking[k] = fenchel_gap(e, epsilon, d, best, beta);
    if (moves) {
      slope[k] = -beta * df;
      bent[k] = inside[k] * (df * df * inverse);
    }
  }
  for (Index k = 0; k < count; ++k) task.inside[i + k] = inside[k] != 0.0;
  sums.loss += sum_of(loss, count);
  if (rounded) sums.lacking += sum_of(lacking, count);
  if (moves) {
    sums.slope += sum_of(slope, count);
    sums.curvature += sum_of(bent, count);
  }
}

template <class R>
SweepSums pass(const void* of, const Sweep& task) {
  const R& rows = *static_cast<const R*>(of);
  const Index block = block_of(rows);
  const double b = task.direction && task.ones ? task.direction[rows.d] : 0.0;
  SweepSums sums;
  double scale[most_block];
  Index which[most_block];
  for (Index i = task.begin; i < task.end; i += block) {
    const Index count = task.end - i < block ? task.end - i : block;
    if (task.direction) dots(rows, i, count, task.direction, b, task.df + i);
    if (!task.beta) {
      derivatives(task, i, count, scale, sums);
      continue;
    }
    if (task.rounded)
      task.df ? respond<true, true>(task, i, count, sums) : respond<true, false>(task, i, count, sums);
    else
      task.df ? respond<false, true>(task, i, count, sums) : respond<false, false>(task, i, count, sums);
    if (!task.total) continue;
    Index changed = 0;
    double added = 0.0;
    for (Index k = i; k < i + count; ++k) {
      const double change = task.last ? task.beta[k] - task.last[k] : task.beta[k];
      which[changed] = k;
      scale[changed] = change;
      added += change;
      changed += change != 0.0;
    }
    add_rows(rows, which, scale, changed, task.total);
    if (task.ones) task.total[rows.d] += added;
  }
  return sums;
}

SweepSums along(const Sweep& task) {
  SweepSums sums;
  double term[most_block];
  for (Index i = task.begin; i < task.end; i += most_block)
    derivatives(task, i, task.end - i < most_block ? task.end - i : most_block, term, sums);
  return sums;
}

template <class R>
void multiply(const void* of, const Index* chosen, const double* weight, Index begin, Index end, bool ones, const double* v,
              double* out) {
  const R& rows = *static_cast<const R*>(of);
  const double b = ones ? v[rows.d] : 0.0;
  double total = 0.0;
  for (Index k = begin; k < end; ++k) {
    const double value = weight[k] * (rows.dot(chosen[k], v) + b);
    rows.add(chosen[k], value, out);
    total += value;
  }
  if (ones) out[rows.d] += total;
}

template <class R>
void squares(const void* of, const double* weight, Index begin, Index end, double* out) {
  const R& rows = *static_cast<const R*>(of);
  for (Index i = begin; i < end; ++i) {
    if constexpr (R::is_sparse) {
      double total = 0.0;
      for (Index k = rows.indptr[i]; k < rows.indptr[i + 1]; ++k) total += weight[rows.indices[k]] * rows.value(k) * rows.value(k);
      out[i] = total;
    } else {
      const auto* x = rows.row(i);
      double sums[8] = {};
      Index j = 0;
      for (; j + 8 <= rows.d; j += 8)
        for (int h = 0; h < 8; ++h) sums[h] += weight[j + h] * (static_cast<double>(x[j + h]) * static_cast<double>(x[j + h]));
      for (int h = 0; j < rows.d; ++j, ++h) sums[h] += weight[j] * (static_cast<double>(x[j]) * static_cast<double>(x[j]));
      out[i] = sum_of(sums, 8);
    }
  }
}

}  // namespace

extern const SweepLoops sweep_loops = {
    {pass<DenseRows<float>>, pass<DenseRows<double>>, pass<CsrRows<float>>, pass<CsrRows<double>>, pass<OnesRows>},
    along,
    {multiply<DenseRows<float>>, multiply<DenseRows<double>>, multiply<CsrRows<float>>, multiply<CsrRows<double>>,
     multiply<OnesRows>},
    {squares<DenseRows<float>>, squares<DenseRows<double>>, squares<CsrRows<float>>, squares<CsrRows<double>>,
     squares<OnesRows>},
};

}  // namespace gapless::GAPLESS_LEVEL
