#include "bind/arrays.hpp"

#include <algorithm>

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
  switch (nb::len(rows)) {
    case 1: {
      In2<double> values;
      if (nb::try_cast(first, values, false))
        return DenseRows<double>{values.data(), count(values.shape(0)), count(values.shape(1))};
      const auto single = as_it_is<In2<float>>(first);
      return DenseRows<float>{single.data(), count(single.shape(0)), count(single.shape(1))};
    }
    case 2: {
      const auto indices = item<std::uint32_t>(rows, 0);
      const auto indptr = item<Index>(rows, 1);
      return OnesRows{indices.data(), indptr.data(), count(indptr.shape(0)) - 1, d};
    }
    default: {
      const auto indices = item<std::uint32_t>(rows, 1);
      const auto indptr = item<Index>(rows, 2);
      const Index n = count(indptr.shape(0)) - 1;
      In<double> values;
      if (nb::try_cast(first, values, false)) return CsrRows<double>{values.data(), indices.data(), indptr.data(), n, d};
      const auto single = as_it_is<In<float>>(first);
      return CsrRows<float>{single.data(), indices.data(), indptr.data(), n, d};
    }
  }
}

DualTerms dual_of(nb::handle dual) {
  const auto at = [&](Py_ssize_t k) { return item<double>(dual, k); };
  const auto first = at(0);
  const Index n = count(first.shape(0));
  if (nb::len(dual) == 5)
    return DualBox{first.data(), at(1).data(), at(2).data(), at(3).data(), at(4).data(), n};
  return DualEntropy{first.data(), at(1).data(), at(2).data(), at(3).data(), n};
}

Array<double> array_of(std::span<const double> values) { return copied(values); }
Array<Index> array_of(std::span<const Index> values) { return copied(values); }

}  // namespace gapless::bind
