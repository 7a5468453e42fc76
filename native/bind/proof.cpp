// Bindings of native/proof: the bounds that a dual point and decision values prove.
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "proof/bounds.hpp"
#include "proof/dual_side.hpp"
#include "proof/feasible.hpp"
#include "proof/loss.hpp"
#include "proof/primal_side.hpp"
#include "proof/rounding.hpp"

namespace gapless::bind {
namespace {

using Pair = std::tuple<double, double>;
using Pairs = nb::typed<nb::tuple, nb::typed<nb::tuple, double, double>, nb::ellipsis>;

// A new NumPy array of n numbers that are still to be written, and the address of the first.
std::pair<Array<double>, double*> new_array(std::size_t n) {
  double* data = new double[n];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return {Array<double>(data, {n}, owner), data};
}

std::tuple<Array<double>, double, double> feasible(In<double> lower, In<double> upper, In<Index> groups, In<double> totals, bool coupled,
                                           In<double> beta) {
  expect_entries(count(beta.shape(0)), of_samples, lower, upper, groups);
  auto [array, out] = new_array(beta.shape(0));
  proof::Repair repair;
  {
    nb::gil_scoped_release release;
    repair = proof::feasible(view(lower), view(upper), view(groups), view(totals), coupled, view(beta), {out, beta.shape(0)});
  }
  return {array, repair.outside, repair.off};
}


Pair best_multiple(nb::handle box, In<double> beta, double square) {
  const DualBox terms = box_of(box);
  expect_entries(terms.n, of_samples, beta);
  nb::gil_scoped_release release;
  const proof::Multiple best = proof::best_multiple(terms, view(beta), square);
  return {best.scale, best.value};
}

Pairs pairs_of(const std::vector<proof::Interval>& intervals) {
  nb::list out;
  for (const auto& [low, high] : intervals) out.append(nb::make_tuple(low, high));
  return Pairs(nb::tuple(out));
}

std::tuple<double, double, double, double, double, Pairs, double, double, double, double, double, double, Pairs> bounds(
    nb::handle dual, In<Index> groups, In<double> totals, bool free, bool multiple, bool primal, bool plain, InOut<double> beta, InOut<double> f,
    In<double> sizes, double factor, std::tuple<double, double, double, double> weights, double shift) {
  const DualTerms terms = dual_of(dual);
  expect_entries(samples_of(dual), of_samples, groups, beta, f, sizes);
  std::vector<proof::Interval> offsets(totals.shape(0)), own(totals.shape(0));
  proof::Bounds found;
  {
    nb::gil_scoped_release release;
    const auto [norm, norm_error, square_error, largest] = weights;
    found = proof::bounds(terms, view(groups), view(totals), {free, multiple, primal, plain, true}, view(beta), view(f), {view(sizes), factor, proof::least_error},
                          {norm, norm_error, square_error, largest}, shift, offsets, own);
  }
  return {found.square, found.scale, found.dual, found.violation, found.primal, pairs_of(offsets), found.dual_rounding,
          found.primal_rounding, found.own.dual, found.own.primal, found.own.below, found.own.above, pairs_of(own)};
}

Pairs best_offsets(nb::handle dual, In<Index> groups, In<double> totals, In<double> f) {
  const DualTerms terms = dual_of(dual);
  expect_entries(samples_of(dual), of_samples, groups, f);
  std::vector<proof::Interval> found;
  {
    nb::gil_scoped_release release;
    for (Index g = 0; g < count(totals.shape(0)); ++g)
      found.push_back(proof::best_offset(terms, view(groups), g, totals.data()[g], view(f)));
  }
  return pairs_of(found);
}

std::tuple<double, double, double> loss_bounds(nb::handle dual, In<Index> groups, In<double> offsets, In<double> f, In<double> sizes, double factor) {
  const DualTerms terms = dual_of(dual);
  expect_entries(samples_of(dual), of_samples, groups, f, sizes);
  nb::gil_scoped_release release;
  const auto [above, rounding, plain] = proof::loss_bounds(terms, view(groups), view(offsets), view(f), {view(sizes), factor, proof::least_error});
  return {above, rounding, plain};
}

Array<double> losses(nb::handle dual, In<double> f) {
  const DualTerms terms = dual_of(dual);
  expect_entries(samples_of(dual), of_samples, f);
  auto [array, out] = new_array(f.shape(0));
  std::visit(
      [&](const auto& each) {
        for (Index i = 0; i < count(f.shape(0)); ++i) out[i] = proof::loss(each, i, f.data()[i]);
      },
      terms);
  return array;
}

}  // namespace

void bind_proof(nb::module_& m) {
  m.def("proof_feasible", feasible, nb::arg("lower"), nb::arg("upper"), nb::arg("groups"), nb::arg("totals"),
        nb::arg("coupled"), nb::arg("beta"),
        "(a feasible β, how far the given β was from its box, how far its sums, after clipping, were from their totals).");
  m.def("proof_best_multiple", best_multiple, nb::arg("box"), nb::arg("beta"), nb::arg("square"),
        "(s, D(sβ)) for the best s that stays in the box, where square is βᵀKβ.");
  m.def("proof_bounds", bounds, nb::arg("dual"), nb::arg("groups"), nb::arg("totals"), nb::arg("free"), nb::arg("multiple"),
        nb::arg("primal"), nb::arg("plain"), nb::arg("beta").noconvert(), nb::arg("f").noconvert(), nb::arg("sizes"), nb::arg("factor"),
        nb::arg("weights"), nb::arg("shift"),
        "(βᵀKβ, s, D(sβ), largest KKT violation, P, intervals of the best offsets, the parts of D and of P that were added for rounding) at the best "
        "multiple sβ of a feasible β, which is written to beta and f; then, at β itself, D and P as computed, a number that D is not below, one that P is "
        "not above, and the intervals. f is off by at most factor · sizes. weights are (‖w‖², its error, the error of βᵀKβ, largest √k).");
  m.def("proof_best_offsets", best_offsets, nb::arg("dual"), nb::arg("groups"), nb::arg("totals"), nb::arg("f"),
        "The interval of best offsets of each group, for decision values f that have none added.");
  m.def("proof_loss_bounds", loss_bounds, nb::arg("dual"), nb::arg("groups"), nb::arg("offsets"), nb::arg("f"), nb::arg("sizes"), nb::arg("factor"),
        "(a number that Σ c ℓ(y, f + the group's offset) is not above where f is off by at most factor · sizes, the part of it that was added for "
        "these errors, the sum as computed).");
  m.def(
      "proof_losses_at",
      [](nb::handle dual, In<Index> groups, In<double> offsets, In<double> f) {
        const DualTerms terms = dual_of(dual);
        expect_entries(samples_of(dual), of_samples, groups, f);
        nb::gil_scoped_release release;
        return proof::losses_at(terms, view(groups), view(offsets), view(f));
      },
      nb::arg("dual"), nb::arg("groups"), nb::arg("offsets"), nb::arg("f"), "Σ c ℓ(y, f + the group's offset), as computed.");
  m.def(
      "proof_expansion_errors",
      [](In<double> beta, In<double> g, In<double> r, double u, double terms) {
        expect_entries(count(beta.shape(0)), of_samples, g, r);
        auto [array, out] = new_array(beta.shape(0));
        {
          nb::gil_scoped_release release;
          proof::expansion_errors(view(beta), view(g), view(r), u, terms, {out, beta.shape(0)});
        }
        return array;
      },
      nb::arg("beta"), nb::arg("g"), nb::arg("r"), nb::arg("u"), nb::arg("terms"), "Bounds on the errors of Kβ as computed.");
  m.def(
      "proof_sum", [](In<double> values, bool above) { return above ? proof::sum_above(view(values)) : proof::sum_below(view(values)); },
      nb::arg("values"), nb::arg("above"), "A number that the exact sum is below (or, unless `above`, above).");
  m.def("proof_losses", losses, nb::arg("dual"), nb::arg("f"), "c ℓ(y, f) of each sample.");
}

}  // namespace gapless::bind
