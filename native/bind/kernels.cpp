// Bindings of native/kernels. gapless.kernels.panel makes the specification of an expression and checks it; nothing is checked here.
#include "bind/kernels.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"

namespace gapless::bind {
namespace {

constexpr std::array<std::pair<const char*, Expression::Kind>, 12> kinds = {{
    {"linear", Expression::Kind::linear},
    {"polynomial", Expression::Kind::polynomial},
    {"sigmoid", Expression::Kind::sigmoid},
    {"rbf", Expression::Kind::rbf},
    {"laplacian", Expression::Kind::laplacian},
    {"constant", Expression::Kind::constant},
    {"scaled", Expression::Kind::scaled},
    {"power", Expression::Kind::power},
    {"sum", Expression::Kind::sum},
    {"product", Expression::Kind::product},
    {"table", Expression::Kind::table},
    {"block", Expression::Kind::block},
}};

nb::object places_of(Places places) {
  return nb::cast(nb::ndarray<nb::numpy, const Index, nb::ndim<1>>(places.data(), {places.size()}));
}

// A kernel in Python: call(Z, right places, X, left places) returns the entries of those rows of Z (rows) with those rows of X (columns).
class PythonBlock final : public Block {
 public:
  explicit PythonBlock(nb::object call) : call_(std::move(call)) {}

  void fill(const void* left_matrix, Places left, const void* right_matrix, Places right, Matrix<double> out) const override {
    nb::gil_scoped_acquire lock;
    const auto matrix = [](const void* known) { return nb::handle(static_cast<PyObject*>(const_cast<void*>(known))); };
    const nb::object result = call_(matrix(right_matrix), places_of(right), matrix(left_matrix), places_of(left));
    const auto entries = nb::cast<In2<double>>(result);
    if (count(entries.shape(0)) != length(right) || count(entries.shape(1)) != length(left))
      throw std::invalid_argument("a kernel's block must have a row for each row of X and a column for each row of Z.");
    const double* from = entries.data();
    for (Index i = 0; i < out.rows; ++i)
      for (Index j = 0; j < out.columns; ++j) out(i, j) = from[j * out.rows + i];
  }

