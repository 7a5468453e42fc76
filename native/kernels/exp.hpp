// Powers of two and the hyperbolic tangent of vectors, for files *.isa.cpp.
//
// 2ᵗ = 2ᵏ 2ᶠ with k the whole number next to t, and f = t − k exactly; 2ᶠ is computed by the polynomial of least relative error on [−½, ½] (Remez):
// of degree 6 in float32, off by 2e-9, and of degree 11 in float64, off by 3e-18. With rounding the relative error is at most 1.2e-7 and 3e-16.
#pragma once

#include "kernels/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {

template <class T>
struct PowerOfTwo {
  T least;    // the least exponent of a normal number
  T rounder;  // 1.5 · 2^mantissa: added to t, it leaves the whole number next to t in the low bits
  T c[sizeof(T) == 4 ? 7 : 12];
};

inline constexpr PowerOfTwo<float> single_power = {-126.0f,
                                                   12582912.0f,
                                                   {1.0f, 0.69314720573719575134f, 0.24022646890645520696f,
                                                    0.05550328777105324799f, 0.0096184889563311816196f,
                                                    0.0013399931177239737967f, 0.00015345812161311629759f}};

inline constexpr PowerOfTwo<double> double_power = {
    -1022.0,
    6755399441055744.0,
    {1.0, 0.69314718055994533046, 0.24022650695910156204, 0.055504108664819921605, 0.0096181291075883352443,
     0.0013333558146789921722, 0.00015403530462514432062, 0.000015252733489988525649, 1.321543308967639918e-6,
     1.0178198021671930844e-7, 7.0741056135081427963e-9, 4.4352827069572771511e-10}};

// The constants, behind a pointer that GCC knows nothing of: otherwise it would keep them in registers, which the sums of a tile need.
template <class T>
GAPLESS_INLINE const PowerOfTwo<T>* power_constants() {
  const PowerOfTwo<T>* found;
  if constexpr (sizeof(T) == 4)
    found = &single_power;
  else
    found = &double_power;
#if defined(__GNUC__)
  asm volatile("" : "+r"(found));
#endif
  return found;
}

// 2ᵗ; 2^least where t < least. NaN stays NaN. A large positive t may overflow.
template <class T>
GAPLESS_INLINE Lanes<T> power_of_two(Lanes<T> t, const PowerOfTwo<T>* with) {
  using Whole = Lanes<typename Bits<T>::type, T>;
  constexpr int degree = sizeof(T) == 4 ? 6 : 11, mantissa = sizeof(T) == 4 ? 23 : 52;
  t = at_least<T>(t, with->least);
  const Lanes<T> z = t + with->rounder;
  const Lanes<T> f = t - (z - with->rounder);
  Lanes<T> p = all<T>(with->c[degree]);
#pragma GCC unroll 16
  for (int k = degree - 1; k >= 0; --k) p = p * f + with->c[k];
  return (Lanes<T>)((Whole)p + ((Whole)z << mantissa));
}

// tanh x: x + x³ P(x²)/Q(x²) for |x| < 5/8 (Cephes, Moshier 1989), else 1 − 2/(e²ˣ + 1), where no digits cancel.
template <class T>
GAPLESS_INLINE Lanes<T> hyperbolic_tangent(Lanes<T> x, const PowerOfTwo<T>* with) {
  const Lanes<T> size = magnitude<T>(x), s = x * x;
  const Lanes<T> p = (T(-9.64399179425052238628e-1) * s + T(-9.92877231001918586564e1)) * s + T(-1.61468768441708447952e3);
  const Lanes<T> q = ((s + T(1.12811678491632931402e2)) * s + T(2.23548839060100448583e3)) * s + T(4.84406305325125486048e3);
  const Lanes<T> near = x + x * (s * (p / q));
  const Lanes<T> e = power_of_two<T>(at_most<T>(size, T(20)) * T(2.8853900817779268), with);  // e²ˣ, 2 log₂ e = 2.885…; from 20 on tanh x rounds to 1
  const Lanes<T> far = T(1) - T(2) / (e + T(1));
  return size < T(0.625) ? near : (x < T(0) ? -far : far);
}

}  // namespace gapless::GAPLESS_LEVEL
