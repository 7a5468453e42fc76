// From Python's arrays and NamedTuples to the views that the loops take.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "core/dual.hpp"
#include "core/rows.hpp"
#include "core/span.hpp"

namespace gapless::bind {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut2 = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

template <class T>
std::span<const T> view(const In<T>& array) { return {array.data(), array.shape(0)}; }
template <class T>
std::span<T> view(const InOut<T>& array) { return {array.data(), array.shape(0)}; }

// The rows behind a DenseRows, CsrRows or OnesRows of gapless.data.rows. They must have `d` columns, as many as the vectors that they are multiplied
// with have entries: Python code can change the shape of an array in place, so that the loops trust no shape that was looked at earlier.
constexpr Index unknown = -1;
Rows rows_of(nb::handle rows, Index d = unknown);
Index rows_in(const Rows& rows);

// Refuses a number that is not the expected one (`unknown` is any).
void expect(Index got, Index expected, const char* what);

// Refuses arrays that have not n entries: X may have got another shape since some of them were made.
template <class... Arrays>
void expect_entries(Index n, const char* what, const Arrays&... arrays) {
  (expect(count(arrays.shape(0)), n, what), ...);
}
constexpr const char* of_samples = "entries, one for each sample";

// Refuses places of samples that are not within n.
void expect_places(Places places, Index n);

// Refuses a matrix of another shape, or whose rows do not follow each other.
void expect_matrix(const InOut2<double>& matrix, Index rows, Index columns);

// The terms behind a DualBox or DualEntropy of gapless.losses.
DualTerms dual_of(nb::handle dual);
inline DualBox box_of(nb::handle dual) { return std::get<DualBox>(dual_of(dual)); }
inline Index samples_of(nb::handle dual) { return count(nb::len(nb::object(dual[0]))); }

// A NumPy view of numbers that belong to the Python object `owner`; the view keeps it alive.
template <class Values>
auto seen(Values& values, nb::handle owner) {
  return nb::ndarray<nb::numpy, double, nb::ndim<1>>(values.data(), {static_cast<std::size_t>(values.size())}, owner);
}

// A new NumPy array that owns a copy of `values`.
template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
Array<double> array_of(std::span<const double> values);
Array<Index> array_of(std::span<const Index> values);
Array<std::uint32_t> array_of(std::span<const std::uint32_t> values);

}  // namespace gapless::bind
