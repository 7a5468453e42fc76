// Bindings of native/smo: the engine, and its parts for tests.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "bind/kernels.hpp"
#include "smo/active_set.hpp"
#include "smo/block.hpp"
#include "smo/engine.hpp"
#include "smo/face_walk.hpp"
#include "smo/gap_estimate.hpp"
#include "smo/newton_finish.hpp"
#include "smo/sizes.hpp"
#include "smo/working_set.hpp"

namespace gapless::bind {
namespace {

nb::object borrowed(Places places) {
  return nb::cast(nb::ndarray<nb::numpy, const Index, nb::ndim<1>>(places.data(), {places.size()}));
}
nb::object borrowed(Vector values) {
  return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<1>>(values.data(), {values.size()}));
}

// The engine, and the Python objects whose arrays it reads.
struct SmoObject {
  std::vector<nb::object> kept;
  std::unique_ptr<smo::Smo> engine;
};

smo::Exact exact_of(nb::object function) {
  return [function = std::move(function)](Vector beta, std::optional<Places> near, double* f) {
    nb::gil_scoped_acquire lock;
    const nb::object places = near ? borrowed(*near) : nb::none();
    const auto values = nb::cast<In<double>>(function(borrowed(beta), places));
    if (near)
      for (std::size_t k = 0; k < near->size(); ++k) f[(*near)[k]] = values.data()[k];
    else
      std::copy(values.data(), values.data() + values.shape(0), f);
  };
}

void make_smo(SmoObject* self, nb::object entries, double error, nb::object exact, nb::object dual, In<double> diagonal, In<Index> groups,
              In<double> totals, In<double> beta, bool coupled, bool hard, double shift, double zero, double entry_work, bool second_order, double cache_bytes,
              nb::object f) {
  std::vector<nb::object> kept = {entries, dual, nb::cast(diagonal), nb::cast(groups)};
  const Index n = samples_of(dual);
  expect_entries(n, of_samples, beta, diagonal, groups);
  smo::SmoEntries from;
  if (nb::isinstance<nb::tuple>(entries)) {
    const auto given = nb::cast<In2<double>>(entries[0]);
    const auto places = nb::cast<In<Index>>(entries[1]);
    from.given = {given.data(), count(given.shape(0)), count(given.shape(1)), count(given.shape(1))};
    from.places = view(places);
    expect_entries(n, of_samples, places);
    expect_places(from.places, std::min(from.given.rows, from.given.columns));
  } else {
    auto& object = nb::cast<PanelsObject&>(entries);
    from.panels = object.panels.get();
    expect(from.panels->size(), n, "samples in the panels");
    from.last = &object.last;
    from.error = error;
  }
  smo::SmoProblem problem = {dual_of(dual), diagonal.data(), groups.data(), {totals.data(), totals.data() + totals.shape(0)}, coupled, hard,
                             shift, zero, entry_work};
  smo::Exact refresh = exact_of(exact);
  const auto start_f = f.is_none() ? In<double>() : nb::cast<In<double>>(f);
  if (!f.is_none()) expect_entries(n, of_samples, start_f);
  std::unique_ptr<smo::Smo> engine;
  {
    nb::gil_scoped_release unlock;
    engine = smo::make_smo(std::move(problem), from, std::move(refresh), view(beta), {second_order, cache_bytes},
                           f.is_none() ? Vector() : view(start_f));
  }
  new (self) SmoObject{std::move(kept), std::move(engine)};
}

template <class T>
Matrix<const T> square_of(const In2<T>& K) {
  return {K.data(), count(K.shape(0)), count(K.shape(1)), count(K.shape(1))};
}

template <class T>
Index pairs(nb::object dual, In<double> diagonal, In2<T> K, In<Index> starts, bool coupled, bool second_order, double target, Index max_steps,
            InOut<double> beta, InOut<double> f) {
  const std::vector<Index> at(starts.data(), starts.data() + starts.shape(0));
  return std::visit(
      [&](const auto& terms) {
        smo::BlockSolver<std::decay_t<decltype(terms)>, T> solver;
        return solver.template solve_block<T>(terms, diagonal.data(), square_of(K), at, coupled, second_order, target, max_steps, beta.data(), f.data());
      },
      dual_of(dual));
}

template <class T>
Index blocks(nb::object dual, In<double> diagonal, In2<T> K, In<Index> groups, Index n_groups, bool coupled, bool second_order, Index size,
             double target, double share, Index max_steps, InOut<double> beta, InOut<double> f) {
  return std::visit(
      [&](const auto& terms) {
        using Dual = std::decay_t<decltype(terms)>;
        smo::BlockSolver<Dual, T> solver;
        const typename smo::BlockSolver<Dual, T>::Part part = {terms, diagonal.data(), square_of(K), {groups.data(), n_groups}, coupled, second_order};
        return solver.solve(part, size, share, target, max_steps, beta.data(), f.data());
      },
      dual_of(dual));
}

template <class T>
Index face(nb::object dual, In<double> diagonal, In2<T> K, In<Index> groups, Index n_groups, bool coupled, double target, Index most,
           InOut<double> beta, InOut<double> f) {
  return smo::solve_face<T>(std::get<DualBox>(dual_of(dual)), diagonal.data(), square_of(K), {groups.data(), n_groups}, coupled, target, most,
                            beta.data(), f.data());
}

std::tuple<double, double> own_gap(nb::object dual, In<double> beta, In<double> f, In<Index> groups, In<double> totals, bool coupled,
                                   InOut<double> offsets) {
  std::vector<Index> room;
  const smo::GapEstimate found = std::visit(
      [&](const auto& terms) {
        return smo::own_gap(terms, count(beta.shape(0)), beta.data(), f.data(), {groups.data(), count(totals.shape(0))}, totals.data(), coupled,
                            offsets.data(), room);
      },
      dual_of(dual));
  return {found.gap, found.primal};
}

std::tuple<double, double> survey(nb::object dual, In<double> diagonal, In<double> beta, In<double> f, In<Index> groups, Index n_groups,
                                  bool coupled, InOut<double> up, InOut<double> down) {
  const smo::Violation found = std::visit(
      [&](const auto& terms) {
        return smo::survey(terms, count(beta.shape(0)), diagonal.data(), beta.data(), f.data(), {groups.data(), n_groups}, coupled, up.data(),
                           down.data());
      },
      dual_of(dual));
  return {found.noise, found.worst};
}

Array<Index> entrants(In<double> up, In<double> down, In<Index> groups, In<double> offsets, bool coupled, double share, In<bool> inside, Index most) {
  const std::vector<char> is(inside.data(), inside.data() + inside.shape(0));
  const auto found = smo::Selection().entrants(count(up.shape(0)), up.data(), down.data(), {groups.data(), count(offsets.shape(0))}, offsets.data(),
                                               coupled, share, is, most);
  return array_of(std::span<const Index>(found));
}

Array<Index> nearest(In<double> scores, Index most) {
  const auto found = smo::Selection().nearest({scores.data(), scores.data() + scores.shape(0)}, most);
  return array_of(std::span<const Index>(found));
}

std::tuple<int, double> walk(nb::object dual, In<double> diagonal, In2<double> K, In<Index> groups, In<double> totals, bool coupled, double target,
                             double most_work, InOut<double> beta, InOut<double> f) {
  smo::FaceWalk walk;
  const DualTerms terms = dual_of(dual);
  const smo::Groups own = {groups.data(), count(totals.shape(0))};
  const auto end = walk.go({std::get<DualBox>(terms), diagonal.data(), square_of(K), own, totals.data(), coupled}, target, most_work, beta.data(), f.data());
  return {static_cast<int>(end), walk.work()};
}

template <class T>
void bind_parts(nb::module_& m) {
  m.def("smo_pairs", pairs<T>, nb::arg("dual"), nb::arg("diagonal"), nb::arg("K").noconvert(), nb::arg("starts"), nb::arg("coupled"),
        nb::arg("second_order"), nb::arg("target"), nb::arg("max_steps"), nb::arg("beta").noconvert(), nb::arg("f").noconvert(),
        "SMO on one block, whose groups are side by side; writes beta and f, and returns the steps taken.");
  m.def("smo_blocks", blocks<T>, nb::arg("dual"), nb::arg("diagonal"), nb::arg("K").noconvert(), nb::arg("groups"), nb::arg("n_groups"),
        nb::arg("coupled"), nb::arg("second_order"), nb::arg("size"), nb::arg("target"), nb::arg("share"), nb::arg("max_steps"),
        nb::arg("beta").noconvert(), nb::arg("f").noconvert(), "SMO by blocks of at most `size`; writes beta and f, and returns the steps taken.");
  m.def("smo_face", face<T>, nb::arg("dual"), nb::arg("diagonal"), nb::arg("K").noconvert(), nb::arg("groups"), nb::arg("n_groups"),
        nb::arg("coupled"), nb::arg("target"), nb::arg("most"), nb::arg("beta").noconvert(), nb::arg("f").noconvert(),
        "Newton's method on the face that β is on; returns how often a variable moved.");
}

}  // namespace

