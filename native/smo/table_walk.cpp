#include "smo/table_walk.hpp"

#include <algorithm>

namespace gapless::smo {

template <class T>
void TableWalk::stand_on(Matrix<const T> K, Places places, const std::vector<Index>& ends) {
  if (places.data() == places_.data() && K.data == K_) return;
  places_ = places;
  ends_ = ends.data();
  K_ = K.data;
  stride_ = K.stride;
  fetch_ = fetch<T>;
  there_.assign(places.size(), 0);
  rows_.resize(std::max(rows_.size(), places.size() * places.size()));
}

template <class T>
void TableWalk::fetch(void* self, Index i) {
  TableWalk& own = *static_cast<TableWalk*>(self);
  const Index m = length(own.places_);
  const T* const from = static_cast<const T*>(own.K_) + own.places_[i] * own.stride_;
  double* const to = own.rows_.data() + i * m;
  for (Index j = 0; j < m; j = own.ends_[j])
    for (Index k = j; k < own.ends_[j]; ++k) to[k] = static_cast<double>(from[own.places_[j] + k - j]);
  own.there_[i] = 1;
}

bool TableWalk::solve(const DualBox& dual, const double* diagonal, Places groups, Vector totals, double target, double most_work, double* beta,
                      double* f) {
  const Index m = length(places_);
  const TableRows<double> K({rows_.data(), m, m, m}, there_.data(), fetch_, this);
  return walk_.go({dual, diagonal, K, {groups.data(), 1}, totals.data(), true}, target, most_work, beta, f) == FaceWalk::End::reached;
}

template void TableWalk::stand_on(Matrix<const float>, Places, const std::vector<Index>&);
template void TableWalk::stand_on(Matrix<const double>, Places, const std::vector<Index>&);

}  // namespace gapless::smo
