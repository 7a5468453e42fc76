// Bindings of native/core/structure.hpp.
#include "core/structure.hpp"

#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"

namespace gapless::bind {
namespace {

using Given = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> numbers(const Given& array) {
  return {static_cast<const T*>(array.data()), array.shape(0)};
}

template <class P>
Structure made(const Given& indices, std::span<const P> ends, Index columns, bool mapped) {
  const nb::dlpack::dtype type = indices.dtype();
  if (type == nb::dtype<std::int32_t>() || type == nb::dtype<std::uint32_t>())
    return mapped ? Structure::borrowed(numbers<std::uint32_t>(indices), ends, columns)
                  : Structure::copied(numbers<std::uint32_t>(indices), ends, columns);
  if (type == nb::dtype<Index>()) return Structure::copied(numbers<Index>(indices), ends, columns);
  throw nb::type_error("indices must be of int32, uint32 or int64.");
}

Structure made(const Given& indices, const Given& ends, Index columns, bool mapped) {
  nb::gil_scoped_release free;
  if (ends.dtype() == nb::dtype<std::int32_t>()) return made(indices, numbers<std::int32_t>(ends), columns, mapped);
  if (ends.dtype() == nb::dtype<Index>()) return made(indices, numbers<Index>(ends), columns, mapped);
  throw nb::type_error("indptr must be of int32 or int64.");
}

template <class T>
auto shown(const T* data, Index n, nb::handle owner) {
  return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {static_cast<std::size_t>(n)}, owner);
}

}  // namespace

void bind_structure(nb::module_& m) {
  using Self = nb::handle_t<Structure>;
  nb::class_<Structure>(m, "Structure", "Where the entries of a CSR matrix are: a checked copy, which no code of Python's can change.")
      .def(
          "__init__",
          [](Structure* self, const Given& indices, const Given& indptr, Index columns, bool mapped) {
            new (self) Structure(made(indices, indptr, columns, mapped));
          },
          nb::arg("indices"), nb::arg("indptr"), nb::arg("columns"), nb::arg("mapped") = false, nb::keep_alive<1, 2>(),
          "mapped: the indices are those of a file that is mapped into memory, and are not copied.")
      .def("__getstate__",
           [](const Structure& self) {
             return std::make_tuple(array_of(std::span<const std::uint32_t>(self.indices(), static_cast<std::size_t>(self.entries()))),
                                    array_of(std::span<const Index>(self.indptr(), static_cast<std::size_t>(self.rows()) + 1)), self.columns());
           })
      .def("__setstate__",
           [](Structure& self, const std::tuple<Given, Given, Index>& state) {
             new (&self) Structure(made(std::get<0>(state), std::get<1>(state), std::get<2>(state), false));
           })
      .def_prop_ro("rows", &Structure::rows)
      .def_prop_ro("entries", &Structure::entries)
      .def_prop_ro("columns", &Structure::columns)
      .def_prop_ro("is_canonical", &Structure::is_canonical, "Whether the indices of each row ascend, none twice.")
      .def_prop_ro(
          "is_narrow", &Structure::is_narrow, "Whether indices and places of entries fit into int32, the type that SciPy then has for both.")
      .def_prop_ro(
          "indices", [](Self self) { const auto& own = nb::cast<Structure&>(self); return shown(own.indices(), own.entries(), self); },
          "The columns of the entries, as a view that cannot be written to.")
      .def_prop_ro(
          "indptr", [](Self self) { const auto& own = nb::cast<Structure&>(self); return shown(own.indptr(), own.rows() + 1, self); },
          "Where each row begins, as a view that cannot be written to.")
      .def_prop_ro(
          "narrow_indptr",
          [](Self self) {
            const auto& own = nb::cast<Structure&>(self);
            return shown(own.narrow_indptr(), own.is_narrow() ? own.rows() + 1 : 0, self);
          },
          "The same in int32, empty unless is_narrow.");
}

}  // namespace gapless::bind
