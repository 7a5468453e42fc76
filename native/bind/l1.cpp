// Bindings of native/l1.
#include "l1/descent.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "l1/newton.hpp"

namespace gapless::bind {

void bind_l1(nb::module_& m) {
  m.def(
      "descend_l1",
      [](nb::handle columns, const In<double>& cost, const In<double>& squares, const In<Index>& order, Index position, double budget,
         const InOut<double>& w, const InOut<double>& shortfall) {
        const Rows all = rows_of(columns, count(shortfall.shape(0)));
        expect(rows_in(all), count(w.shape(0)), "columns of X");
        nb::gil_scoped_release free;
        const L1Pass pass = descend_l1(all, view(cost), view(squares), view(order), position, budget, view(w), view(shortfall));
        return std::make_tuple(pass.position, pass.work, pass.violation, pass.moved);
      },
      nb::arg("columns"), nb::arg("cost"), nb::arg("squares"), nb::arg("order"), nb::arg("position"), nb::arg("budget"),
      nb::arg("w").noconvert(), nb::arg("shortfall").noconvert(),
      "One step for each weight of order from position on, until budget entries are read; writes w and shortfall, returns (the next position, "
      "entries read, the largest violation met, whether a weight moved).");
  m.def(
      "newton_l1",
      [](nb::handle columns, const In<double>& cost, const InOut<double>& w, const InOut<double>& shortfall) {
        const Rows all = rows_of(columns, count(shortfall.shape(0)));
        expect(rows_in(all), count(w.shape(0)), "columns of X");
        expect(count(cost.shape(0)), count(shortfall.shape(0)), "costs");
        nb::gil_scoped_release free;
        return newton_l1(all, view(cost), view(w), view(shortfall));
      },
      nb::arg("columns"), nb::arg("cost"), nb::arg("w").noconvert(), nb::arg("shortfall").noconvert(),
      "A Newton step on all weights that are not zero, with an exact line search; writes w and shortfall, and tells whether it gained anything.");
}

}  // namespace gapless::bind
