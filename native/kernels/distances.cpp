#include "kernels/distances.hpp"

#include <algorithm>
#include <vector>

#include "core/pool.hpp"

namespace gapless {
namespace {

constexpr Index side = 128;  // samples of a square piece: its features on both sides, and what is mirrored, stay in the second cache

}  // namespace

void squared_distances(Matrix<const double> X, Matrix<double> out) {
  const Index n = X.rows, d = X.columns, pieces = (n + side - 1) / side;
  std::vector<double> columns(static_cast<std::size_t>(n * d));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j) columns[j * n + i] = X(i, j);
  share(pieces, [&](Index piece, int) {
    const Index first = piece * side, last = std::min(first + side, n);
    for (Index begin = first; begin < n; begin += side) {
      const Index end = std::min(begin + side, n);
      distance_loops().squares(X, columns.data(), n, first, last, begin, end, out);
      for (Index j = begin; j < end; ++j)
        for (Index i = first; i < last; ++i) out(j, i) = out(i, j);
    }
  });
}

void gaussian(Matrix<const double> distances, double gamma, Matrix<double> out) {
  share(distances.rows, [&](Index i, int) { distance_loops().gaussian(distances.row(i), gamma, distances.columns, out.row(i)); });
}

}  // namespace gapless
