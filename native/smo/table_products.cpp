#include "smo/table_products.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/pool.hpp"
#include "smo/table_reading.hpp"

namespace gapless::smo {
namespace {

constexpr Index strip = 16 * block_rows;  // samples that a thread takes at a time

// The products of at most block_models models.
template <class T>
double products(Matrix<const T> K, Places places, std::span<const double* const> beta, std::span<double* const> f) {
  const Index m = length(places), models = count(beta.size()), padded = (models + block_pad - 1) / block_pad * block_pad;
  std::vector<Index> taken;
  std::vector<double> factors;
  taken.reserve(m + block_ahead);
  factors.reserve(m * padded);
  for (Index i = 0; i < m; ++i) {
    if (std::all_of(beta.begin(), beta.end(), [i](const double* each) { return each[i] == 0.0; })) continue;
    taken.push_back(places[i]);
    for (const double* each : beta) factors.push_back(each[i]);
    factors.resize(factors.size() + padded - models, 0.0);
  }
  const Index n = count(taken.size());
  if (n == 0) {
    for (double* each : f) std::fill_n(each, m, 0.0);
    return 0.0;
  }
  const TableReading<T> reading(K, places, std::move(taken));
  share((m + strip - 1) / strip, [&](Index piece, int) {
    double sums[block_rows * block_models];
    for (Index first = piece * strip; first < std::min((piece + 1) * strip, m); first += block_rows) {
      const Index own = std::min(block_rows, m - first);
      const T* from[block_rows];
      for (Index k = 0; k < block_rows; ++k) from[k] = reading.rows[first + std::min(k, own - 1)];
      sum_block<T>()(from, reading.columns.data(), factors.data(), n, padded, sums, padded);
      for (Index k = 0; k < own; ++k)
        for (Index each = 0; each < models; ++each) f[each][first + k] = sums[k * padded + each];
    }
  });
  return block_roundings(n, 1);
}

}  // namespace

template <class T>
double table_products(Matrix<const T> K, Places places, const std::vector<const double*>& beta, const std::vector<double*>& f) {
  double roundings = 0.0;
  for (std::size_t first = 0; first < beta.size(); first += block_models) {
    const std::size_t many = std::min(beta.size() - first, static_cast<std::size_t>(block_models));
    roundings = std::max(roundings, products<T>(K, places, {beta.data() + first, many}, {f.data() + first, many}));
  }
  return roundings;
}

template double table_products(Matrix<const float>, Places, const std::vector<const double*>&, const std::vector<double*>&);
template double table_products(Matrix<const double>, Places, const std::vector<const double*>&, const std::vector<double*>&);

}  // namespace gapless::smo
