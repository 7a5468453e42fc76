#include "sdca/sweep.hpp"

#if defined(__GNUC__) || defined(__clang__)
#define GAPLESS_PREFETCH(address) __builtin_prefetch(address)
#else
#define GAPLESS_PREFETCH(address) ((void)(address))
#endif

namespace gapless::GAPLESS_LEVEL {
namespace {

// Visits between the prefetch of a sample, or of the beginning of its row, and its use; the best of those tried on a9a and w8a at C = 1
// (benchmarks/linear.py).
constexpr Index sample_ahead = 8, row_ahead = 3;

template <class S>
GAPLESS_INLINE void fetch_sample(const S* samples, const std::uint32_t* visit, Index k, Index count) {
  if (k + sample_ahead < count) GAPLESS_PREFETCH(samples + visit[k + sample_ahead]);
}

template <class R, class S>
GAPLESS_INLINE void fetch_row(const R& rows, const S* samples, const std::uint32_t* visit, Index k, Index count) {
  if (k + row_ahead < count) {
    const Index begin = samples[visit[k + row_ahead]].begin;
    if constexpr (R::is_sparse) GAPLESS_PREFETCH(rows.indices + begin);
    if constexpr (requires { rows.values; }) GAPLESS_PREFETCH(rows.values + begin);
  }
}

GAPLESS_INLINE double soft(double value, double epsilon) { return std::max(value - epsilon, 0.0) + std::min(value + epsilon, 0.0); }

// The Fenchel gap of a row: by how much h(β) − f β at its best β, with f fixed, exceeds the value at its present β.
template <class S>
GAPLESS_INLINE double fenchel_gap(const S& s, double slope, double old) {
  if constexpr (S::is_plain) {
    return std::max(slope * (s.upper - old), slope * (s.lower - old));
  } else {
    const double pull = soft(slope, s.epsilon);
    const double end = pull > 0.0 ? s.upper : (pull < 0.0 ? s.lower : 0.0);
    const double ideal = s.bend > 0.0 ? std::min(std::max(pull / s.bend, s.lower), s.upper) : end;
    return slope * (ideal - old) - s.epsilon * (std::fabs(ideal) - std::fabs(old)) - 0.5 * s.bend * (ideal * ideal - old * old);
  }
}

// For a sample at a bound, or at zero inside a tube: by how much the slope may change before β moves away. −∞ where β is at neither.
template <class S>
GAPLESS_INLINE double slack(const S& s, double slope, double beta) {
  if constexpr (S::is_plain) {
    if (beta == s.upper && beta == s.lower) return infinity;
    return beta == s.upper ? slope : (beta == s.lower ? -slope : -infinity);
  } else {
    if (s.lower == s.upper) return infinity;
    const double outward = slope - s.bend * beta;
    if (beta == 0.0 && s.epsilon > 0.0) return s.epsilon - std::fabs(outward);
    if (beta == s.upper) return s.upper > 0.0 ? outward - s.epsilon : outward + s.epsilon;
    if (beta == s.lower) return s.lower < 0.0 ? -outward - s.epsilon : -outward + s.epsilon;
    return -infinity;
  }
}

template <class R, class S>
void sweep(const R& rows, S* samples, const std::uint32_t* visit, Index count, double shift, double* w, SdcaTally& tally) {
  SdcaTally now = tally;
  for (Index k = 0; k < count; ++k) {
    fetch_sample(samples, visit, k, count);
    fetch_row(rows, samples, visit, k, count);
    S& s = samples[visit[k]];
    const double old = s.beta;
    const Index end = s.begin + s.length;
    const double slope = s.p - rows.dot_entries(s.begin, end, w) - now.offset;
    const double pull = slope + s.q * old;
    const double best = (S::is_plain ? pull : soft(pull, s.epsilon)) * s.inverse;
    const double next = std::min(std::max(best, s.lower), s.upper);
    now.gap += fenchel_gap(s, slope, old);
    const double change = next - old;
    if (change != 0.0) {
      now.gain += change * (slope - 0.5 * s.q * change);
      if constexpr (!S::is_plain)
        now.gain -= 0.5 * s.bend * (next * next - old * old) + s.epsilon * (std::fabs(next) - std::fabs(old));
      now.largest = std::max(now.largest, std::fabs(change) * (s.q + s.bend));
      s.beta = next;
      now.moved += change;
      now.offset += shift * change;
      rows.add_entries(s.begin, end, change, w);
    } else if (slack(s, slope, old) > now.threshold) {
      s.gone = 1;
    }
  }
  tally = now;
}

template <class R>
void sweep_entropy(const R& rows, const DualEntropy& dual, PlainSample* samples, const std::uint32_t* visit, Index count, double shift,
                   double* w, SdcaTally& tally) {
  for (Index k = 0; k < count; ++k) {
    fetch_sample(samples, visit, k, count);
    fetch_row(rows, samples, visit, k, count);
    PlainSample& s = samples[visit[k]];
    const Index end = s.begin + s.length;
    const double next = dual.step(visit[k], rows.dot_entries(s.begin, end, w) + tally.offset, s.beta, s.q);
    const double change = next - s.beta;
    if (change == 0.0) continue;
    s.beta = next;
    tally.moved += change;
    tally.offset += shift * change;
    rows.add_entries(s.begin, end, change, w);
  }
  tally.gap = infinity;
}

template <class R>
constexpr SdcaLoopsOf<R> loops_of = {sweep<R, PlainSample>, sweep<R, BoxSample>, sweep_entropy<R>};

}  // namespace

extern const SdcaLoops sdca_loops = {loops_of<DenseRows<float>>, loops_of<DenseRows<double>>, loops_of<CsrRows<float>>,
                                       loops_of<CsrRows<double>>, loops_of<OnesRows>};

}  // namespace gapless::GAPLESS_LEVEL
