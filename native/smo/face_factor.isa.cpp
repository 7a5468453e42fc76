#include <cmath>

#include "core/lanes.hpp"
#include "smo/face_factor.hpp"

namespace gapless::smo::GAPLESS_LEVEL {
namespace {

using gapless::GAPLESS_LEVEL::by_lanes;
using gapless::GAPLESS_LEVEL::LaneSum;
using gapless::GAPLESS_LEVEL::read;

GAPLESS_INLINE double product(Index n, const double* a, const double* b) {
  LaneSum sum;
  by_lanes(0, n, [&]<class V>(Index k) { sum.add(read<V>(a + k) * read<V>(b + k)); });
  return sum.total();
}

void forward(const double* R, Index stride, Index n, double* GAPLESS_RESTRICT b) {
  for (Index i = 0; i < n; ++i) {
    const double* GAPLESS_RESTRICT row = R + i * stride;
    const double x = b[i] / row[i];
    b[i] = x;
    for (Index j = i + 1; j < n; ++j) b[j] -= x * row[j];
  }
}

void backward(const double* R, Index stride, Index n, double* b) {
  for (Index i = n; i-- > 0;) {
    const double* row = R + i * stride;
    b[i] = (b[i] - product(n - i - 1, row + i + 1, b + i + 1)) / row[i];
  }
}

void rotate(Index n, double c, double s, double* GAPLESS_RESTRICT a, double* GAPLESS_RESTRICT b) {
  for (Index k = 0; k < n; ++k) {
    const double x = a[k], y = b[k];
    a[k] = c * x + s * y;
    b[k] = c * y - s * x;
  }
}

double dot(Index n, const double* a, const double* b) { return product(n, a, b); }

}  // namespace

extern const FactorLoops factor_loops = {forward, backward, rotate, dot};

}  // namespace gapless::smo::GAPLESS_LEVEL
