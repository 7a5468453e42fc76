// This file is compiled without contraction, as all of the proof is.
#include "proof/table_sums.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

constexpr Index piece = 256;  // columns at a time: four rows of them, and the sums of a model, stay in the nearest cache

template <class T>
void add(const T* const* rows, Matrix<const double> c, Index begin, Index end, Matrix<double> out) {
  const Index n = c.rows, models = c.columns;
  double sums[piece];
  for (Index at = begin; at < end; at += piece) {
    const Index wide = at + piece < end ? piece : end - at;
    for (Index from = 0; from < n; from += proof::table_group) {
      const Index until = from + proof::table_group < n ? from + proof::table_group : n;
      for (Index m = 0; m < models; ++m) {
        bool any = false;
        for (Index i = from; i < until && !any; ++i) any = c(i, m) != 0.0;
        if (!any) continue;
        for (Index k = 0; k < wide; ++k) sums[k] = 0.0;
        Index i = from;
        for (; i + 4 <= until; i += 4) {
          const double p = c(i, m), q = c(i + 1, m), r = c(i + 2, m), s = c(i + 3, m);
          if (p == 0.0 && q == 0.0 && r == 0.0 && s == 0.0) continue;
          const T *GAPLESS_RESTRICT a = rows[i] + at, *GAPLESS_RESTRICT b = rows[i + 1] + at;
          const T *GAPLESS_RESTRICT e = rows[i + 2] + at, *GAPLESS_RESTRICT g = rows[i + 3] + at;
          for (Index k = 0; k < wide; ++k)
            sums[k] += (p * static_cast<double>(a[k]) + q * static_cast<double>(b[k])) + (r * static_cast<double>(e[k]) + s * static_cast<double>(g[k]));
        }
        for (; i < until; ++i) {
          const double p = c(i, m);
          const T* GAPLESS_RESTRICT a = rows[i] + at;
          for (Index k = 0; k < wide; ++k) sums[k] += p * static_cast<double>(a[k]);
        }
        double* GAPLESS_RESTRICT to = out.row(m) + at;
        for (Index k = 0; k < wide; ++k) to[k] += sums[k];
      }
    }
  }
}

}  // namespace

extern const proof::TableSumLoops table_sum_loops = {add<float>, add<double>};

}  // namespace gapless::GAPLESS_LEVEL
