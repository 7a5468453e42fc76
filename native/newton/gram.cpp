#include "newton/gram.hpp"

#include <algorithm>
#include <vector>

#include "core/pool.hpp"

namespace gapless {
namespace {

// Multiplications of one piece of the work: some 0.2 ms, many times as long as handing it to a thread takes.
constexpr double piece_products = 4e6;
// The most pieces, each of which has a matrix of its own; for matrices of more than 256 columns two, since adding up matrices takes time and memory.
constexpr Index most_pieces = 8, large_pieces = 2, large = 256;

template <class R>
void add_products(const R& rows, const GramTask& task, Index begin, Index end, Index columns, double* out) {
  for (Index k = begin; k < end; ++k) {
    const Index i = task.chosen ? task.chosen[k] : k;
    const double weight = task.weight[k];
    const Index first = rows.indptr[i], last = rows.indptr[i + 1];
    double* const bottom = out + (columns - 1) * columns;
    for (Index e = first; e < last; ++e) {
      double* const row = out + static_cast<Index>(rows.indices[e]) * columns;
      const double scaled = weight * rows.value(e);
      for (Index g = first; g <= e; ++g) row[rows.indices[g]] += scaled * rows.value(g);
      if (task.ones) bottom[rows.indices[e]] += scaled;
    }
    if (task.ones) bottom[columns - 1] += weight;
  }
}

Index pieces_of(double products, Index columns) {
  return std::clamp<Index>(static_cast<Index>(products / piece_products), 1, columns > large ? large_pieces : most_pieces);
}

// Runs add(begin, end, matrix) on pieces of the chosen rows, where rows of the matrices are `padded` numbers apart, and writes the sum of the
// matrices.
template <class Add>
void in_pieces(Index pieces, Index count, Index columns, Index padded, const Add& add, double* out) {
  std::vector<double> sums(static_cast<std::size_t>(pieces * padded * padded));
  share(pieces, [&](Index piece, int) {
    add(count * piece / pieces, count * (piece + 1) / pieces, sums.data() + piece * padded * padded);
  });
  for (Index i = 0; i < columns; ++i)
    for (Index j = 0; j <= i; ++j) {
      double total = 0.0;
      for (Index piece = 0; piece < pieces; ++piece) total += sums[static_cast<std::size_t>((piece * padded + i) * padded + j)];
      out[i * columns + j] = out[j * columns + i] = total;
    }
}

template <class R>
void sparse_gram(const R& rows, const GramTask& task, Index columns, double* out) {
  const double length = rows.entries() / std::max<double>(1.0, static_cast<double>(rows.n));
  in_pieces(pieces_of(0.5 * static_cast<double>(task.count) * length * length, columns), task.count, columns, columns,
            [&](Index begin, Index end, double* to) { add_products(rows, task, begin, end, columns, to); }, out);
}

}  // namespace

void weighted_gram(const Rows& rows, const GramTask& task, double* out) {
  const GramLoops& loops = gram_loops();
  std::visit(
      [&]<class R>(const R& typed) {
        const Index columns = typed.d + task.ones;
        if constexpr (R::is_sparse) {
          if (task.sparse) return sparse_gram(typed, task, columns, out);
        }
        const bool single = task.single && std::is_same_v<R, DenseRows<float>>;
        const Index width = single ? loops.width32 : loops.width64;
        const Index padded = (columns + width - 1) / width * width;
        const double products = 0.5 * static_cast<double>(task.count) * static_cast<double>(columns * columns);
        in_pieces(
            pieces_of(products, columns), task.count, columns, padded,
            [&](Index begin, Index end, double* to) {
              const auto size = static_cast<std::size_t>(2 * gram_depth * padded);
              if (single) {
                std::vector<float> room(size);
                loops.add32(&typed, task, begin, end, padded, room.data(), to);
              } else {
                std::vector<double> room(size);
                loops.add64[rows.index()](&typed, task, begin, end, padded, room.data(), to);
              }
            },
            out);
      },
      rows);
}

void gather(const Rows& rows, Places chosen, Index columns, double* out) {
  std::visit(
      [&]<class R>(const R& typed) {
        for (Index k = 0; k < length(chosen); ++k) {
          const Index i = chosen[static_cast<std::size_t>(k)];
          double* const to = out + k * columns;
          std::fill_n(to, columns, 0.0);
          if constexpr (R::is_sparse)
            for (Index e = typed.indptr[i]; e < typed.indptr[i + 1]; ++e) to[typed.indices[e]] = typed.value(e);
          else
            std::copy_n(typed.row(i), typed.d, to);
          if (columns > typed.d) to[typed.d] = 1.0;
        }
      },
      rows);
}

}  // namespace gapless
