#include "smo/face_factor.hpp"

#include <algorithm>
#include <cmath>

namespace gapless::smo {
namespace {

constexpr double indefinite = 1e-8;  // a pivot below minus this share of its diagonal entry is no rounding
constexpr Index least_room = 64;

}  // namespace

void FaceFactor::begin(Index groups) {
  for (Index i = 0; i < n_; ++i) std::fill(row(i), row(i) + n_, 0.0);
  n_ = 0;
  A_.assign(groups, std::vector<double>(stride_));
}

bool FaceFactor::append(Index group, const std::vector<double>& column, double diagonal, double ridge) {
  make_room();
  given_.assign(stride_, 0.0);
  std::copy(column.begin(), column.begin() + n_, given_.begin());
  last_.assign(stride_, 0.0);
  forward(given_.data(), last_.data());
  const double pivot = diagonal - dot(last_.data(), last_.data());
  if (!(pivot > -indefinite * diagonal)) return false;
  const double root = std::sqrt(std::max(pivot, 0.5 * ridge));
  for (Index g = 0; g < count(A_.size()); ++g) A_[g][n_] = ((g == group ? 1.0 : 0.0) - dot(last_.data(), A_[g].data())) / root;
  for (Index i = 0; i < n_; ++i) row(i)[n_] = last_[i];
  diagonal_[n_] = root;
  ++n_;
  return true;
}

void FaceFactor::remove(Index place) {
  for (Index i = 0; i < n_; ++i) {
    double* from = row(i) + std::max(place, i) + 1;
    std::move(from, row(i) + n_, from - 1);
    row(i)[n_ - 1] = 0.0;
  }
  --n_;
  for (Index i = place; i < n_; ++i) {  // the row below begins one place too far to the left, with its diagonal entry
    double& above = row(i)[i];
    const double below = diagonal_[i + 1], length = std::sqrt(above * above + below * below), c = above / length, s = below / length;
    above = 0.0;
    diagonal_[i] = length;
    loops_.rotate(i + 1, n_, c, s, row(i), row(i + 1));
    for (std::vector<double>& a : A_) {
      const double upper = a[i];
      a[i] = c * upper + s * a[i + 1];
      a[i + 1] = c * a[i + 1] - s * upper;
    }
  }
  for (std::vector<double>& a : A_) a[n_] = 0.0;
}

void FaceFactor::make_room() {
  if (n_ < stride_) return;
  const Index wide = std::max(least_room, 2 * stride_);
  std::vector<double> larger(wide * wide);
  for (Index i = 0; i < n_; ++i) std::copy(row(i), row(i) + n_, larger.begin() + i * wide);
  R_ = std::move(larger);
  stride_ = wide;
  diagonal_.resize(wide);
  for (std::vector<double>& a : A_) a.resize(wide);
}

}  // namespace gapless::smo
