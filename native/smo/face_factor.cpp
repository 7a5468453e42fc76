#include "smo/face_factor.hpp"

#include <algorithm>
#include <cmath>

namespace gapless::smo {
namespace {

constexpr double indefinite = 1e-8;  // a pivot below minus this share of its diagonal entry is no rounding

}  // namespace

void FaceFactor::begin(Index groups) {
  n_ = 0;
  A_.assign(groups, {});
}

bool FaceFactor::append(Index group, const double* column, double diagonal, double ridge) {
  make_room();
  last_.assign(column, column + n_);
  forward(last_.data());
  const double pivot = diagonal - dot(last_.data(), last_.data());
  if (!(pivot > -indefinite * diagonal)) return false;
  for (Index i = 0; i < n_; ++i) row(i)[n_] = last_[i];
  const double root = std::sqrt(std::max(pivot, 0.5 * ridge));
  row(n_)[n_] = root;
  for (Index g = 0; g < count(A_.size()); ++g) A_[g].push_back(((g == group ? 1.0 : 0.0) - dot(last_.data(), A_[g].data())) / root);
  ++n_;
  return true;
}

void FaceFactor::remove(Index place) {
  for (Index i = 0; i < n_; ++i) {
    double* from = row(i) + std::max(place + 1, i);
    std::move(from, row(i) + n_, from - 1);
  }
  --n_;
  for (Index i = place; i < n_; ++i) {  // the row below begins one place too far to the left
    double *above = row(i) + i, *below = row(i + 1) + i;
    const double length = std::hypot(*above, *below);
    const double c = *above / length, s = *below / length;
    loops_.rotate(n_ - i, c, s, above, below);
    for (std::vector<double>& a : A_) {
      const double upper = a[i];
      a[i] = c * upper + s * a[i + 1];
      a[i + 1] = c * a[i + 1] - s * upper;
    }
  }
  for (std::vector<double>& a : A_) a.pop_back();
}

void FaceFactor::make_room() {
  if (n_ < stride_) return;
  const Index wide = std::max<Index>(64, 2 * stride_);
  std::vector<double> larger(wide * wide);
  for (Index i = 0; i < n_; ++i) std::copy(row(i), row(i) + n_, larger.begin() + i * wide);
  R_ = std::move(larger);
  stride_ = wide;
}

}  // namespace gapless::smo
