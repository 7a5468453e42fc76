// Bindings of native/textbook: one function for the epoch of each textbook solver, and the generator of the order of visits.
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <type_traits>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "core/random.hpp"
#include "textbook/coordinate_ascent.hpp"
#include "textbook/pegasos.hpp"
#include "textbook/perceptron.hpp"
#include "textbook/projected_gradient.hpp"
#include "textbook/sgd.hpp"

namespace gapless::bind {

void bind_textbook(nb::module_& m) {
  nb::class_<Random>(m, "Random", "A generator that every machine repeats from its seed (xorshift64*).")
      .def(nb::init<std::uint64_t>(), nb::arg("seed"))
      .def(
          "shuffle", [](Random& random, const InOut<Index>& indices) { random.shuffle(view(indices)); },
          nb::arg("indices").noconvert(), nb::call_guard<nb::gil_scoped_release>(), "Put indices into a random order; writes indices.")
      .def(
          "draw", [](Random& random, const InOut<Index>& indices) { random.draw(view(indices)); },
          nb::arg("indices").noconvert(), nb::call_guard<nb::gil_scoped_release>(),
          "Fill n indices by uniform draws from 0 to n − 1, with replacement; writes indices.");

  m.def(
      "ascend_coordinates",
      [](nb::handle dual, const In2<double>& K, const In<Index>& piece, const InOut<double>& beta, const InOut<double>& f) {
        const DualTerms terms = dual_of(dual);
        const Index n = count(K.shape(1));
        nb::gil_scoped_release free;
        ascend_coordinates(terms, {K.data(), count(K.shape(0)), n, n}, view(piece), view(beta), view(f));
      },
      nb::arg("dual"), nb::arg("K"), nb::arg("piece"), nb::arg("beta").noconvert(), nb::arg("f").noconvert(),
      "Maximise the dual along each coordinate of piece, with f = Kβ kept up to date; writes beta and f.");
  m.def(
      "project_gradient_step",
      [](nb::handle dual, const In<double>& z, const In<double>& f, double L, const InOut<double>& beta) {
        const DualTerms terms = dual_of(dual);
        nb::gil_scoped_release free;
        project_gradient_step(terms, view(z), view(f), L, view(beta));
      },
      nb::arg("dual"), nb::arg("z"), nb::arg("f"), nb::arg("L"), nb::arg("beta").noconvert(),
      "The best step from z with f = Kz, where curvature L stands in for K; writes beta.");
  m.def(
      "walk_pegasos",
      [](nb::handle rows, const In<double>& y, const In<double>& cost, double shift, const In<Index>& piece, double theta_b, double t,
         double harmonic, const InOut<double>& theta, const InOut<double>& errors, const InOut<double>& weighted) {
        const Rows all = rows_of(rows, count(theta.shape(0)));
        expect(rows_in(all), count(y.shape(0)), "rows of X");
        nb::gil_scoped_release free;
        const PegasosClock now = walk_pegasos(all, view(y), view(cost), shift, view(piece), {theta_b, t, harmonic}, view(theta),
                                              view(errors), view(weighted));
        return std::make_tuple(now.theta_b, now.t, now.harmonic);
      },
      nb::arg("rows"), nb::arg("y"), nb::arg("cost"), nb::arg("shift"), nb::arg("piece"), nb::arg("theta_b"), nb::arg("t"),
      nb::arg("harmonic"), nb::arg("theta").noconvert(), nb::arg("errors").noconvert(), nb::arg("weighted").noconvert(),
      "One step of Pegasos for each sample of piece; writes theta, errors and weighted, returns (θ_b, t, H).");
  m.def(
      "walk_perceptron",
      [](const In<Index>& order, Index position, const In2<double>& signs, Index first, const In2<double>& rows, const In<Index>& slot_of,
         const In<bool>& admitted, Index seen, const InOut2<double>& beta, const InOut2<double>& delayed, const InOut2<double>& F) {
        const auto matrix = [](const auto& array) {
          return Matrix<std::remove_pointer_t<decltype(array.data())>>{array.data(), count(array.shape(0)), count(array.shape(1)),
                                                                      array.stride(0)};
        };
        Functions learned{matrix(beta), matrix(delayed), matrix(F), seen};
        std::vector<Mistake> mistakes;
        {
          nb::gil_scoped_release free;
          position = walk_perceptron(view(order), position, matrix(signs), first, {matrix(rows), view(slot_of), view(admitted)}, learned,
                                     mistakes);
        }
        nb::list out;
        for (const Mistake& each : mistakes) out.append(nb::make_tuple(each.sample, each.function, each.sign, each.time));
        return std::make_tuple(position, learned.seen, nb::typed<nb::list, nb::tuple>(out));
      },
      nb::arg("order"), nb::arg("position"), nb::arg("signs"), nb::arg("first"), nb::arg("rows"), nb::arg("slot_of"), nb::arg("admitted"),
      nb::arg("seen"), nb::arg("beta").noconvert(), nb::arg("delayed").noconvert(), nb::arg("F").noconvert(),
      "The kernel perceptron along order, up to a sample whose mistake needs a row of K that is not there; writes beta, delayed and F (a row a "
      "function), returns (position, samples seen, mistakes as (sample, function, sign, time)).");
  m.def(
      "descend_sgd",
      [](nb::handle rows, nb::handle dual, const In<Index>& piece, const In<double>& steps, double reach, double penalty, double scale,
         double b, double sum_scale, double sum_b, const InOut<double>& v, const InOut<double>& u, const InOut<double>& q) {
        const Rows all = rows_of(rows, count(v.shape(0)));
        const DualTerms terms = dual_of(dual);
        nb::gil_scoped_release free;
        const SgdScalars now = descend_sgd(all, terms, view(piece), view(steps), {reach, penalty}, {scale, b, sum_scale, sum_b}, view(v),
                                           view(u), view(q));
        return std::make_tuple(now.scale, now.b, now.sum_scale, now.sum_b, now.made);
      },
      nb::arg("rows"), nb::arg("dual"), nb::arg("piece"), nb::arg("steps"), nb::arg("reach"), nb::arg("penalty"), nb::arg("scale"),
      nb::arg("b"), nb::arg("sum_scale"), nb::arg("sum_b"),
      nb::arg("v").noconvert(), nb::arg("u").noconvert(), nb::arg("q").noconvert(),
      "One step of stochastic sub-gradient descent for each sample of piece, with its η from steps; writes v, u and q, returns (a, b, Σa, Σb, steps made).");
}

}  // namespace gapless::bind
