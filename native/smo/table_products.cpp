#include "smo/table_products.hpp"

#include <algorithm>

#include "core/pool.hpp"
#include "core/row_sums.hpp"
#include "core/runs.hpp"

namespace gapless::smo {
namespace {

template <class T>
SumRows<T> sum_rows() {
  if constexpr (sizeof(T) == 4)
    return row_sum_loops().sum_single;
  else
    return row_sum_loops().sum_full;
}

// Samples that lie side by side in the table.
struct Piece {
  Index first, many;
};

std::vector<Piece> pieces_of(Places places) {
  const std::vector<Index> ends = run_ends(places);
  std::vector<Piece> pieces;
  for (Index begin = 0; begin < length(places);) {
    const Index many = std::min(row_columns, ends[begin] - begin);
    pieces.push_back({begin, many});
    begin += many;
  }
  return pieces;
}

}  // namespace

template <class T>
double table_products(Matrix<const T> K, Places places, const std::vector<const double*>& beta, const std::vector<double*>& f) {
  const Index m = length(places), models = count(beta.size());
  std::vector<Index> taken;
  std::vector<double> factors;
  taken.reserve(m);
  factors.reserve(m * models);
  for (Index i = 0; i < m; ++i) {
    if (std::all_of(beta.begin(), beta.end(), [i](const double* each) { return each[i] == 0.0; })) continue;
    taken.push_back(places[i]);
    for (const double* each : beta) factors.push_back(each[i]);
  }
  const Index n = count(taken.size());
  for (double* each : f) std::fill_n(each, m, 0.0);
  if (n == 0) return 0.0;
  const std::vector<Piece> pieces = pieces_of(places);
  share(count(pieces.size()), [&](Index piece, int) {
    const auto [first, many] = pieces[piece];
    std::vector<const T*> rows;
    std::vector<double*> to;
    rows.reserve(taken.size());
    for (const Index row : taken) rows.push_back(K.row(row) + places[first]);
    for (double* each : f) to.push_back(each + first);
    for (Index i = 0; i < n; i += row_group)
      sum_rows<T>()(rows.data() + i, factors.data() + i * models, std::min(row_group, n - i), models, many, to.data());
  });
  return block_roundings(n, 1);
}

template double table_products(Matrix<const float>, Places, const std::vector<const double*>&, const std::vector<double*>&);
template double table_products(Matrix<const double>, Places, const std::vector<const double*>&, const std::vector<double*>&);

}  // namespace gapless::smo
