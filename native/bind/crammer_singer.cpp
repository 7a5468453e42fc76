// Bindings of native/crammer_singer.
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>
#include <variant>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "crammer_singer/ascent.hpp"

namespace gapless::bind {
namespace {

using Grid = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Matrix<double> matrix(const Grid& array) {
  return {array.data(), count(array.shape(0)), count(array.shape(1)), count(array.shape(1))};
}

// The rows, where beta has a row for each of them, and W one for each class (dense rows) or for each feature (sparse ones).
Rows checked(nb::handle rows, const Grid& beta, const Grid& W) {
  const Rows found = rows_of(rows);
  const auto [d, sparse] = std::visit([](const auto& all) { return std::pair(all.d, all.is_sparse); }, found);
  expect(rows_in(found), count(beta.shape(0)), "rows of X");
  expect(d, count(W.shape(sparse ? 0 : 1)), "columns of X");
  expect(count(beta.shape(1)), count(W.shape(sparse ? 1 : 0)), "columns of beta");
  return found;
}

}  // namespace

void bind_crammer_singer(nb::module_& m) {
  m.def(
      "ascend_blocks",
      [](nb::handle rows, const In<Index>& codes, const In<double>& cost, const In<double>& curvature, double shift, double entries,
         const In<Index>& order, Index position, double budget, bool whole, const Grid& beta, const Grid& W, const InOut<double>& b,
         const InOut<bool>& moved) {
        const BlockProblem problem{checked(rows, beta, W), view(codes), view(cost), view(curvature), shift, entries};
        nb::gil_scoped_release free;
        const BlockPass pass =
            ascend_blocks(problem, view(order), position, budget, whole, {matrix(beta), matrix(W), view(b), view(moved)});
        return std::make_tuple(pass.position, pass.work, pass.gap, pass.gain);
      },
      nb::arg("rows"), nb::arg("codes"), nb::arg("cost"), nb::arg("curvature"), nb::arg("shift"), nb::arg("entries"), nb::arg("order"),
      nb::arg("position"), nb::arg("budget"), nb::arg("whole"), nb::arg("beta").noconvert(), nb::arg("W").noconvert(),
      nb::arg("b").noconvert(), nb::arg("moved").noconvert(),
      "Maximise the dual over the block of each sample of order from position on, until budget entries are met; writes beta, W, b and moved, "
      "returns (the next position, entries met, with whole an estimate of the part of the gap that the blocks have, by how much the dual has risen).");
  m.def(
      "ascend_again",
      [](nb::handle rows, const In<Index>& codes, const In<double>& cost, const In<double>& curvature, double shift, double entries,
         const InOut<Index>& order, Index position, double gain, Index passes, double enough, Index most, double budget, std::uint64_t seed,
         const Grid& beta, const Grid& W, const InOut<double>& b, const InOut<bool>& moved) {
        const BlockProblem problem{checked(rows, beta, W), view(codes), view(cost), view(curvature), shift, entries};
        nb::gil_scoped_release free;
        Random random(seed);
        InnerPasses state{position, gain, passes};
        ascend_again(problem, view(order), enough, most, budget, random, state, {matrix(beta), matrix(W), view(b), view(moved)});
        return std::make_tuple(state.position, state.gain, state.passes, state.work, state.ended);
      },
      nb::arg("rows"), nb::arg("codes"), nb::arg("cost"), nb::arg("curvature"), nb::arg("shift"), nb::arg("entries"),
      nb::arg("order").noconvert(), nb::arg("position"), nb::arg("gain"), nb::arg("passes"), nb::arg("enough"), nb::arg("most"),
      nb::arg("budget"), nb::arg("seed"), nb::arg("beta").noconvert(), nb::arg("W").noconvert(), nb::arg("b").noconvert(),
      nb::arg("moved").noconvert(),
      "Go on with passes over the samples of order, which is shuffled, and the classes whose beta is not zero there, until budget entries are met, "
      "a pass gains at most enough, or most passes have ended; writes beta, W, b and moved, returns (the place in order, the present pass's gain, "
      "the passes that have ended, entries met, whether the passes have ended).");
}

}  // namespace gapless::bind
