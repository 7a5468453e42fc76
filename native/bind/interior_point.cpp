// Python's face of native/interior_point.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "interior_point/barrier.hpp"
#include "interior_point/kinks.hpp"

namespace gapless::bind {
namespace {

// The method and the matrix that it reads; the box is read at the beginning alone.
struct BarrierHeld {
  nb::object A;
  Barrier of;
};

template <class... Arrays>
void match(nb::handle box, const Arrays&... arrays) {
  expect_entries(samples_of(box), of_samples, arrays...);
}

}  // namespace

void bind_interior_point(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<BarrierHeld>(m, "Barrier", "Mehrotra's predictor–corrector method for a sum of hinges, on a matrix of few columns.")
      .def(
          "__init__",
          [](BarrierHeld* self, nb::object A, nb::object box, std::optional<In<double>> factor, In<double> rho, In<double> g,
             double constant, In<double> w, double width) {
            const auto matrix = nb::cast<In2<double>>(A, false);
            const DualBox terms = box_of(box);
            match(box, matrix);
            if (factor) match(box, *factor);
            expect_entries(count(matrix.shape(1)), "entries, one for each column of A", rho, g, w);
            const DenseRows<double> rows{matrix.data(), count(matrix.shape(0)), count(matrix.shape(1))};
            nb::gil_scoped_release free;
            Barrier made(rows, terms, factor ? view(*factor) : Vector{}, view(rho), view(g), constant, view(w), width);
            nb::gil_scoped_acquire held;
            new (self) BarrierHeld{A, std::move(made)};
          },
          nb::arg("A"), nb::arg("box"), nb::arg("factor").none(), nb::arg("rho"), nb::arg("g"), nb::arg("constant"), nb::arg("w"),
          nb::arg("width"))
      .def("iterate", [](BarrierHeld& self) { self.of.iterate(); }, Free(), "One predictor and one corrector step.")
      .def("beta", [](BarrierHeld& self) { return array_of(self.of.beta()); }, "Σ σα over a sample's halves.")
      .def_ro("A", &BarrierHeld::A)
      .def_prop_ro("gap", [](BarrierHeld& self) { return self.of.gap(); })
      .def_prop_ro("value", [](BarrierHeld& self) { return self.of.value(); })
      .def_prop_ro("constant", [](BarrierHeld& self) { return self.of.constant(); })
      .def_prop_ro("mu", [](BarrierHeld& self) { return self.of.mu(); })
      .def_prop_ro("stuck", [](BarrierHeld& self) { return self.of.stuck(); })
      .def_prop_ro("g", [](nb::handle_t<BarrierHeld> self) { return seen(nb::cast<BarrierHeld&>(self).of.g(), self); })
      .def_prop_ro("w", [](nb::handle_t<BarrierHeld> self) { return seen(nb::cast<BarrierHeld&>(self).of.w(), self); })
      .def_prop_ro("f", [](nb::handle_t<BarrierHeld> self) { return seen(nb::cast<BarrierHeld&>(self).of.f(), self); })
      .def_prop_ro("alpha", [](nb::handle_t<BarrierHeld> self) { return seen(nb::cast<BarrierHeld&>(self).of.alpha(), self); })
      .def_prop_ro("surplus", [](nb::handle_t<BarrierHeld> self) { return seen(nb::cast<BarrierHeld&>(self).of.surplus(), self); })
      .def_prop_ro("slack", [](nb::handle_t<BarrierHeld> self) { return seen(nb::cast<BarrierHeld&>(self).of.slack(), self); });

  m.def(
      "fenchel_gap",
      [](nb::object box, In<double> f, In<double> beta) {
        match(box, f, beta);
        const DualBox terms = box_of(box);
        nb::gil_scoped_release free;
        return fenchel_gap(terms, view(f), view(beta));
      },
      nb::arg("box"), nb::arg("f"), nb::arg("beta"), "Σ φ(f) − β(p − f) + ε|β| + ½dβ²: P − D where w is β's own.");
  m.def(
      "kink_pieces",
      [](nb::object box, In<double> f, In<double> beta, In<double> gamma, InOut<std::int8_t> piece) {
        match(box, f, beta, gamma, piece);
        const DualBox terms = box_of(box);
        nb::gil_scoped_release free;
        kink_pieces(terms, view(f), view(beta), view(gamma), view(piece));
      },
      nb::arg("box"), nb::arg("f"), nb::arg("beta"), nb::arg("gamma"), nb::arg("piece"),
      "2: at upper; 1: at the kink p − ε; 0: β = 0; −1: at the kink p + ε; −2: at lower. Writes piece.");
  m.def(
      "loss_slope",
      [](nb::object box, In<double> f, In<double> df, double t) {
        match(box, f, df);
        const DualBox terms = box_of(box);
        nb::gil_scoped_release free;
        return loss_slope(terms, view(f), view(df), t);
      },
      nb::arg("box"), nb::arg("f"), nb::arg("df"), nb::arg("t"), "The derivative of Σ φ(f + t df) by t.");
  m.def(
      "wrong_side",
      [](nb::object box, In<double> f, In<double> beta, InOut<bool> wrong) {
        match(box, f, beta, wrong);
        const DualBox terms = box_of(box);
        nb::gil_scoped_release free;
        wrong_side(terms, view(f), view(beta), view(wrong));
      },
      nb::arg("box"), nb::arg("f"), nb::arg("beta"), nb::arg("wrong"), "Whose β does not maximise β(p − f) − ε|β|; writes wrong.");
  m.def(
      "survey_kinks",
      [](nb::object box, In<double> f, InOut<double> beta, InOut<double> distance) {
        match(box, f, beta, distance);
        const DualBox terms = box_of(box);
        nb::gil_scoped_release free;
        survey(terms, view(f), view(beta), view(distance));
      },
      nb::arg("box"), nb::arg("f"), nb::arg("beta"), nb::arg("distance"),
      "How far each decision is from a kink; writes distance, and β, the bound or zero on whose side it lies.");
}

}  // namespace gapless::bind