void bind_smo(nb::module_& m) {
  nb::class_<SmoObject>(m, "Smo", "The rounds of SMO on one problem; gapless.solvers.SMO is its public face.")
      .def("__init__", make_smo, nb::arg("entries"), nb::arg("error"), nb::arg("exact"), nb::arg("dual"), nb::arg("diagonal"), nb::arg("groups"),
           nb::arg("totals"), nb::arg("beta"), nb::arg("coupled"), nb::arg("hard"), nb::arg("shift"), nb::arg("zero"), nb::arg("entry_work"),
           nb::arg("second_order"), nb::arg("cache_bytes"), nb::arg("f") = nb::none())
      .def(
          "step",
          [](SmoObject& self, double work, double iterations, double gap_target, double kkt_target) {
            const smo::SmoAdvance done = self.engine->step(work, iterations, gap_target, kkt_target);
            return std::make_tuple(done.iterations, done.work, static_cast<int>(done.outcome));
          },
          nb::arg("work"), nb::arg("iterations"), nb::arg("gap_target"), nb::arg("kkt_target"), nb::call_guard<nb::gil_scoped_release>(),
          "(pairs, work, 0 for running, 1 for ready or 2 for stalled)")
      .def("beta", [](const SmoObject& self) { return array_of(self.engine->beta()); }, "A copy of β.")
      .def("f", [](const SmoObject& self) { return array_of(self.engine->f()); }, "A copy of f = Kβ + shift Σβ as it is kept.")
      .def_prop_ro("reach", [](const SmoObject& self) { return self.engine->reach(); }, "How many of the samples take part so far.")
      .def_prop_ro("active", [](const SmoObject& self) { return self.engine->active(); }, "How many are in the active set.")
      .def_prop_ro("active_room", [](const SmoObject& self) { return self.engine->active_room(); }, "How many it has room for.")
      .def_prop_ro("fits_in_full", [](const SmoObject& self) { return self.engine->fits_in_full(); },
                   "Whether an active set in float64 has room for all free support vectors.")
      .def_prop_ro("keeps_rows", [](const SmoObject& self) { return self.engine->keeps_rows(); }, "Whether kernel rows are kept.")
      .def_prop_ro("finishes", [](const SmoObject& self) { return self.engine->finishes(); }, "Rounds in which Newton's method moved something.");
  m.attr("SMO_WHOLE") = smo::whole;
  bind_parts<float>(m);
  bind_parts<double>(m);
  m.def("smo_walk", walk, nb::arg("dual"), nb::arg("diagonal"), nb::arg("K").noconvert(), nb::arg("groups"), nb::arg("totals"), nb::arg("coupled"),
        nb::arg("target"), nb::arg("most_work"), nb::arg("beta").noconvert(), nb::arg("f").noconvert(),
        "The walk over faces from β; writes beta and f, and returns (0 for reached, 1 for tired or 2 for lost, its work).");
  m.def("smo_own_gap", own_gap, nb::arg("dual"), nb::arg("beta"), nb::arg("f"), nb::arg("groups"), nb::arg("totals"), nb::arg("coupled"),
        nb::arg("offsets").noconvert(), "(P − D, P) that f suggests; writes the best offsets.");
  m.def("smo_survey", survey, nb::arg("dual"), nb::arg("diagonal"), nb::arg("beta"), nb::arg("f"), nb::arg("groups"), nb::arg("n_groups"),
        nb::arg("coupled"), nb::arg("up").noconvert(), nb::arg("down").noconvert(), "(rounding noise of f, largest violation); writes both ends.");
  m.def("work_side_by_side", smo::work_side_by_side, nb::arg("more"),
        "So many more solvers (fewer where it is negative) work side by side from now on.");
  m.def("smo_entrants", entrants, nb::arg("up"), nb::arg("down"), nb::arg("groups"), nb::arg("offsets"), nb::arg("coupled"), nb::arg("share"),
        nb::arg("inside"), nb::arg("most"), "The worst violators that are not inside.");
  m.def("smo_nearest", nearest, nb::arg("scores"), nb::arg("most"), "The places of the largest scores, in order.");
}

}  // namespace gapless::bind
