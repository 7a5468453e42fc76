// Bindings of native/smo/shared_fits.hpp and native/kernels/distances.hpp.
#include <optional>
#include <span>
#include <variant>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "kernels/distances.hpp"
#include "smo/shared_fits.hpp"

namespace gapless::bind {
namespace {

// The table, the arrays that it is read from, and the fits.
struct SharedFits {
  std::variant<In2<float>, In2<double>> K;
  In<double> diagonal, g, r;
  In<Index> places, starts;
  In<double> p;
  bool margins;
  In2<double> weights;
  In<double> epsilon;
  std::optional<In<Index>> same;
  std::optional<InOut<float>> room;
  smo::SharedFits fits{smo::SharedTable{.K = square(),
                        .diagonal = view(diagonal),
                        .g = view(g),
                        .r = view(r),
                        .places = view(places),
                        .starts = view(starts),
                        .p = view(p),
                        .margins = margins,
                        .weights = {weights.data(), count(weights.shape(0)), count(weights.shape(1)), count(weights.shape(1))},
                        .epsilon = view(epsilon),
                        .same = same ? view(*same) : Places(),
                        .room = room ? view(*room) : std::span<float>()}};

  std::variant<Matrix<const float>, Matrix<const double>> square() const {
    return std::visit(
        []<class T>(const In2<T>& matrix) -> std::variant<Matrix<const float>, Matrix<const double>> {
          return Matrix<const T>{matrix.data(), count(matrix.shape(0)), count(matrix.shape(1)), count(matrix.shape(1))};
        },
        K);
  }
};

using Writable = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Matrix<double> rows_of(const Writable& array) {
  return {array.data(), count(array.shape(0)), count(array.shape(1)), count(array.shape(1))};
}

}  // namespace

void bind_shared_fits(nb::module_& m) {
  m.def(
      "squared_distances",
      [](In2<double> X, Writable out) {
        squared_distances({X.data(), count(X.shape(0)), count(X.shape(1)), count(X.shape(1))}, rows_of(out));
      },
      nb::arg("X"), nb::arg("out"), nb::call_guard<nb::gil_scoped_release>(), "Write all squared distances of the rows of X.");
  m.def(
      "gaussian",
      [](In2<double> distances, double gamma, Writable out) {
        gaussian({distances.data(), count(distances.shape(0)), count(distances.shape(1)), count(distances.shape(1))}, gamma, rows_of(out));
      },
      nb::arg("distances"), nb::arg("gamma"), nb::arg("out"), nb::call_guard<nb::gil_scoped_release>(),
      "Write exp(−γ d) for each of the squared distances d; out may be the distances.");
  nb::class_<SharedFits> shared(m, "SharedFits", "Many problems on one table of kernel entries; native/smo/shared_fits.hpp.");
  shared
      .def(
          "__init__",
          [](SharedFits* self, std::variant<In2<float>, In2<double>> K, In<double> diagonal, In<double> g, In<double> r, In<Index> places,
             In<Index> starts, In<double> p, bool margins, In2<double> weights, In<double> epsilon, std::optional<In<Index>> same,
             std::optional<InOut<float>> room) {
            new (self) SharedFits{K, diagonal, g, r, places, starts, p, margins, weights, epsilon, same, room};
          },
          nb::arg("K"), nb::arg("diagonal"), nb::arg("g"), nb::arg("r"), nb::arg("places"), nb::arg("starts"), nb::arg("p"), nb::arg("margins"),
          nb::arg("weights"), nb::arg("epsilon"), nb::arg("same") = nb::none(), nb::arg("room") = nb::none())
      .def_static(
          "room_for", [](In<Index> starts) { return smo::SharedFits::room(view(starts)); }, nb::arg("starts"),
          "The numbers in float32 of the memory `room` of families that begin there.")
      .def(
          "advance",
          [](SharedFits& self, In<double> C, In<double> gap, double kkt, double ahead, double stricter, double turns) {
            self.fits.advance(view(C), view(gap), {kkt, ahead, stricter, turns});
          },
          nb::arg("C"), nb::arg("gap"), nb::kw_only(), nb::arg("kkt"), nb::arg("ahead"), nb::arg("stricter"), nb::arg("turns"),
          nb::call_guard<nb::gil_scoped_release>(), "Solve and prove the problems of the members whose C is positive.")
      .def(
          "go_ahead",
          [](SharedFits& self, In2<double> C, In<double> gap, Index first, Index last, double kkt, double ahead, double stricter, double turns) {
            self.fits.go_ahead({C.data(), count(C.shape(0)), count(C.shape(1)), count(C.shape(1))}, view(gap), first, last, {kkt, ahead, stricter, turns});
          },
          nb::arg("C"), nb::arg("gap"), nb::arg("first"), nb::arg("last"), nb::kw_only(), nb::arg("kkt"), nb::arg("ahead"), nb::arg("stricter"), nb::arg("turns"),
          nb::call_guard<nb::gil_scoped_release>(), "Solve and prove the problems of the families from first to last, of one row of C after the other, and put them aside.")
      .def(
          "take_up", [](SharedFits& self, Index turn, In<double> C, In<double> gap) { self.fits.take_up(turn, view(C), view(gap)); },
          nb::arg("turn"), nb::arg("C"), nb::arg("gap"), nb::call_guard<nb::gil_scoped_release>(),
          "Take up what was put aside of a row of C.")
      .def(
          "tighten",
          [](SharedFits& self, In<double> gap, double kkt, double ahead, double stricter, double turns) {
            self.fits.tighten(view(gap), {kkt, ahead, stricter, turns});
          },
          nb::arg("gap"), nb::kw_only(), nb::arg("kkt"), nb::arg("ahead"), nb::arg("stricter"), nb::arg("turns"),
          nb::call_guard<nb::gil_scoped_release>(), "Go on with the problems whose gap is positive, until apart is that share of P.")
      .def(
          "beta", [](const SharedFits& self, Index member, InOut<double> out) { self.fits.beta(member, view(out)); }, nb::arg("member"),
          nb::arg("out"), "Write β of a member, family after family.")
      .def(
          "values",
          [](const SharedFits& self, Index member, In<Index> rows, In<Index> families, bool flip, Writable f, Writable low, Writable high,
             InOut<double> longest) {
            self.fits.values(member, view(rows), view(families), flip, {rows_of(f), rows_of(low), rows_of(high), view(longest)});
          },
          nb::arg("member"), nb::arg("rows"), nb::arg("families"), nb::arg("flip"), nb::arg("f"), nb::arg("low"), nb::arg("high"), nb::arg("longest"),
          nb::call_guard<nb::gil_scoped_release>(), "Write the decision values of a member at some rows, in the columns of some families.");
  using Found = smo::SharedSolutions;
  const auto show = [&]<class T>(const char* name, std::vector<T> Found::* field, const char* words) {
    shared.def_prop_ro(
        name,
        [field](nb::handle self) {
          std::vector<T>& values = nb::cast<SharedFits&>(self).fits.found.*field;
          return nb::ndarray<nb::numpy, T, nb::ndim<1>>(values.data(), {values.size()}, self);
        },
        words);
  };
  show("done", &Found::done, "1 for a problem whose proof keeps the bounds, 0 where it is left to do.");
  show("kept", &Found::kept, "1 where everything is as it was at the C before.");
  show("low", &Found::low, "Where the intervals of the best offsets begin.");
  show("high", &Found::high, "Where they end.");
  show("steps", &Found::steps, "The steps of the engine.");
  show("seconds", &Found::seconds, "The seconds that the problem took.");
  show("checked", &Found::checked, "The seconds up to the end of the proof.");
  show("primal", &Found::primal, "A number that the optimum is not above.");
  show("dual", &Found::dual, "A number that the optimum is not below.");
  show("rounding", &Found::rounding, "The part of primal − dual that was added for rounding.");
  show("apart", &Found::apart, "A bound on the squared distance of w from the optimum's.");
  show("apart_rounding", &Found::apart_rounding, "The part of it that was added for rounding.");
  show("violation", &Found::violation, "The largest KKT violation.");
  show("outside", &Found::outside, "How far the engine's β was from its box.");
  show("off", &Found::off, "How far its sums were from their totals.");
  show("plain_primal", &Found::plain_primal, "P at the engine's own point, as computed.");
  show("plain_dual", &Found::plain_dual, "D at the engine's own point, as computed.");
  show("own", &Found::own, "1 where w is that of the dual point, 0 where it was stretched.");
}

}  // namespace gapless::bind
