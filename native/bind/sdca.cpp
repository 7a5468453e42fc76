// Bindings of native/sdca.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "sdca/sdca.hpp"

namespace gapless::bind {
namespace {

// The epochs, and the arrays that they read.
struct Epochs {
  nb::object rows, dual;
  Sdca sdca;

  Epochs(nb::object rows_, Index d, nb::object dual_, const In<double>& curvature, const SdcaOptions& options)
      : rows(std::move(rows_)), dual(std::move(dual_)), sdca(checked(rows, d, curvature), d, dual_of(dual), view(curvature), options) {}

  static Rows checked(nb::handle rows, Index d, const In<double>& curvature) {
    Rows found = rows_of(rows, d);
    expect(rows_in(found), count(curvature.shape(0)), "rows of X");
    return found;
  }
};

}  // namespace

void bind_sdca(nb::module_& m) {
  nb::class_<Epochs>(m, "Sdca", "Epochs of dual coordinate ascent that keep w up to date; β = 0 to begin with.")
      .def(
          "__init__",
          [](Epochs* self, nb::object rows, Index d, nb::object dual, const In<double>& curvature, double shift, bool free_intercept,
             bool uniform, bool shrinks, double halved_from, std::uint64_t seed, const std::optional<In<Index>>& order) {
            std::vector<std::uint32_t> visits;
            if (order)
              for (const Index i : view(*order)) visits.push_back(static_cast<std::uint32_t>(i));
            new (self) Epochs(std::move(rows), d, std::move(dual), curvature,
                              SdcaOptions{shift, free_intercept, uniform, shrinks, halved_from, seed, std::move(visits)});
          },
          nb::arg("rows"), nb::arg("d"), nb::arg("dual"), nb::arg("curvature"), nb::kw_only(), nb::arg("shift"),
          nb::arg("free_intercept"), nb::arg("uniform"), nb::arg("shrinks"), nb::arg("halved_from"), nb::arg("seed"), nb::arg("order") = nb::none())
      .def(
          "resume",
          [](Epochs& self, const In<double>& beta, const In<double>& w, double b, double separable) {
            self.sdca.resume(view(beta), view(w), b, separable);
          },
          nb::arg("beta"), nb::arg("w"), nb::arg("b"), nb::arg("separable"), nb::call_guard<nb::gil_scoped_release>(),
          "Go on from β with w = Σ βᵢxᵢ, from b where it is free, and from Σ hᵢ(βᵢ).")
      .def(
          "step", [](Epochs& self, Index visits, double target) { return self.sdca.step(visits, target); }, nb::arg("visits"),
          nb::arg("target"), nb::call_guard<nb::gil_scoped_release>(),
          "Make at most so many visits, and return how many; stops after an epoch over all rows whose gap is at most target · P.")
      .def_prop_ro(
          "ready", [](const Epochs& self) { return self.sdca.ready(); }, "Whether the last step ended at its target.")
      .def_prop_ro(
          "active",
          [](const Epochs& self) {
            const auto active = self.sdca.active();
            return array_of(std::vector<Index>(active.begin(), active.end()));
          },
          nb::rv_policy::automatic, "The rows that are not left out at present, as a copy.")
      .def_prop_ro(
          "gap", [](const Epochs& self) { return self.sdca.gap(); }, "The last epoch's own reckoning of the gap.")
      .def_prop_ro(
          "dual_value", [](const Epochs& self) { return self.sdca.dual_value(); }, "D, by adding up what the steps gain.")
      .def_prop_ro(
          "offset", [](const Epochs& self) { return self.sdca.offset(); }, "s² Σβ; of a free intercept its present multiplier.")
      .def_prop_ro(
          "w",
          [](const Epochs& self) {
            std::vector<double> w(static_cast<std::size_t>(self.sdca.features()));
            self.sdca.read_w(w);
            return array_of(w);
          },
          nb::rv_policy::automatic, "Σ βᵢxᵢ, as a copy.")
      .def_prop_ro(
          "beta",
          [](const Epochs& self) {
            std::vector<double> beta(static_cast<std::size_t>(self.sdca.samples()));
            self.sdca.read_beta(beta);
            return array_of(beta);
          },
          nb::rv_policy::automatic, "The dual variables, as a copy.");
}

}  // namespace gapless::bind
