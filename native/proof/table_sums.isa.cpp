// This file is compiled without contraction, as all of the proof is.
#include "proof/table_sums.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

constexpr Index piece = 256;  // columns at a time: four rows of them, and the sums of some models, stay in the nearest cache

template <class T>
void add(const T* const* rows, Matrix<const double> c, Index begin, Index end, Matrix<double> out) {
  const Index n = c.rows, models = c.columns;
  for (Index at = begin; at < end; at += piece) {
    const Index wide = at + piece < end ? piece : end - at;
    Index i = 0;
    for (; i + 4 <= n; i += 4) {
      const T *GAPLESS_RESTRICT a = rows[i] + at, *GAPLESS_RESTRICT b = rows[i + 1] + at;
      const T *GAPLESS_RESTRICT e = rows[i + 2] + at, *GAPLESS_RESTRICT g = rows[i + 3] + at;
      for (Index m = 0; m < models; ++m) {
        const double p = c(i, m), q = c(i + 1, m), r = c(i + 2, m), s = c(i + 3, m);
        if (p == 0.0 && q == 0.0 && r == 0.0 && s == 0.0) continue;
        double* GAPLESS_RESTRICT to = out.row(m) + at;
        for (Index k = 0; k < wide; ++k)
          to[k] += (p * static_cast<double>(a[k]) + q * static_cast<double>(b[k])) + (r * static_cast<double>(e[k]) + s * static_cast<double>(g[k]));
      }
    }
    for (; i < n; ++i) {
      const T* GAPLESS_RESTRICT a = rows[i] + at;
      for (Index m = 0; m < models; ++m) {
        const double p = c(i, m);
        if (p == 0.0) continue;
        double* GAPLESS_RESTRICT to = out.row(m) + at;
        for (Index k = 0; k < wide; ++k) to[k] += p * static_cast<double>(a[k]);
      }
    }
  }
}

}  // namespace

extern const proof::TableSumLoops table_sum_loops = {add<float>, add<double>};

}  // namespace gapless::GAPLESS_LEVEL
