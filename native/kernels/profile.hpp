// The function that turns products of rows, in a register, into the kernel's entries. Only files *.isa.cpp include this header.
#pragma once

#include "kernels/dense.hpp"
#include "kernels/exp.hpp"

namespace gapless::GAPLESS_LEVEL {

// For RBF and Laplacian `product` is log₂ k, which is at most zero in exact arithmetic: cutting it at zero makes its error smaller.
template <class T, Expression::Kind kind>
GAPLESS_INLINE Lanes<T> profile(const Formula<T>& formula, const PowerOfTwo<T>* power, Lanes<T> product) {
  using Kind = Expression::Kind;
  if constexpr (kind == Kind::rbf || kind == Kind::laplacian) {
    return power_of_two<T>(at_most<T>(product, T(0)), power);
  } else if constexpr (kind == Kind::sigmoid) {
    return hyperbolic_tangent<T>(formula.gamma * product + formula.coef0, power);
  } else if constexpr (kind == Kind::polynomial) {
    const Lanes<T> x = formula.gamma * product + formula.coef0;
    Lanes<T> result = x;
    int bit = 1;  // repeated squaring, from the highest bit of the degree on
    while (bit <= formula.degree / 2) bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2) {
      result *= result;
      if (formula.degree & bit) result *= x;
    }
    return result;
  } else {
    return product;
  }
}

}  // namespace gapless::GAPLESS_LEVEL