 private:
  nb::object call_;
};

// The expression of a specification (kind, gamma or factor, coef0, degree, parts, gram or block). `kept` receives the objects whose memory it reads.
Expression expression_of(nb::handle spec, std::vector<nb::object>& kept) {
  const auto parts = nb::cast<nb::tuple>(spec);
  const std::string name = nb::cast<std::string>(parts[0]);
  Expression found;
  bool known = false;
  for (const auto& [text, kind] : kinds)
    if (name == text) {
      found.kind = kind;
      known = true;
    }
  if (!known) throw std::invalid_argument("no such kernel: " + name);
  found.gamma = nb::cast<double>(parts[1]);
  found.coef0 = nb::cast<double>(parts[2]);
  found.degree = nb::cast<int>(parts[3]);
  for (nb::handle part : nb::cast<nb::tuple>(parts[4])) found.parts.push_back(expression_of(part, kept));
  const nb::object given = nb::borrow<nb::object>(parts[5]);
  if (found.kind == Expression::Kind::table) {
    const auto gram = nb::cast<nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>>(given);
    expect(count(gram.shape(1)), count(gram.shape(0)), "columns of the Gram matrix");
    found.table = {gram.data(), gram.dtype() == nb::dtype<float>(), count(gram.shape(0)), gram.stride(0), gram.stride(1)};
    kept.push_back(given);
  } else if (!given.is_none()) {
    found.block = std::make_shared<PythonBlock>(given);
  }
  return found;
}

Samples samples_of(nb::handle matrix, nb::handle rows, Index d, const In<Index>* places) {
  Samples found{rows_of(rows, d), {}, matrix.ptr()};
  const Index n = std::visit([](const auto& x) { return x.size(); }, found.rows);
  found.chosen = places == nullptr ? Chosen{nullptr, 0, n} : Chosen{places->data(), 0, count(places->shape(0))};
  return found;
}

template <class T>
Matrix<T> matrix_of(const InOut2<T>& array) {
  if (array.shape(0) > 0 && array.shape(1) > 1 && array.stride(1) != 1)
    throw std::invalid_argument("rows of the result must be contiguous.");
  return {array.data(), count(array.shape(0)), count(array.shape(1)), array.stride(0)};
}

Matrix<const double> matrix_of(const In2<double>& array) {
  return {array.data(), count(array.shape(0)), count(array.shape(1)), count(array.shape(1))};
}

template <class T>
void bind_written(nb::class_<PanelsObject>& type) {
  type.def(
      "extend",
      [](PanelsObject& self, In<Index> chosen, Index known, double shift, InOut2<T> out) {
        nb::gil_scoped_release unlock;
        self.panels->extend(view(chosen), known, shift, matrix_of(out));
      },
      nb::arg("chosen"), nb::arg("known"), nb::arg("shift"), nb::arg("out").noconvert());
  type.def(
      "rows",
      [](PanelsObject& self, In<Index> chosen, Index begin, Index end, InOut2<T> out) {
        nb::gil_scoped_release unlock;
        self.panels->rows(view(chosen), begin, end, matrix_of(out));
      },
      nb::arg("chosen"), nb::arg("begin"), nb::arg("end"), nb::arg("out").noconvert());
  type.def(
      "cross",
      [](PanelsObject& self, nb::object Z, nb::object rows, InOut2<T> out) {
        const Samples samples = samples_of(Z, rows, self.columns, nullptr);
        nb::gil_scoped_release unlock;
        self.panels->cross(samples, matrix_of(out));
      },
      nb::arg("Z"), nb::arg("rows"), nb::arg("out").noconvert());
}

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::class_<PanelsObject> type(m, "Panels", "A kernel of given samples, by tiles; gapless.kernels.Panels is its public face.");
  type.def(
      "__init__",
      [](PanelsObject* self, nb::object spec, nb::object X, nb::object rows, Index d, nb::object chosen, bool single) {
        std::vector<nb::object> kept{X, rows, chosen};
        const Expression kernel = expression_of(spec, kept);
        In<Index> places;
        if (!chosen.is_none()) places = nb::cast<In<Index>>(chosen);
        const Samples samples = samples_of(X, rows, d, chosen.is_none() ? nullptr : &places);
        std::unique_ptr<Panels> panels;
        {
          nb::gil_scoped_release unlock;
          panels = make_panels(kernel, samples, single);
        }
        new (self) PanelsObject{std::move(kept), std::move(panels), d};
      },
      nb::arg("spec"), nb::arg("X"), nb::arg("rows"), nb::arg("d"), nb::arg("chosen").none(), nb::arg("single"));
  type.def_prop_ro("n", [](const PanelsObject& self) { return self.panels->size(); });
  type.def_prop_ro("is_single", [](const PanelsObject& self) { return self.panels->is_single(); });
  type.def_prop_ro("is_costly", [](const PanelsObject& self) { return self.panels->is_costly(); });
  type.def_prop_ro("has_bounds", [](const PanelsObject& self) { return self.panels->has_bounds(); });
  type.def_prop_ro("entries", [](const PanelsObject& self) { return self.panels->entries(); });
  type.def(
      "expand",
      [](PanelsObject& self, In<Index> left, In<double> c, Index begin, Index end, InOut<double> out) {
        nb::gil_scoped_release unlock;
        self.panels->expand(view(left), view(c), begin, end, out.data());
      },
      nb::arg("left"), nb::arg("coefficients"), nb::arg("begin"), nb::arg("end"), nb::arg("out").noconvert());
  type.def(
      "expand_all",
      [](PanelsObject& self, In<double> beta, InOut<double> out) {
        nb::gil_scoped_release unlock;
        std::vector<Index> left;
        std::vector<double> c;
        for (Index i = 0; i < self.panels->size(); ++i)
          if (const double each = beta.data()[i]; each != 0.0) {
            left.push_back(i);
            c.push_back(each);
          }
        if (!left.empty()) self.panels->expand(left, c, 0, self.panels->size(), out.data());
      },
      nb::arg("beta"), nb::arg("out").noconvert());
  type.def(
      "expand_to",
      [](PanelsObject& self, In<Index> left, In<double> c, In<Index> to, InOut<double> out) {
        nb::gil_scoped_release unlock;
        self.panels->expand(view(left), view(c), view(to), out.data());
      },
      nb::arg("left"), nb::arg("coefficients"), nb::arg("to"), nb::arg("out").noconvert());
  type.def(
      "own",
      [](PanelsObject& self, In<double> c, InOut<double> out) {
        nb::gil_scoped_release unlock;
        self.panels->own(view(c), out.data());
      },
      nb::arg("coefficients"), nb::arg("out").noconvert());
  type.def(
      "apply",
      [](PanelsObject& self, nb::object Z, nb::object rows, In2<double> c, InOut2<double> out) {
        const Samples samples = samples_of(Z, rows, self.columns, nullptr);
        nb::gil_scoped_release unlock;
        self.panels->apply(samples, matrix_of(c), matrix_of(out));
      },
      nb::arg("Z"), nb::arg("rows"), nb::arg("coefficients"), nb::arg("out").noconvert());
  type.def(
      "apply_bounded",
      [](PanelsObject& self, nb::object Z, nb::object rows, nb::object chosen, In2<double> c, InOut2<double> out,
         InOut2<double> bounds) {
        In<Index> places;
        if (!chosen.is_none()) places = nb::cast<In<Index>>(chosen);
        const Samples samples = samples_of(Z, rows, self.columns, chosen.is_none() ? nullptr : &places);
        nb::gil_scoped_release unlock;
        self.panels->apply_bounded(samples, matrix_of(c), matrix_of(out), matrix_of(bounds));
      },
      nb::arg("Z"), nb::arg("rows"), nb::arg("chosen").none(), nb::arg("coefficients"),
      nb::arg("out").noconvert(), nb::arg("bounds").noconvert());
  bind_written<float>(type);
  bind_written<double>(type);
}

}  // namespace gapless::bind
