// Bindings of native/proof/twofold*: the bounds in numbers of twice the digits. gapless.proof.twofold and gapless.kernels.formula call them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "proof/twofold_bounds.hpp"
#include "proof/twofold_kernel.hpp"

namespace gapless::bind {
namespace {

using Kind = proof::Formula::Kind;
using Pair = std::tuple<double, double>;

constexpr std::array<std::pair<const char*, Kind>, 16> kinds = {{
    {"linear", Kind::linear}, {"polynomial", Kind::polynomial}, {"sigmoid", Kind::sigmoid}, {"rbf", Kind::rbf},
    {"laplacian", Kind::laplacian}, {"cosine", Kind::cosine}, {"chi2", Kind::chi2}, {"matern", Kind::matern},
    {"constant", Kind::constant}, {"given", Kind::given}, {"scaled", Kind::scaled}, {"power", Kind::power},
    {"sum", Kind::sum}, {"product", Kind::product}, {"exp", Kind::exp}, {"series", Kind::series},
}};

// The formula of a specification (kind, a, b, degree, coefficients, parts, rows, number of features, given entries). `kept` receives the objects
// whose memory it reads. There are n samples, of which some are chosen.
proof::Formula formula_of(nb::handle spec, std::vector<nb::object>& kept, Index n, Index chosen) {
  const auto parts = nb::cast<nb::tuple>(spec);
  const std::string name = nb::cast<std::string>(parts[0]);
  proof::Formula found;
  bool known = false;
  for (const auto& [text, kind] : kinds)
    if (name == text) {
      found.kind = kind;
      known = true;
    }
  if (!known) throw std::invalid_argument("no such formula: " + name);
  found.a = nb::cast<double>(parts[1]);
  found.b = nb::cast<double>(parts[2]);
  found.degree = nb::cast<int>(parts[3]);
  found.coefficients = nb::cast<std::vector<double>>(parts[4]);
  for (nb::handle part : nb::cast<nb::tuple>(parts[5])) found.parts.push_back(formula_of(part, kept, n, chosen));
  const nb::object rows = nb::borrow<nb::object>(parts[6]), given = nb::borrow<nb::object>(parts[8]);
  if (!rows.is_none()) {
    found.rows = rows_of(rows, nb::cast<Index>(parts[7]));
    expect(rows_in(found.rows), n, "rows of X");
    kept.push_back(rows);
  }
  if (!given.is_none()) {
    const auto entries = nb::cast<In2<double>>(given);
    expect(count(entries.shape(0)), n, "rows of a kernel's block");
    expect(count(entries.shape(1)), chosen, "columns of a kernel's block");
    found.entries = {entries.data(), count(entries.shape(0)), count(entries.shape(1)), count(entries.shape(1))};
    kept.push_back(given);
  }
  return found;
}

// A vector of numbers of twice the digits: an array of two rows, the upper and the lower parts.
using Halves = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
proof::TwoVector halves(const Halves& array, Index n) {
  expect(count(array.shape(0)), 2, "rows, of upper and of lower parts");
  expect(count(array.shape(1)), n, of_samples);
  return {array.data(), array.data() + array.shape(1)};
}

}  // namespace

void bind_twofold(nb::module_& m) {
  m.def(
      "twofold_expansion",
      [](nb::object formula, In<Index> chosen, In<double> c, Halves out) {
        std::vector<nb::object> kept;
        const proof::Formula kernel = formula_of(formula, kept, count(out.shape(1)), count(chosen.shape(0)));
        expect_entries(count(chosen.shape(0)), "entries, one for each chosen sample", c);
        nb::gil_scoped_release unlock;
        proof::twofold_expansion(kernel, view(chosen), view(c), count(out.shape(1)), halves(out, count(out.shape(1))));
      },
      nb::arg("formula"), nb::arg("chosen"), nb::arg("c"), nb::arg("out").noconvert(), "out[:, i] = Σ c k(xᵢ, x) over the chosen samples.");
  m.def(
      "twofold_weights",
      [](nb::handle rows, In<double> beta, Halves w, InOut<double> sizes) {
        const Rows x = rows_of(rows, count(w.shape(1)));
        expect(rows_in(x), count(beta.shape(0)), "rows of X");
        expect_entries(count(w.shape(1)), "entries, one for each column of X", sizes);
        nb::gil_scoped_release unlock;
        proof::twofold_weights(x, view(beta), halves(w, count(w.shape(1))), view(sizes));
      },
      nb::arg("rows"), nb::arg("beta"), nb::arg("w").noconvert(), nb::arg("sizes").noconvert(), "w = Σ βᵢxᵢ, and Σ |βᵢxᵢ|.");
  m.def(
      "twofold_products",
      [](nb::handle rows, In<double> w, Halves out, InOut<double> sizes) {
        const Rows x = rows_of(rows, count(w.shape(0)));
        expect_entries(rows_in(x), of_samples, sizes);
        nb::gil_scoped_release unlock;
        proof::twofold_products(x, view(w), halves(out, rows_in(x)), view(sizes));
      },
      nb::arg("rows"), nb::arg("w"), nb::arg("out").noconvert(), nb::arg("sizes").noconvert(), "out = Xw, and |X| |w|.");
  m.def(
      "twofold_dot",
      [](Halves a, Halves b) -> Pair {
        const Index n = count(a.shape(1));
        const proof::TwoVector left = halves(a, n), right = halves(b, n);
        proof::Two sum;
        for (Index i = 0; i < n; ++i) sum = sum + left.at(i) * right.at(i);
        return {sum.hi, sum.lo};
      },
      nb::arg("a").noconvert(), nb::arg("b").noconvert(), "⟨a, b⟩ of two vectors, each as two rows.");
  m.def(
      "twofold_dual",
      [](nb::handle dual, In<Index> groups, In<double> totals, bool free, In<double> beta, Halves f, In<double> error, Pair square,
         double square_error, double shift, double largest) -> Pair {
        const DualTerms terms = dual_of(dual);
        const Index n = samples_of(dual);
        expect_entries(n, of_samples, groups, beta, error);
        nb::gil_scoped_release unlock;
        const auto [plain, proven] =
            proof::twofold_dual(terms, view(groups), view(totals), free, view(beta), halves(f, n), view(error),
                                {std::get<0>(square), std::get<1>(square)}, square_error, shift, largest);
        return {plain, proven};
      },
      nb::arg("dual"), nb::arg("groups"), nb::arg("totals"), nb::arg("free"), nb::arg("beta"), nb::arg("f").noconvert(), nb::arg("error"),
      nb::arg("square"), nb::arg("square_error"), nb::arg("shift"), nb::arg("largest"), "(D(β), a number that it is not below).");
  m.def(
      "twofold_offsets",
      [](nb::handle dual, In<Index> groups, In<double> totals, Halves f, InOut<double> offsets) {
        const DualTerms terms = dual_of(dual);
        const Index n = samples_of(dual);
        expect_entries(n, of_samples, groups);
        expect_entries(count(totals.shape(0)), "entries, one for each group", offsets);
        std::vector<proof::Interval> intervals;
        for (const double offset : view(offsets)) intervals.push_back({offset, offset});
        {
          nb::gil_scoped_release unlock;
          proof::twofold_offsets(terms, view(groups), view(totals), halves(f, n), view(offsets), intervals);
        }
        std::vector<Pair> found;
        for (const auto& [low, high] : intervals) found.emplace_back(low, high);
        return found;
      },
      nb::arg("dual"), nb::arg("groups"), nb::arg("totals"), nb::arg("f").noconvert(), nb::arg("offsets").noconvert(),
      "Replace good offsets by the best ones; returns their intervals.");
  m.def(
      "twofold_primal",
      [](nb::handle dual, In<Index> groups, In<double> totals, In<double> offsets, Halves f, In<double> error, Pair square,
         double square_error, double shift) -> Pair {
        const DualTerms terms = dual_of(dual);
        const Index n = samples_of(dual);
        expect_entries(n, of_samples, groups, error);
        expect_entries(count(totals.shape(0)), "entries, one for each group", offsets);
        nb::gil_scoped_release unlock;
        const auto [plain, proven] = proof::twofold_primal(terms, view(groups), view(totals), view(offsets), halves(f, n), view(error),
                                                           {std::get<0>(square), std::get<1>(square)}, square_error, shift);
        return {plain, proven};
      },
      nb::arg("dual"), nb::arg("groups"), nb::arg("totals"), nb::arg("offsets"), nb::arg("f").noconvert(), nb::arg("error"),
      nb::arg("square"), nb::arg("square_error"), nb::arg("shift"), "(P, a number that it is not above).");
  m.def(
      "twofold_margin",
      [](In<double> y, In<double> cost, bool free, double b, Halves f, In<double> error) -> Pair {
        const Index n = count(y.shape(0));
        expect_entries(n, of_samples, cost, error);
        const auto [offset, margin] = proof::twofold_margin(view(y), view(cost), free, b, halves(f, n), view(error));
        return {offset, margin};
      },
      nb::arg("y"), nb::arg("cost"), nb::arg("free"), nb::arg("b"), nb::arg("f").noconvert(), nb::arg("error"),
      "(b, a number that the smallest margin is not below); a free b is the one in the middle.");
  m.def(
      "twofold_room",
      [](nb::handle dual, In<double> cost, double b, Halves f, In<double> error) {
        const Index n = samples_of(dual);
        expect_entries(n, of_samples, cost, error);
        return proof::twofold_room(box_of(dual), view(cost), b, halves(f, n), view(error));
      },
      nb::arg("dual"), nb::arg("cost"), nb::arg("b"), nb::arg("f").noconvert(), nb::arg("error"),
      "By how much every sample is at least inside its tube; negative where one is outside.");
}

}  // namespace gapless::bind
