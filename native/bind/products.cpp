// Bindings of native/core: products with all rows, and which samples are equal.
#include "core/products.hpp"

#include <nanobind/stl/vector.h>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/distinct.hpp"

namespace gapless::bind {
namespace {

using Given = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;  // of one or two dimensions
using Written = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

Index columns_of(const Given& array) { return array.ndim() == 1 ? 1 : count(array.shape(1)); }

}  // namespace

void bind_products(nb::module_& m) {
  m.def(
      "matvec",
      [](nb::object rows, Index d, const Given& w, const Written& out) {
        const Rows all = rows_of(rows, d);
        nb::gil_scoped_release release;
        matvec(all, w.data(), columns_of(w), out.data());
      },
      nb::arg("rows"), nb::arg("d"), nb::arg("w"), nb::arg("out"), "Writes X w into out; w may have several columns.");
  m.def(
      "rmatvec",
      [](nb::object rows, Index d, const Given& beta, const Written& out) {
        const Rows all = rows_of(rows, d);
        nb::gil_scoped_release release;
        rmatvec(all, beta.data(), columns_of(beta), d, out.data());
      },
      nb::arg("rows"), nb::arg("d"), nb::arg("beta"), nb::arg("out"), "Writes Xᵀ β into out; β may have several columns.");
  m.def(
      "squared_norms",
      [](nb::object rows, Index n, Index step, const InOut<double>& out) {
        const Rows all = rows_of(rows, 0);
        nb::gil_scoped_release release;
        squared_norms(all, n, step, out.data());
      },
      nb::arg("rows"), nb::arg("n"), nb::arg("step"), nb::arg("out"), "Writes ‖x‖² of every so many of the first n rows.");
  m.def(
      "distinct_samples",
      [](nb::object rows, const In<double>& y, const In<Index>& groups, const InOut<Index>& which) {
        const Rows all = rows_of(rows, 0);
        std::vector<Index> first;
        {
          nb::gil_scoped_release release;
          first = distinct_samples(all, y.data(), groups.data(), count(y.shape(0)), which.data());
        }
        return array_of(std::span<const Index>(first));
      },
      nb::arg("rows"), nb::arg("y"), nb::arg("groups"), nb::arg("which"),
      "The first sample of each kind; writes for each sample its kind's place among them.");
}

}  // namespace gapless::bind
