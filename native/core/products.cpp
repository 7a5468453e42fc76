#include "core/products.hpp"

#include <algorithm>
#include <vector>

#include "core/pool.hpp"

namespace gapless {
namespace {

// Stored entries of a piece of work: some 20 µs, beside which the microsecond of handing it over is little.
constexpr double piece_entries = 1 << 16;
// Xᵀβ is cut into parts, each a range of rows with a vector of d sums of its own. These vectors must be cleared and added up at the end, so that a
// part has at least this many entries, and at least 16 for each of its sums.
constexpr double part_entries = 1 << 18;
constexpr double part_depth = 16;
constexpr Index most_parts = 8;  // bounds the memory of the sums; the number of parts must not depend on that of the threads

// Calls work(begin, end) for ranges that cover `count` rows, with about piece_entries entries each.
template <class Work>
void by_pieces(Index count, double all_entries, const Work& work) {
  const Index pieces = std::clamp<Index>(static_cast<Index>(all_entries / piece_entries), 1, std::max<Index>(count, 1));
  share(pieces, [&](Index piece, int) { work(count * piece / pieces, count * (piece + 1) / pieces); });
}

// Writes the transpose of a (rows, columns) matrix, both stored by rows.
void transpose(const double* from, Index rows, Index columns, double* to) {
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < columns; ++c) to[c * rows + i] = from[i * columns + c];
}

}  // namespace

void matvec(const Rows& all, const double* w, Index columns, double* out) {
  std::visit(
      [&](const auto& rows) {
        std::vector<double> turned;
        if constexpr (!std::decay_t<decltype(rows)>::is_sparse) {
          if (columns > 1) {
            turned.resize(static_cast<std::size_t>(rows.d * columns));
            transpose(w, rows.d, columns, turned.data());
          }
        }
        const double* const given = turned.empty() ? w : turned.data();
        const auto& loop = product_loops().of(rows);
        by_pieces(rows.size(), rows.entries() * static_cast<double>(columns),
                  [&](Index begin, Index end) { loop.dots(rows, begin, end, given, columns, out); });
      },
      all);
}

void rmatvec(const Rows& all, const double* beta, Index columns, Index d, double* out) {
  std::visit(
      [&](const auto& rows) {
        constexpr bool dense = !std::decay_t<decltype(rows)>::is_sparse;
        const Index n = rows.size(), width = d * columns;
        const double least = std::max(part_entries, part_depth * static_cast<double>(d));
        const Index parts = std::clamp<Index>(static_cast<Index>(rows.entries() / least), 1, most_parts);
        std::vector<double> sums(static_cast<std::size_t>(width * parts), 0.0);
        const auto& loop = product_loops().of(rows);
        share(parts, [&](Index part, int) {
          loop.combine(rows, n * part / parts, n * (part + 1) / parts, beta, columns, sums.data() + part * width);
        });
        for (Index part = 1; part < parts; ++part)
          for (Index j = 0; j < width; ++j) sums[j] += sums[part * width + j];
        if (dense && columns > 1)
          transpose(sums.data(), columns, d, out);
        else
          std::copy(sums.begin(), sums.begin() + width, out);
      },
      all);
}

void squared_norms(const Rows& all, Index n, Index step, double* out) {
  std::visit(
      [&](const auto& rows) {
        const auto& loop = product_loops().of(rows);
        by_pieces((n + step - 1) / step, rows.entries() / static_cast<double>(step),
                  [&](Index begin, Index end) { loop.squares(rows, begin, end, step, out); });
      },
      all);
}

}  // namespace gapless
