#include "smo/kept_rows.hpp"

#include <algorithm>

#include "core/pool.hpp"
#include "smo/table_loops.hpp"

namespace gapless::smo {
namespace {

constexpr Index piece = 1024;  // columns that a thread adds up at a time, whatever the number of threads

}  // namespace

template <class T>
KeptRows<T>::KeptRows(Panels* panels, Index most)
    : panels_(panels), n_(panels->size()), most_(most), buffer_(static_cast<std::size_t>(most) * n_ * sizeof(T)), slot_(n_, -1) {}

template <class T>
void KeptRows<T>::prepare(Places moved, Vector change, Index reach) {
  T* data = static_cast<T*>(buffer_.data());
  if (reach > reach_ && count_ > 0) panels_->rows(owners_, reach_, reach, Matrix<T>{data, count_, n_, n_});
  reach_ = std::max(reach, reach_);
  std::vector<Index> missing;
  for (const Index i : moved)
    if (slot_[i] < 0 && count_ + length(Places(missing)) < most_) missing.push_back(i);
  if (!missing.empty()) {
    panels_->rows(missing, 0, reach_, Matrix<T>{data + count_ * n_, length(Places(missing)), n_, n_});
    for (const Index i : missing) {
      slot_[i] = count_++;
      owners_.push_back(i);
    }
  }
  rows_.clear();
  factors_.clear();
  others_.clear();
  other_change_.clear();
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const Index i = moved[k];
    if (slot_[i] >= 0) {
      rows_.push_back(data + slot_[i] * n_);
      factors_.push_back(static_cast<T>(change[k]));
    } else {
      others_.push_back(i);
      other_change_.push_back(change[k]);
    }
  }
}

template <class T>
void KeptRows<T>::add(Index begin, Index end, double* sums) {
  const auto& sweeps = table_sweeps<T>();
  const Index first = begin / piece, last = (end + piece - 1) / piece;
  share(last - first, [&](Index k, int) {
    const Index from = std::max((first + k) * piece, begin), until = std::min((first + k + 1) * piece, end);
    sweeps.spread(rows_.data(), factors_.data(), count(rows_.size()), from, until, sums);
  });
}

template <class T>
void KeptRows<T>::expand(Places moved, Vector change, Places to, Index reach, double* out) {
  prepare(moved, change, reach);
  if (!others_.empty()) panels_->expand(others_, other_change_, to, out);
  if (rows_.empty() || to.empty()) return;
  sums_.assign(reach, 0.0);
  add(0, reach, sums_.data());
  for (const Index k : to) out[k] += sums_[k];
}

template <class T>
void KeptRows<T>::expand(Places moved, Vector change, Index begin, Index end, Index reach, double* out) {
  prepare(moved, change, reach);
  if (!others_.empty()) panels_->expand(others_, other_change_, begin, end, out);
  if (!rows_.empty()) add(begin, end, out);
}

template class KeptRows<float>;
template class KeptRows<double>;

}  // namespace gapless::smo
