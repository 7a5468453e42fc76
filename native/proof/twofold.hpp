// Numbers of twice the digits, each the sum of two float64 (Dekker 1971; Hida, Li & Bailey 2001): about 31 decimal digits. The sums, products,
// quotients and roots below are off by at most 2⁻¹⁰⁰ of their result, the exponential by 2⁻⁹⁰ and by what the error of its argument makes.
#pragma once

#include <cmath>

namespace gapless::proof {

struct Two {
  double hi = 0.0, lo = 0.0;

  double value() const { return hi + lo; }
};

// a + b exactly (Knuth).
inline Two two_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

// a + b exactly, where |a| ≥ |b| (Dekker).
inline Two quick_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// a · b exactly, where nothing overflows or underflows: by halves of 26 bits (Veltkamp), since not every machine has a fused multiply-add.
inline Two two_product(double a, double b) {
  constexpr double split = 0x1p27 + 1.0;
  const double p = a * b, s = split * a, t = split * b;
  const double a1 = s - (s - a), a2 = a - a1, b1 = t - (t - b), b2 = b - b1;
  return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

inline Two operator+(Two a, Two b) {
  Two s = two_sum(a.hi, b.hi);
  const Two t = two_sum(a.lo, b.lo);
  s = quick_sum(s.hi, s.lo + t.hi);
  return quick_sum(s.hi, s.lo + t.lo);
}

inline Two operator+(Two a, double b) { return a + Two{b, 0.0}; }
inline Two operator-(Two a) { return {-a.hi, -a.lo}; }
inline Two operator-(Two a, Two b) { return a + -b; }

inline Two operator*(Two a, Two b) {
  const Two p = two_product(a.hi, b.hi);
  return quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline Two operator*(Two a, double b) {
  const Two p = two_product(a.hi, b);
  return quick_sum(p.hi, p.lo + a.lo * b);
}

inline Two operator/(Two a, Two b) {
  const double first = a.hi / b.hi;
  Two rest = a - b * first;
  const double second = rest.hi / b.hi;
  rest = rest - b * second;
  return quick_sum(first, second) + Two{rest.hi / b.hi, 0.0};
}

inline Two magnitude(Two a) { return a.hi < 0.0 ? -a : a; }

inline Two root(Two a) {
  if (!(a.hi > 0.0)) return {};
  const double first = std::sqrt(a.hi);
  const Two rest = a - two_product(first, first);
  const Two near = quick_sum(first, rest.hi / (2.0 * first));
  return near + Two{(a - near * near).hi / (2.0 * first), 0.0};
}

inline Two power(Two x, int n) {
  Two result{1.0, 0.0};
  for (; n > 0; n /= 2) {
    if (n & 1) result = result * x;
    x = x * x;
  }
  return result;
}

// exp(x) = 2ᵏ exp(r)^64 with |r| < 0.0055: Taylor's series of exp(r) − 1, then six squarings (1 + s)² − 1 = 2s + s². The 1 is added at the end, since
// with it the small s would lose digits.
inline Two exponential(Two x) {
  if (x.hi < -708.0) return {0.0, 0.0};  // below 1e-307 the lower part underflows; the bounds of proof/rounding.cpp count such values as zero
  if (!(x.hi < 709.0)) return {HUGE_VAL, 0.0};
  constexpr Two ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  constexpr int terms = 12;  // the first term left out is 0.0055¹³ / 13!, relative to 0.0055 below 2⁻¹²²
  static const struct Inverses {
    Two of[terms + 1];  // 1/i!
    Inverses() {
      of[0] = {1.0, 0.0};
      for (int i = 1; i <= terms; ++i) of[i] = of[i - 1] / Two{static_cast<double>(i), 0.0};
    }
  } inverse;
  const double k = std::nearbyint(x.hi / ln2.hi);
  const Two r = (x - ln2 * k) * (1.0 / 64.0);
  Two sum = inverse.of[terms];
  for (int i = terms - 1; i >= 1; --i) sum = sum * r + inverse.of[i];
  sum = sum * r;
  for (int i = 0; i < 6; ++i) sum = sum * 2.0 + sum * sum;
  sum = sum + Two{1.0, 0.0};
  const int shift = static_cast<int>(k);
  return {std::ldexp(sum.hi, shift), std::ldexp(sum.lo, shift)};
}

}  // namespace gapless::proof
