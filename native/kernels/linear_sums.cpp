#include "kernels/linear_sums.hpp"

#include <algorithm>
#include <vector>

#include "core/pool.hpp"
#include "core/products.hpp"
#include "kernels/pieces.hpp"

namespace gapless {
namespace {

constexpr Index piece_rows = 256;  // rows whose products are computed at a time

}  // namespace

void add_linear_sums(const Samples& X, Chosen left, Vector c, Chosen to, double* out, const Index* places) {
  const Index d = X.features();
  std::visit(
      [&](const auto& rows) {
        // The rows of the matrix that the samples are: several samples may be one row.
        std::vector<double> scale(static_cast<std::size_t>(rows.size()), 0.0), w(static_cast<std::size_t>(d), 0.0);
        for (Index i = 0; i < left.n; ++i) scale[static_cast<std::size_t>(X.chosen[left[i]])] += c[static_cast<std::size_t>(i)];
        rmatvec(X.rows, scale.data(), 1, d, w.data());
        const auto& loop = product_loops().of(rows);
        const double entries = rows.entries() / static_cast<double>(std::max<Index>(1, rows.size()));
        share_entries((to.n + piece_rows - 1) / piece_rows, static_cast<Index>(entries * static_cast<double>(to.n)), [&](Index piece, int) {
          // Rows that follow each other are multiplied in one go.
          double values[piece_rows];
          const Index end = std::min(to.n, (piece + 1) * piece_rows);
          for (Index k = piece * piece_rows; k < end;) {
            const Index first = X.chosen[to[k]];
            Index n = 1;
            while (k + n < end && X.chosen[to[k + n]] == first + n) ++n;
            loop.dots_at(rows, first, first + n, w.data(), values);
            for (Index h = 0; h < n; ++h) out[places ? places[k + h] : k + h] += values[h];
            k += n;
          }
        });
      },
      X.rows);
}

}  // namespace gapless
