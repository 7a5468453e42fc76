// Bindings of native/core: products with all rows, and which samples are equal.
#include "core/products.hpp"

#include <nanobind/stl/vector.h>

#include <stdexcept>

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
        expect(count(w.shape(0)), d, "rows of w");
        expect(count(out.shape(0)), rows_in(all), "rows of out");
        expect(count(out.size()), rows_in(all) * columns_of(w), "entries of out");
        nb::gil_scoped_release release;
        matvec(all, w.data(), columns_of(w), out.data());
      },
      nb::arg("rows"), nb::arg("d"), nb::arg("w"), nb::arg("out"), "Writes X w into out; w may have several columns.");
  m.def(
      "rmatvec",
      [](nb::object rows, Index d, const Given& beta, const Written& out) {
        const Rows all = rows_of(rows, d);
        expect(count(beta.shape(0)), rows_in(all), "rows of beta");
        expect(count(out.size()), d * columns_of(beta), "entries of out");
        nb::gil_scoped_release release;
        rmatvec(all, beta.data(), columns_of(beta), d, out.data());
      },
      nb::arg("rows"), nb::arg("d"), nb::arg("beta"), nb::arg("out"), "Writes Xᵀ β into out; β may have several columns.");
  m.def(
      "squared_norms",
      [](nb::object rows, Index n, Index step, const InOut<double>& out) {
        const Rows all = rows_of(rows);
        if (step < 1 || n > rows_in(all)) throw std::invalid_argument("n must be at most the number of rows, and step at least 1.");
        expect(count(out.shape(0)), (n + step - 1) / step, "entries of out");
        nb::gil_scoped_release release;
        squared_norms(all, n, step, out.data());
      },
      nb::arg("rows"), nb::arg("n"), nb::arg("step"), nb::arg("out"), "Writes ‖x‖² of every so many of the first n rows.");
  m.def(
      "distinct_samples",
      [](nb::object rows, const In<double>& y, const In<Index>& groups, const InOut<Index>& which) {
        const Rows all = rows_of(rows);
        expect(rows_in(all), count(y.shape(0)), "rows of X");
        expect(count(groups.shape(0)), count(y.shape(0)), "groups");
        expect(count(which.shape(0)), count(y.shape(0)), "entries of which");
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
