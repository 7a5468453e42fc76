#include "kernels/distances.hpp"

#include "kernels/exp.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using V = Lanes<double>;
constexpr Index wide = lanes<double>;
constexpr Index rows = 4;
constexpr double log2_e = 1.4426950408889634;

template <class T>
GAPLESS_INLINE void put(const Lanes<T>& value, T* to) { std::memcpy(to, &value, sizeof value); }

void squares(Matrix<const double> X, const double* columns, Index stride, Index first, Index last, Index begin, Index end, Matrix<double> out) {
  const Index d = X.columns;
  Index i = first;
  for (; i + rows <= last; i += rows) {
    Index j = begin;
    for (; j + wide <= end; j += wide) {
      V a{}, b{}, c{}, e{};
      for (Index f = 0; f < d; ++f) {
        const V z = load<double>(columns + f * stride + j);
        const V p = X(i, f) - z, q = X(i + 1, f) - z, r = X(i + 2, f) - z, s = X(i + 3, f) - z;
        a += p * p;
        b += q * q;
        c += r * r;
        e += s * s;
      }
      put<double>(a, out.row(i) + j);
      put<double>(b, out.row(i + 1) + j);
      put<double>(c, out.row(i + 2) + j);
      put<double>(e, out.row(i + 3) + j);
    }
    for (; j < end; ++j)
      for (Index k = i; k < i + rows; ++k) {
        double sum = 0.0;
        for (Index f = 0; f < d; ++f) sum += (X(k, f) - columns[f * stride + j]) * (X(k, f) - columns[f * stride + j]);
        out(k, j) = sum;
      }
  }
  for (; i < last; ++i)
    for (Index j = begin; j < end; ++j) {
      double sum = 0.0;
      for (Index f = 0; f < d; ++f) sum += (X(i, f) - columns[f * stride + j]) * (X(i, f) - columns[f * stride + j]);
      out(i, j) = sum;
    }
}

void gaussian(const double* from, double gamma, Index n, double* to) {
  const PowerOfTwo<double>* with = power_constants<double>();
  const double factor = -gamma * log2_e;
  Index k = 0;
  for (; k + wide <= n; k += wide) put<double>(power_of_two<double>(load<double>(from + k) * factor, with), to + k);
  double rest[wide] = {};
  for (Index h = k; h < n; ++h) rest[h - k] = from[h];
  put<double>(power_of_two<double>(load<double>(rest) * factor, with), rest);
  for (Index h = k; h < n; ++h) to[h] = rest[h - k];
}

}  // namespace

extern const DistanceLoops distance_loops = {squares, gaussian};

}  // namespace gapless::GAPLESS_LEVEL
