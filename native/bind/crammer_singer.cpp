// Bindings of native/crammer_singer.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "crammer_singer/ascent.hpp"

namespace gapless::bind {
namespace {

using Grid = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Matrix<double> matrix(const Grid& array) {
  return {array.data(), count(array.shape(0)), count(array.shape(1)), count(array.shape(1))};
}

}  // namespace

void bind_crammer_singer(nb::module_& m) {
  m.def(
      "ascend_blocks",
      [](nb::handle rows, const In<Index>& codes, const In<double>& cost, const In<double>& curvature, double shift, double entries,
         const In<Index>& order, Index position, double budget, bool whole, const Grid& beta, const Grid& W, const InOut<double>& b,
         const InOut<bool>& moved) {
        const BlockProblem problem{rows_of(rows, count(W.shape(0))), view(codes), view(cost), view(curvature), shift, entries};
        expect(rows_in(problem.rows), count(beta.shape(0)), "rows of X");
        nb::gil_scoped_release free;
        const BlockPass pass =
            ascend_blocks(problem, view(order), position, budget, whole, {matrix(beta), matrix(W), view(b), view(moved)});
        return std::make_tuple(pass.position, pass.work, pass.gap);
      },
      nb::arg("rows"), nb::arg("codes"), nb::arg("cost"), nb::arg("curvature"), nb::arg("shift"), nb::arg("entries"), nb::arg("order"),
      nb::arg("position"), nb::arg("budget"), nb::arg("whole"), nb::arg("beta").noconvert(), nb::arg("W").noconvert(),
      nb::arg("b").noconvert(), nb::arg("moved").noconvert(),
      "Maximise the dual over the block of each sample of order from position on, until budget entries are met; writes beta, W, b and moved, "
      "returns (the next position, entries met, with whole an estimate of the part of the gap that the blocks have).");
}

}  // namespace gapless::bind
