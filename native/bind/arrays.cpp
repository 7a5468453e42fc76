#include "bind/arrays.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/structure.hpp"

namespace gapless::bind {
namespace {

// The array itself, never a converted copy, which would be freed before its view is read.
template <class Array>
Array as_it_is(const nb::object& value) {
  Array array;
  if (!nb::try_cast(value, array, false)) throw nb::type_error("an array that is read in place must be contiguous and of its type.");
  return array;
}

template <class T>
In<T> item(nb::handle tuple, Py_ssize_t k) {
  return as_it_is<In<T>>(nb::borrow<nb::object>(tuple)[k]);
}

template <class T>
Array<T> copied(std::span<const T> values) {
  T* data = new T[values.size()];
  std::copy(values.begin(), values.end(), data);
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Array<T>(data, {values.size()}, owner);
}

}  // namespace

Rows rows_of(nb::handle rows, Index d) {
  const nb::object first = nb::borrow<nb::object>(rows)[0];
  const Structure* structure = nullptr;
  if (nb::try_cast(first, structure)) {
    expect(structure->columns(), d, "columns of X");
    return OnesRows{structure->indices(), structure->indptr(), structure->rows(), structure->columns()};
  }
  if (nb::len(rows) == 1) {
    In2<double> values;
    if (nb::try_cast(first, values, false)) {
      expect(count(values.shape(1)), d, "columns of X");
      return DenseRows<double>{values.data(), count(values.shape(0)), count(values.shape(1))};
    }
    const auto single = as_it_is<In2<float>>(first);
    expect(count(single.shape(1)), d, "columns of X");
    return DenseRows<float>{single.data(), count(single.shape(0)), count(single.shape(1))};
  }
  structure = nb::cast<const Structure*>(nb::borrow<nb::object>(rows)[1]);
  expect(structure->columns(), d, "columns of X");
  const auto sparse = [&]<class T>(const In<T>& values) {
    expect(count(values.shape(0)), structure->entries(), "values of X");
    return CsrRows<T>{values.data(), structure->indices(), structure->indptr(), structure->rows(), structure->columns()};
  };
  In<double> values;
  if (nb::try_cast(first, values, false)) return sparse(values);
  return sparse(as_it_is<In<float>>(first));
}

Index rows_in(const Rows& rows) {
  return std::visit([](const auto& x) { return x.size(); }, rows);
}

void expect(Index got, Index expected, const char* what) {
  if (expected != unknown && got != expected)
    throw std::invalid_argument("there must be " + std::to_string(expected) + " " + what + "; got " + std::to_string(got) + ".");
}

void expect_places(Places places, Index n) {
  for (const Index place : places)
    if (place < 0 || place >= n) throw std::invalid_argument("there is no sample " + std::to_string(place) + " of " + std::to_string(n) + ".");
}

void expect_matrix(const InOut2<double>& matrix, Index rows, Index columns) {
  expect(count(matrix.shape(0)), rows, "rows of the matrix");
  expect(count(matrix.shape(1)), columns, "columns of the matrix");
  if (matrix.size() > 0 && (matrix.stride(1) != 1 || (rows > 1 && matrix.stride(0) != columns)))
    throw std::invalid_argument("the rows of the matrix must follow each other.");
}

DualTerms dual_of(nb::handle dual) {
  const auto first = item<double>(dual, 0);
  const Index n = count(first.shape(0));
  const auto at = [&](Py_ssize_t k) {
    auto vector = item<double>(dual, k);
    expect(count(vector.shape(0)), n, "entries of each vector of the dual");
    return vector;
  };
  if (nb::len(dual) == 5)
    return DualBox{first.data(), at(1).data(), at(2).data(), at(3).data(), at(4).data(), n};
  return DualEntropy{first.data(), at(1).data(), at(2).data(), at(3).data(), n};
}

Array<double> array_of(std::span<const double> values) { return copied(values); }
Array<Index> array_of(std::span<const Index> values) { return copied(values); }
Array<std::uint32_t> array_of(std::span<const std::uint32_t> values) { return copied(values); }

}  // namespace gapless::bind
