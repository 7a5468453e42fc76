#include "proof/table_proof.hpp"

#include <algorithm>
#include <cmath>

#include "core/runs.hpp"
#include "proof/bounds.hpp"
#include "proof/stretch_loops.hpp"

namespace gapless::proof {
namespace {

// The numbers of gapless/proof/outward.py, which states them: MORE and ROUNDINGS.
constexpr double more = 1.05, roundings = 16.0;
constexpr double stretching = 1e-12;  // a gap below this share of D is not worth a stretch (ROUNDING of gapless/problems/objective.py)

// The model of β stretched to a smallest margin of one, as under a hard margin.
struct Stretched {
  double value = infinity, rounding = 0.0;  // a number that its P = ½‖w‖² is not above, and the part of that which was added for rounding
  double margin = 1.0, offset = 0.0;        // what β is divided by, and the offset after that
};

// A number that βᵀKβ of the task's β is not above, where `square` is the number that was computed for it.
double square_above(const StretchTask& task, const StretchSums& sums, double square) {
  const double n = static_cast<double>(task.box.n);
  return square + more * (task.scale * sums.slack + 2.0 * unit * n * sums.products) + 4.0 * unit * std::fabs(square);
}

// `square` is βᵀKβ of the task's β. The stretch takes every margin less its error, so that no sample has a loss in exact arithmetic. Where the
// stretched β would leave its box, the optimum has losses, and the value is infinite. A sample of no weight has no margin to keep.
Stretched stretched(const StretchTask& task, const StretchSums& sums, double square) {
  if (sums.full) return {};
  const StretchLoops& loops = stretch_loops();
  const double above = square_above(task, sums, square), b = -0.5 * (sums.lowest + sums.highest);
  const auto [plain, margin] = loops.margins(task, b);
  if (!(margin > 0.0)) return {};
  const double value = 0.5 * above / (plain * plain), raised = 0.5 * above / (margin * margin) * (1.0 + 16.0 * unit);
  if (!loops.fits(task, std::sqrt(2.0 * raised / above))) return {};
  return {raised, raised - value, margin, b / margin};
}

// The model of β stretched until every sample between its bounds is beyond the margin. At the optimum these are on it, so that each of them adds what it
// is short of the margin, and the rounding of that, times C to P; stretched, they add nothing, and ‖w‖² grows by a little. Its β leaves the box, so that it
// is no model for a user; its P is above P* all the same. The other arguments are those of stretched(); b is the offset of β's own model.
Stretched beyond_margin(const StretchTask& task, const StretchSums& sums, double square, double b) {
  const StretchLoops& loops = stretch_loops();
  const LeastMargins least = loops.free_margins(task, b);
  const auto [plain, margin] = least;
  if (!(margin > 0.5 && margin < 1.0)) return {};
  const StretchedLosses losses = loops.losses(task, b, least);
  const double n = static_cast<double>(task.box.n), above = square_above(task, sums, square);
  const double raised = (0.5 * above / (margin * margin) + losses.above) * (1.0 + (16.0 + n) * unit);
  const double value = 0.5 * square / (plain * plain) + losses.plain;
  return {raised, raised - std::min(raised, value), margin, b / margin};
}

}  // namespace

Index expand(Matrix<const double> K, Places places, Vector beta, Out f) {
  const Index n = length(beta);
  const std::vector<Index> ends = run_ends(places);
  std::fill(f.begin(), f.end(), 0.0);
  Index terms = 0;
  for (Index i = 0; i < n; ++i) {
    const double b = beta[i];
    if (b == 0.0) continue;
    ++terms;
    const double* const row = K.row(places[i]);
    for (Index j = 0; j < n; j = ends[j]) {
      const double* GAPLESS_RESTRICT from = row + places[j];
      double* GAPLESS_RESTRICT to = f.data() + j;
      const Index many = ends[j] - j;
      for (Index k = 0; k < many; ++k) to[k] += b * from[k];
    }
  }
  return terms;
}

ExpansionError sum_error(const ExpansionSizes& sizes, double terms) { return sizes.error(more * unit, terms + roundings); }

TableProof prove(const TableProblem& problem, const Repair& repair, Out beta, Out f, double terms, std::span<Interval> offsets, TableRoom& room) {
  TableProof out;
  out.outside = repair.outside;
  out.off = repair.off;
  if (std::isnan(repair.outside)) return out;
  room.sizes.resize(beta.size());
  room.plain.resize(offsets.size());
  const Vector factors = problem.factors.empty() ? Vector(beta) : problem.factors;
  const double largest = expansion_errors(factors, problem.g, problem.r, more * unit, terms + roundings, room.sizes);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Bounds found = bounds(problem.box, problem.groups, problem.totals, {true, problem.margins, true, true, false}, beta, f, {room.sizes, 1.0, least_error},
                              {nan, 0.0, 0.0, largest}, 0.0, offsets, room.plain);
  if (std::isnan(found.square)) return out;
  out.violation = found.violation;
  out.plain_primal = found.own.primal;
  out.plain_dual = found.own.dual;
  out.dual = found.dual;
  out.primal = found.primal;
  out.rounding = found.dual_rounding + found.primal_rounding;
  double beyond = infinity, beyond_rounding = 0.0;
  if (problem.margins && out.dual > 0.0 && out.primal > (1.0 + stretching) * out.dual) {
    const double b = 0.5 * (offsets[0].low + offsets[0].high);
    const StretchTask task{problem.box, beta.data(), f.data(), room.sizes.data(), found.scale};
    const StretchSums sums = stretch_loops().sums(task);
    const double square = found.square * (found.scale * found.scale);
    const Stretched other = stretched(task, sums, square);
    if (other.value < out.primal) {
      out.primal = other.value;
      out.rounding = found.dual_rounding + other.rounding;
      out.own = false;
      out.margin = other.margin;
      offsets[0] = {other.offset, other.offset};
    } else if (other.value == infinity) {
      const Stretched with_losses = beyond_margin(task, sums, square, b);
      beyond = with_losses.value;
      beyond_rounding = found.dual_rounding + with_losses.rounding;
    }
  }
  if (!(out.dual <= out.primal)) out.dual = -infinity;  // a contradiction, of a K that is not positive semi-definite, proves nothing
  // ‖w − w*‖² is at most P − D where w is the dual point's own, as both P − P* and D* − D are at least half of it; else at most 2 (P − D).
  const double times = out.own ? 1.0 : 2.0;
  out.apart = times * std::max(0.0, out.primal - out.dual);
  out.apart_rounding = times * out.rounding;
  if (2.0 * (beyond - out.dual) < out.apart && beyond >= out.dual) {
    out.apart = 2.0 * (beyond - out.dual);
    out.apart_rounding = 2.0 * beyond_rounding;
  }
  return out;
}

}  // namespace gapless::proof
