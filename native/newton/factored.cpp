#include "newton/factored.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blas.hpp"

namespace gapless {
namespace {

constexpr double first_ridge = 1e-14;  // relative to the diagonal of the scaled matrix, which is one: some hundred roundings
constexpr double more = 100.0;         // the factor to the next ridge where one was too small: eight tries to a ridge of one

}  // namespace

Factored::Factored(const double* H, Vector rho) : unit_(rho.size()), factor_(rho.size() * rho.size()) {
  const std::size_t n = rho.size();
  for (std::size_t j = 0; j < n; ++j) {
    const double diagonal = H[j * n + j] + rho[j];
    unit_[j] = 1.0 / std::sqrt(diagonal > 0.0 ? diagonal : 1.0);
  }
  for (double ridge = 0.0;; ridge = std::max(first_ridge, more * ridge)) {
    if (ridge > 1.0) {
      regular_ = false;
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) factor_[i * n + j] = H[i * n + j] * unit_[j] * unit_[i];
      factor_[i * n + i] += rho[i] * unit_[i] * unit_[i] + ridge;
    }
    const int size = static_cast<int>(n);
    int failed = 0;
    blas.dpotrf("U", &size, factor_.data(), &size, &failed);  // the lower triangle of rows is the upper triangle of Fortran's columns
    if (failed == 0) return;
  }
}

void Factored::solve(Vector r, Out x) const {
  const std::size_t n = unit_.size();
  if (!regular_) {
    std::fill(x.begin(), x.end(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (std::size_t j = 0; j < n; ++j) x[j] = unit_[j] * r[j];
  const int size = static_cast<int>(n), one = 1;
  int failed = 0;
  blas.dpotrs("U", &size, &one, factor_.data(), &size, x.data(), &size, &failed);
  for (std::size_t j = 0; j < n; ++j) x[j] *= unit_[j];
}

}  // namespace gapless
