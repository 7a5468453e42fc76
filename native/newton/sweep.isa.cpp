// Passes over rows (sweep.hpp), block by block.
#include "newton/sweep.hpp"

#include "newton/box.hpp"
#include "core/row_products.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

constexpr Index most_block = 256;           // samples whose terms are held at a time
constexpr double block_entries = 1 << 14;   // entries of X that a block may have: 128 KiB, which stay in the cache for Σ β a
constexpr Index least_block = 16;           // fewer samples would not fill the vectors of the loops over terms

template <class R>
GAPLESS_INLINE Index block_of(const R& rows) {
  const Index fits = static_cast<Index>(block_entries * static_cast<double>(rows.n) / larger<double>(1.0, rows.entries()));
  return fits < least_block ? least_block : (fits > most_block ? most_block : fits);
}

template <class V>
GAPLESS_INLINE auto is_inside(const V& beta, const V& lower, const V& upper) {
  return (beta != V{}) & (lower < beta) & (beta < upper);
}

// Adds the slope and the curvature of the samples [begin, end).
GAPLESS_INLINE void derivatives(const Sweep& task, Index begin, Index end, SweepSums& sums) {
  const SmoothBox smooth = task.smooth;
  const double *f = task.f, *df = task.df, t = task.t;
  LaneSum slope, curvature;
  by_lanes(begin, end, [&]<class V>(Index k) {
    const Box<V> box{read<V>(smooth.epsilon + k), V{}, read<V>(smooth.lower + k), read<V>(smooth.upper + k)};
    const V along = read<V>(df + k), inverse = read<V>(smooth.inverse + k);
    const V beta = box.answer(read<V>(smooth.p + k) - (read<V>(f + k) + t * along), inverse);
    slope.add<V>(-beta * along);
    const V bent = along * along * inverse;
    curvature.add<V>(is_inside(beta, box.lower, box.upper) ? bent : V{});
  });
  sums.slope += slope.total();
  sums.curvature += curvature.total();
}

// Writes β, the decisions and who is inside, and adds the sums, of the samples [begin, end).
template <bool rounded, bool moves>
GAPLESS_INLINE void respond(const Sweep& task, Index begin, Index end, SweepSums& sums) {
  const SmoothBox smooth = task.smooth;
  const double *f = task.f, *df = task.df, *p = task.p, *d = task.d, t = task.t;
  double *decisions = task.decisions, *found = task.beta;
  std::uint8_t* inside = task.inside;
  LaneSum loss, lacking, slope, curvature;
  by_lanes(begin, end, [&]<class V>(Index k) {
    const Box<V> box{read<V>(smooth.epsilon + k), read<V>(d + k), read<V>(smooth.lower + k), read<V>(smooth.upper + k)};
    const V inverse = read<V>(smooth.inverse + k);
    V at = read<V>(f + k), along{};
    if constexpr (moves) {
      along = read<V>(df + k);
      at = at + t * along;
    }
    const V beta = box.answer(read<V>(smooth.p + k) - at, inverse);
    const auto in = is_inside(beta, box.lower, box.upper);
    write<V>(at, decisions + k);
    write<V>(beta, found + k);
    write_mask(in, inside + k);
    const V e = read<V>(p + k) - at;
    V best = beta;
    if constexpr (rounded) {
      best = box.best(e);
      lacking.add<V>(box.gap(e, best, beta));
    }
    loss.add<V>(box.term(e, best));
    if constexpr (moves) {
      slope.add<V>(-beta * along);
      const V bent = along * along * inverse;
      curvature.add<V>(in ? bent : V{});
    }
  });
  sums.loss += loss.total();
  sums.lacking += lacking.total();
  sums.slope += slope.total();
  sums.curvature += curvature.total();
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
    if (task.direction) dots(rows, i, count, task.direction, b, task.product + i);
    if (!task.beta) {
      if (task.df) derivatives(task, i, i + count, sums);
      continue;
    }
    if (task.rounded)
      task.df ? respond<true, true>(task, i, i + count, sums) : respond<true, false>(task, i, i + count, sums);
    else
      task.df ? respond<false, true>(task, i, i + count, sums) : respond<false, false>(task, i, i + count, sums);
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
  derivatives(task, task.begin, task.end, sums);
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
  dots<true>(*static_cast<const R*>(of), begin, end - begin, weight, 0.0, out + begin);
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
