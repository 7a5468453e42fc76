#include "kernels/plan.hpp"

#include <algorithm>

namespace gapless {
namespace {

constexpr Index some = 1024;  // rows whose mean is taken for the centre of all: any origin near the rows will do

}  // namespace

bool is_sparse(const Samples& X) {
  return std::visit([](const auto& x) { return x.is_sparse; }, X.rows);
}

double stored_entries(const Samples& X) {
  return std::visit(
      [&](const auto& x) {
        if constexpr (x.is_sparse) {
          double total = 0.0;
          for (Index i = 0; i < X.size(); ++i)
            total += static_cast<double>(x.indptr[X.chosen[i] + 1] - x.indptr[X.chosen[i]]);
          return total;
        } else {
          return static_cast<double>(X.size()) * static_cast<double>(x.d);
        }
      },
      X.rows);
}

bool is_worth_sparse(const Samples& X) {
  return is_sparse(X) &&
         stored_entries(X) < dense_share * static_cast<double>(X.size()) * static_cast<double>(X.features());
}

std::vector<double> centre(const Samples& X) {
  if (is_worth_sparse(X)) return {};
  std::vector<double> mean(static_cast<std::size_t>(X.features()), 0.0);
  const Index step = std::max<Index>(1, X.size() / some), rows = (X.size() + step - 1) / step;
  std::visit(
      [&](const auto& x) {
        for (Index i = 0; i < X.size(); i += step) x.add(X.chosen[i], 1.0, mean.data());
      },
      X.rows);
  for (double& value : mean) value /= static_cast<double>(std::max<Index>(1, rows));
  return mean;
}

double largest_norm(const Samples& X, const std::vector<double>& centre) {
  double largest = 0.0;
  std::visit(
      [&](const auto& x) {
        for (Index i = 0; i < X.size(); ++i) {
          double norm = 0.0;
          if constexpr (x.is_sparse) {
            norm = x.square(X.chosen[i]);
          } else {
            const auto* row = x.row(X.chosen[i]);
            double sums[8] = {};
            Index k = 0;
            for (; k + 8 <= x.d; k += 8)
              for (int h = 0; h < 8; ++h) {
                const double value = static_cast<double>(row[k + h]) - centre[static_cast<std::size_t>(k + h)];
                sums[h] += value * value;
              }
            for (int h = 0; k < x.d; ++k, ++h) {
              const double value = static_cast<double>(row[k]) - centre[static_cast<std::size_t>(k)];
              sums[h] += value * value;
            }
            for (double part : sums) norm += part;
          }
          largest = std::max(largest, norm);
        }
      },
      X.rows);
  return largest;
}

}  // namespace gapless
