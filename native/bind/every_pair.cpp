// Bindings of native/smo/every_pair.hpp.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <nanobind/stl/optional.h>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "bind/kernels.hpp"
#include "smo/every_pair.hpp"

namespace gapless::bind {
namespace {

// The pairs of classes, the arrays that they are read from, and what was found.
struct EveryPair {
  std::optional<In2<double>> K;
  nb::object kept;  // the object of the panels
  Panels* panels;
  In<double> g, r;
  In<Index> places, starts, firsts;
  In<double> cost;
  std::optional<In<double>> halves;
  smo::ClassPairs pairs = {.K = square(),
                           .panels = panels,
                           .g = view(g),
                           .r = view(r),
                           .places = view(places),
                           .starts = view(starts),
                           .firsts = view(firsts),
                           .cost = view(cost),
                           .halves = halves ? view(*halves) : Vector()};
  smo::PairSolutions found{pairs};

  Matrix<const double> square() const {
    if (!K) return {};
    return {K->data(), count(K->shape(0)), count(K->shape(1)), count(K->shape(1))};
  }
};

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array(std::vector<T>& values, nb::handle owner) {
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(values.data(), {values.size()}, owner);
}

}  // namespace

void bind_every_pair(nb::module_& m) {
  nb::class_<EveryPair> every(m, "EveryPair", "One-vs-one on a Gram matrix or on panels: each pair of classes solved and proven; native/smo/every_pair.hpp.");
  every
      .def(
          "__init__",
          [](EveryPair* self, In2<double> K, In<double> g, In<double> r, In<Index> places, In<Index> starts, In<Index> firsts, In<double> cost,
             std::optional<In<double>> halves) {
            new (self) EveryPair{K, nb::object(), nullptr, g, r, places, starts, firsts, cost, halves};
          },
          nb::arg("K"), nb::arg("g"), nb::arg("r"), nb::arg("places"), nb::arg("starts"), nb::arg("firsts"), nb::arg("cost"),
          nb::arg("halves") = nb::none())
      .def(
          "__init__",
          [](EveryPair* self, nb::object panels, In<double> g, In<double> r, In<Index> places, In<Index> starts, In<Index> firsts,
             In<double> cost, std::optional<In<double>> halves) {
            Panels* const of = nb::cast<PanelsObject&>(panels).panels.get();
            if (of->is_single()) throw std::invalid_argument("panels must have entries in float64.");
            new (self) EveryPair{std::nullopt, std::move(panels), of, g, r, places, starts, firsts, cost, halves};
          },
          nb::arg("panels"), nb::arg("g"), nb::arg("r"), nb::arg("places"), nb::arg("starts"), nb::arg("firsts"), nb::arg("cost"),
          nb::arg("halves") = nb::none())
      .def(
          "begin_at",
          [](EveryPair& self, In<double> beta, In<double> f) {
            if (beta.size() != self.found.beta.size() || f.size() != beta.size())
              throw std::invalid_argument("beta and f must have an entry for each sample of each pair.");
            std::copy_n(beta.data(), beta.size(), self.found.beta.begin());
            std::copy_n(f.data(), f.size(), self.found.f.begin());
          },
          nb::arg("beta"), nb::arg("f"),
          "Where the pairs begin, of the hinge loss: at the feasible point that is nearest to beta, whose sums are f, NaN where they are not known.")
      .def(
          "run",
          [](EveryPair& self, double gap, double kkt, double ahead, double stricter, double turns, double most, double seconds,
             double cache_bytes) {
            smo::solve_every_pair(self.pairs, {gap, kkt, ahead, stricter, turns, most, seconds, cache_bytes}, self.found);
          },
          nb::kw_only(), nb::arg("gap"), nb::arg("kkt"), nb::arg("ahead"), nb::arg("stricter"), nb::arg("turns"), nb::arg("most"),
          nb::arg("seconds"), nb::arg("cache_bytes"), nb::call_guard<nb::gil_scoped_release>(),
          "Solve and prove each pair; after an interruption the pairs that were done are known.");
  const auto show = [&]<class T>(const char* name, std::vector<T> smo::PairSolutions::* field, const char* words) {
    every.def_prop_ro(
        name, [field](nb::handle self) { return array(nb::cast<EveryPair&>(self).found.*field, self); }, words);
  };
  using Found = smo::PairSolutions;
  show("done", &Found::done, "1 for a pair whose proof keeps the bounds, 2 where its optimum is proven to be zero, 0 where it is left to do.");
  show("beta", &Found::beta, "The coefficients of the proven models, pair after pair.");
  show("f", &Found::f, "Their sums Kβ; NaN of pairs that are left to do.");
  show("low", &Found::low, "Where the intervals of the best offsets begin.");
  show("high", &Found::high, "Where they end.");
  show("steps", &Found::steps, "The steps of the engine.");
  show("checked", &Found::checked, "The seconds up to the end of the proof.");
  show("seconds", &Found::seconds, "The seconds that the pair took.");
  show("primal", &Found::primal, "A number that the optimum is not above.");
  show("dual", &Found::dual, "A number that the optimum is not below.");
  show("rounding", &Found::rounding, "The part of primal − dual that was added for rounding.");
  show("violation", &Found::violation, "The largest KKT violation.");
  show("outside", &Found::outside, "How far the engine's β was from its box.");
  show("off", &Found::off, "How far its sums were from their totals.");
  show("plain_primal", &Found::plain_primal, "P at the engine's own point, as computed.");
  show("plain_dual", &Found::plain_dual, "D at the engine's own point, as computed.");
  show("own", &Found::own, "1 where w is that of the dual point, 0 where it was stretched.");
}

}  // namespace gapless::bind
