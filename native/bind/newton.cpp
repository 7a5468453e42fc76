// Bindings of native/newton.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "newton/factored.hpp"
#include "newton/gram.hpp"
#include "newton/piecewise.hpp"
#include "newton/sampling.hpp"

namespace gapless::bind {
namespace {

// The objective and the arrays that it reads.
struct PiecewiseHeld {
  nb::object rows, box;
  Piecewise of;
};

Vector optional(const std::optional<In<double>>& array) { return array ? view(*array) : Vector{}; }

constexpr const char* of_columns = "entries, one for each column of the model";

// The direction of a step, of the model's length.
Vector direction(const PiecewiseHeld& held, const In<double>& dw) {
  expect_entries(held.of.columns(), of_columns, dw);
  return view(dw);
}

// A new array with a number for each column of the model, filled by fill(out) without the interpreter's lock.
template <class Fill>
Array<double> made(PiecewiseHeld& held, const Fill& fill) {
  std::vector<double> out(static_cast<std::size_t>(held.of.columns()));
  {
    nb::gil_scoped_release free;
    fill(Out(out));
  }
  return array_of(out);
}

void gram(nb::object rows, Index d, std::optional<In<Index>> chosen, In<double> weight, bool ones, bool single, bool sparse,
          InOut2<double> out) {
  const Rows views = rows_of(rows, d);
  if (chosen) {
    expect_entries(count(weight.shape(0)), "entries, one for each weight", *chosen);
    expect_places(view(*chosen), rows_in(views));
  } else {
    expect_entries(rows_in(views), of_samples, weight);
  }
  expect_matrix(out, d + ones, d + ones);
  const GramTask task{chosen ? chosen->data() : nullptr, weight.data(), count(weight.shape(0)), ones, single, sparse};
  double* const to = out.data();
  nb::gil_scoped_release free;
  weighted_gram(views, task, to);
}

}  // namespace

void bind_newton(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<PiecewiseHeld>(m, "Piecewise", "A linear problem's objective, quadratic between kinks, at a model that Newton steps move.")
      .def(
          "__init__",
          [](PiecewiseHeld* self, nb::object rows, Index d, bool ones, bool sparse, nb::object box, In<double> rho, In<double> w, double width,
             std::optional<In<double>> centre) {
            const Rows views = rows_of(rows, d);
            const DualBox terms = box_of(box);
            expect(rows_in(views), terms.n, "rows of X, one for each sample");
            expect_entries(d + ones, of_columns, rho, w);
            if (centre) expect_entries(terms.n, of_samples, *centre);
            nb::gil_scoped_release free;
            Piecewise made(views, d, ones, sparse, terms, view(rho), view(w), width, optional(centre));
            nb::gil_scoped_acquire held;
            new (self) PiecewiseHeld{rows, box, std::move(made)};
          },
          nb::arg("rows"), nb::arg("d"), nb::arg("ones"), nb::arg("sparse"), nb::arg("box"), nb::arg("rho"), nb::arg("w"), nb::arg("width"),
          nb::arg("centre").none())
      .def(
          "round",
          [](PiecewiseHeld& self, double width, std::optional<In<double>> centre) {
            if (centre) expect_entries(self.of.samples(), of_samples, *centre);
            self.of.round(width, optional(centre));
          },
          nb::arg("width"), nb::arg("centre").none(), Free(), "Round the loss off by a width around a centre, or not at all for zero.")
      .def(
          "newton",
          [](PiecewiseHeld& self, bool single) { return made(self, [&](Out dw) { self.of.newton(single, dw); }); },
          nb::arg("single") = false, "Newton's direction, by a factorisation; single: sums of float32 rows may be float32.")
      .def(
          "descend",
          [](PiecewiseHeld& self, bool single) {
            nb::gil_scoped_release free;
            return self.of.descend(single);
          },
          nb::arg("single") = false, "Move along Newton's direction; tells −⟨∇, dw⟩ and how far, which is zero where the objective does not fall.")
      .def(
          "conjugate",
          [](PiecewiseHeld& self) {
            double rows = 0.0;
            const Array<double> dw = made(self, [&](Out to) { rows = self.of.conjugate(to); });
            return std::make_tuple(dw, rows);
          },
          "Newton's direction, by conjugate gradients, and how many rows were multiplied for it.")
      .def(
          "step", [](PiecewiseHeld& self, In<double> dw) { return self.of.step(direction(self, dw)); }, nb::arg("dw"), Free(),
          "Move along dw to almost the least value; tells how far.")
      .def(
          "falls", [](PiecewiseHeld& self, In<double> dw) { return self.of.falls(direction(self, dw)); }, nb::arg("dw"), "−⟨∇, dw⟩.")
      .def(
          "hessian",
          [](PiecewiseHeld& self, bool single) {
            const std::vector<double>* found = nullptr;
            {
              nb::gil_scoped_release free;
              found = &self.of.hessian(single);
            }
            return array_of(*found);
          },
          nb::arg("single") = false, "Σ aaᵀ/d over the samples inside a quadratic piece, row after row.")
      .def_prop_ro("w", [](nb::handle_t<PiecewiseHeld> self) { return seen(nb::cast<PiecewiseHeld&>(self).of.w(), self); })
      .def_prop_ro("f", [](nb::handle_t<PiecewiseHeld> self) { return seen(nb::cast<PiecewiseHeld&>(self).of.f(), self); })
      .def_prop_ro("beta", [](nb::handle_t<PiecewiseHeld> self) { return seen(nb::cast<PiecewiseHeld&>(self).of.beta(), self); })
      .def_prop_ro("slope", [](nb::handle_t<PiecewiseHeld> self) { return seen(nb::cast<PiecewiseHeld&>(self).of.slope(), self); })
      .def_prop_ro("inside_count", [](PiecewiseHeld& self) { return self.of.inside_count(); })
      .def_prop_ro("value", [](PiecewiseHeld& self) { return self.of.value(); })
      .def_prop_ro("lacking", [](PiecewiseHeld& self) { return self.of.lacking(); })
      .def_prop_ro("moved", [](PiecewiseHeld& self) { return self.of.moved(); })
      .def_prop_ro("residual", [](PiecewiseHeld& self) { return self.of.residual(); })
      .def_prop_ro("free_slope", [](PiecewiseHeld& self) { return self.of.free_slope(); });

  nb::class_<Factored>(m, "Factored", "(H + diag ρ) x = r, factored; a singular H gets the least ridge that helps.")
      .def(
          "__init__",
          [](Factored* self, In2<double> H, In<double> rho) {
            for (const std::size_t side : {H.shape(0), H.shape(1)}) expect_entries(count(side), "entries, one for each row and column of H", rho);
            new (self) Factored(H.data(), view(rho));
          },
          nb::arg("H"), nb::arg("rho"), Free())
      .def(
          "solve",
          [](Factored& self, In<double> r) {
            expect_entries(self.size(), "entries, one for each row of H", r);
            std::vector<double> x(r.shape(0));
            self.solve(view(r), x);
            return array_of(x);
          },
          nb::arg("r"));

  m.def("weighted_gram", gram, nb::arg("rows"), nb::arg("d"), nb::arg("chosen").none(), nb::arg("weight"), nb::arg("ones"),
        nb::arg("single"), nb::arg("sparse"), nb::arg("out"), "Σ weight · aaᵀ over the chosen rows, a = x or (x, 1); writes out.");
  m.def(
      "any_bounded",
      [](In<double> lower, In<double> upper, In<double> cost) {
        expect_entries(count(cost.shape(0)), of_samples, lower, upper);
        for (std::size_t i = 0; i < cost.shape(0); ++i)
          if (cost.data()[i] > 0.0 && std::max(upper.data()[i], -lower.data()[i]) < infinity) return true;
        return false;
      },
      nb::arg("lower"), nb::arg("upper"), nb::arg("cost"), Free(),
      "Whether some sample that counts has a β with a bound beside zero.");
  m.def(
      "gather_rows",
      [](nb::object rows, Index d, In<Index> chosen, InOut2<double> out) {
        const Rows views = rows_of(rows, d);
        expect_places(view(chosen), rows_in(views));
        expect_matrix(out, count(chosen.shape(0)), count(out.shape(1)) == d ? d : d + 1);
        nb::gil_scoped_release free;
        gather(views, view(chosen), count(out.shape(1)), out.data());
      },
      nb::arg("rows"), nb::arg("d"), nb::arg("chosen"), nb::arg("out"),
      "Some rows as a dense matrix, a one after each where it has a column for that; writes out.");
  m.def(
      "leverage",
      [](nb::object rows, Index d, Index step, InOut<double> out) {
        const Rows views = rows_of(rows, d);
        expect_entries(rows_in(views), of_samples, out);
        if (step < 1) throw std::invalid_argument("step must be at least 1; got " + std::to_string(step) + ".");
        nb::gil_scoped_release free;
        leverage(views, d, step, view(out));
      },
      nb::arg("rows"), nb::arg("d"), nb::arg("step"), nb::arg("out"),
      "Σⱼ xᵢⱼ²/Σₖ xₖⱼ² of each row, at most one, the sums over every so many rows; writes out.");
}

}  // namespace gapless::bind
