#include "core/lanes.hpp"
#include "smo/face_factor.hpp"

namespace gapless::smo::GAPLESS_LEVEL {
namespace {

using gapless::GAPLESS_LEVEL::constant;
using gapless::GAPLESS_LEVEL::lanes;
using gapless::GAPLESS_LEVEL::read;
using gapless::GAPLESS_LEVEL::sum_of;
using gapless::GAPLESS_LEVEL::write;
using V = gapless::GAPLESS_LEVEL::Lanes<double>;

constexpr Index wide = lanes<double>;
constexpr Index rows = 4;
static_assert(FaceFactor::step % wide == 0);

GAPLESS_INLINE Index before(Index place) { return place / wide * wide; }
GAPLESS_INLINE Index after(Index n) { return (n + wide - 1) / wide * wide; }

GAPLESS_INLINE double product(Index begin, Index end, const double* a, const double* b) {
  V sum{};
  for (Index k = begin; k < end; k += wide) sum += read<V>(a + k) * read<V>(b + k);
  return sum_of(sum);
}

// Rows are taken four at a time: first the corner that they share, number by number, then all places after it.
void forward(const double* R, const double* diagonal, Index stride, Index n, double* GAPLESS_RESTRICT b, double* GAPLESS_RESTRICT x) {
  const Index end = after(n);
  for (Index top = 0; top < n; top += rows) {
    const Index bottom = top + rows < n ? top + rows : n;
    for (Index i = top; i < bottom; ++i) {
      double rest = b[i];
      for (Index j = top; j < i; ++j) rest -= x[j] * R[j * stride + i];
      x[i] = rest / diagonal[i];
    }
    if (bottom - top < rows) return;
    const double *first = R + top * stride, *second = first + stride, *third = second + stride, *fourth = third + stride;
    const V p = constant<V>(x[top]), q = constant<V>(x[top + 1]), u = constant<V>(x[top + 2]), v = constant<V>(x[top + 3]);
    for (Index k = before(bottom); k < end; k += wide)
      write<V>(read<V>(b + k) - ((p * read<V>(first + k) + q * read<V>(second + k)) + (u * read<V>(third + k) + v * read<V>(fourth + k))), b + k);
  }
}

void backward(const double* R, const double* diagonal, Index stride, Index n, const double* b, double* x) {
  const Index end = after(n);
  for (Index k = 0; k < end; k += wide) write<V>(V{}, x + k);
  for (Index bottom = n; bottom > 0;) {
    const Index top = (bottom - 1) / rows * rows;
    double rest[rows] = {};
    if (bottom - top == rows) {
      const double *first = R + top * stride, *second = first + stride, *third = second + stride, *fourth = third + stride;
      V p{}, q{}, u{}, v{};
      for (Index k = before(bottom); k < end; k += wide) {
        const V known = read<V>(x + k);
        p += known * read<V>(first + k);
        q += known * read<V>(second + k);
        u += known * read<V>(third + k);
        v += known * read<V>(fourth + k);
      }
      rest[0] = sum_of(p);
      rest[1] = sum_of(q);
      rest[2] = sum_of(u);
      rest[3] = sum_of(v);
    }
    for (Index i = bottom; i-- > top;) {
      double sum = b[i] - rest[i - top];
      for (Index j = i + 1; j < bottom; ++j) sum -= R[i * stride + j] * x[j];
      x[i] = sum / diagonal[i];
    }
    bottom = top;
  }
}

void rotate(Index begin, Index end, double c, double s, double* GAPLESS_RESTRICT a, double* GAPLESS_RESTRICT b) {
  for (Index k = before(begin); k < after(end); k += wide) {
    const V x = read<V>(a + k), y = read<V>(b + k);
    write<V>(c * x + s * y, a + k);
    write<V>(c * y - s * x, b + k);
  }
}

double dot(Index n, const double* a, const double* b) { return product(0, after(n), a, b); }

}  // namespace

extern const FactorLoops factor_loops = {forward, backward, rotate, dot};

}  // namespace gapless::smo::GAPLESS_LEVEL
