#include "newton/sampling.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/pool.hpp"
#include "newton/sweep.hpp"

namespace gapless {

void leverage(const Rows& rows, Index d, Index step, Out out) {
  std::vector<double> weight(static_cast<std::size_t>(d));
  const Index n = length(out);
  std::visit(
      [&]<class R>(const R& typed) {
        for (Index i = 0; i < n; i += step) {
          if constexpr (R::is_sparse)
            for (Index k = typed.indptr[i]; k < typed.indptr[i + 1]; ++k)
              weight[typed.indices[k]] += typed.value(k) * typed.value(k);
          else
            for (Index j = 0; j < d; ++j) {
              const auto value = static_cast<double>(typed.row(i)[j]);
              weight[static_cast<std::size_t>(j)] += value * value;
            }
        }
      },
      rows);
  for (double& each : weight) each = 1.0 / std::max(each * static_cast<double>(step), std::numeric_limits<double>::min());
  const SweepLoops& loops = sweep_loops();
  constexpr Index piece_rows = 1 << 14;  // rows of a piece: with few features their squares take some 50 µs
  const Index pieces = (n + piece_rows - 1) / piece_rows;
  const void* typed = std::visit([](const auto& each) { return static_cast<const void*>(&each); }, rows);
  share(pieces, [&](Index piece, int) {
    const Index begin = piece * piece_rows, end = std::min(n, begin + piece_rows);
    loops.squares[rows.index()](typed, weight.data(), begin, end, out.data());
    for (Index i = begin; i < end; ++i)  // a leverage is at most one, however rare the row's features are in the sums
      out[static_cast<std::size_t>(i)] = std::min(out[static_cast<std::size_t>(i)], 1.0);
  });
}

}  // namespace gapless
