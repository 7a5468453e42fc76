#include "textbook/coordinate_ascent.hpp"

namespace gapless {
namespace {

template <class Dual>
void ascend(const Dual& dual, Matrix<const double> K, Places piece, double* beta, double* f) {
  for (const Index i : piece) {
    const double* row = K.row(i);
    const double old = beta[i];
    const double best = dual.step(i, f[i], old, row[i]);
    if (best == old) continue;
    beta[i] = best;
    for (Index j = 0; j < K.columns; ++j) f[j] += (best - old) * row[j];
  }
}

}  // namespace

void ascend_coordinates(const DualTerms& dual, Matrix<const double> K, Places piece, Out beta, Out f) {
  std::visit([&](const auto& terms) { ascend(terms, K, piece, beta.data(), f.data()); }, dual);
}

}  // namespace gapless
