// Python's face of native/newton.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "newton/gram.hpp"
#include "newton/piecewise.hpp"
#include "newton/sampling.hpp"

namespace gapless::bind {
namespace {

// The objective and the arrays that it reads.
struct Held {
  nb::object rows, box;
  Piecewise of;
};

DualBox box_of(nb::handle dual) { return std::get<DualBox>(dual_of(dual)); }

Vector optional(const std::optional<In<double>>& array) { return array ? view(*array) : Vector{}; }

auto seen(std::vector<double>& values, nb::handle owner) {
  return nb::ndarray<nb::numpy, double, nb::ndim<1>>(values.data(), {values.size()}, owner);
}

void gram(nb::object rows, Index d, std::optional<In<Index>> chosen, In<double> weight, bool ones, bool single, bool sparse,
            InOut2<double> out) {
  const Rows views = rows_of(rows, d);
  const GramTask task{chosen ? chosen->data() : nullptr, weight.data(), count(weight.shape(0)), ones, single, sparse};
  double* const to = out.data();
  nb::gil_scoped_release free;
  weighted_gram(views, task, to);

}

}  // namespace

void bind_newton(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Held>(m, "Piecewise", "A linear problem's objective, quadratic between kinks, at a model that Newton steps move.")
      .def(
          "__init__",
          [](Held* self, nb::object rows, Index d, bool ones, bool sparse, nb::object box, In<double> w, double width,
             std::optional<In<double>> centre) {
            const Rows views = rows_of(rows, d);
            const DualBox terms = box_of(box);
            nb::gil_scoped_release free;
            Piecewise made(views, d, ones, sparse, terms, view(w), width, optional(centre));
            nb::gil_scoped_acquire held;
            new (self) Held{rows, box, std::move(made)};
          },
          nb::arg("rows"), nb::arg("d"), nb::arg("ones"), nb::arg("sparse"), nb::arg("box"), nb::arg("w"), nb::arg("width"),
          nb::arg("centre").none())
      .def(
          "round", [](Held& self, double width, std::optional<In<double>> centre) { self.of.round(width, optional(centre)); },
          nb::arg("width"), nb::arg("centre").none(), Free(), "Round the loss off by a width around a centre, or not at all for zero.")
      .def(
          "step", [](Held& self, In<double> dw, In<double> rho, double first) { return self.of.step(view(dw), view(rho), first); },
          nb::arg("dw"), nb::arg("rho"), nb::arg("first"), Free(), "Move along dw to almost the least value; tells how far.")
      .def(
          "hessian",
          [](Held& self, bool single) {
            const auto columns = static_cast<std::size_t>(self.of.columns());
            auto* data = new double[columns * columns];
            nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
            {
              nb::gil_scoped_release free;
              self.of.hessian(single, {data, columns * columns});
            }
            return nb::ndarray<nb::numpy, double, nb::ndim<2>>(data, {columns, columns}, owner);
          },
          nb::arg("single"), "Σ aaᵀ/d over the samples inside a quadratic piece.")
      .def(
          "conjugate",
          [](Held& self, In<double> rho, In<double> r, double scale, InOut<double> x) {
            return self.of.conjugate(view(rho), view(r), scale, view(x));
          },
          nb::arg("rho"), nb::arg("r"), nb::arg("scale"), nb::arg("x"), Free(),
          "Solve (diag ρ + Hessian) x = r by conjugate gradients; writes x, tells how many rows were multiplied.")
      .def_prop_ro("w", [](nb::handle_t<Held> self) { return seen(nb::cast<Held&>(self).of.w(), self); })
      .def_prop_ro("f", [](nb::handle_t<Held> self) { return seen(nb::cast<Held&>(self).of.f(), self); })
      .def_prop_ro("beta", [](nb::handle_t<Held> self) { return seen(nb::cast<Held&>(self).of.beta(), self); })
      .def_prop_ro("total", [](nb::handle_t<Held> self) { return seen(nb::cast<Held&>(self).of.total(), self); })
      .def_prop_ro("inside_count", [](Held& self) { return self.of.inside_count(); })
      .def_prop_ro("weight_sum", [](Held& self) { return self.of.weight_sum(); })
      .def_prop_ro("loss", [](Held& self) { return self.of.sums().loss; })
      .def_prop_ro("lacking", [](Held& self) { return self.of.sums().lacking; });

  m.def("weighted_gram", gram, nb::arg("rows"), nb::arg("d"), nb::arg("chosen").none(), nb::arg("weight"), nb::arg("ones"),
        nb::arg("single"), nb::arg("sparse"), nb::arg("out"), "Σ weight · aaᵀ over the chosen rows, a = x or (x, 1); writes out.");
  m.def(
      "gather_rows",
      [](nb::object rows, Index d, In<Index> chosen, InOut2<double> out) {
        const Rows views = rows_of(rows, d);
        nb::gil_scoped_release free;
        gather(views, view(chosen), count(out.shape(1)), out.data());
      },
      nb::arg("rows"), nb::arg("d"), nb::arg("chosen"), nb::arg("out"),
      "Some rows as a dense matrix, a one after each where it has a column for that; writes out.");
  m.def(
      "leverage",
      [](nb::object rows, Index d, Index step, InOut<double> out) {
        const Rows views = rows_of(rows, d);
        nb::gil_scoped_release free;
        leverage(views, d, step, view(out));
      },
      nb::arg("rows"), nb::arg("d"), nb::arg("step"), nb::arg("out"),
      "Σⱼ xᵢⱼ²/Σₖ xₖⱼ² of each row, at most one, the sums over every so many rows; writes out.");
}

}  // namespace gapless::bind
