// The dual terms of some variables, copied side by side.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "core/span.hpp"

namespace gapless::smo {

namespace detail {

inline std::vector<const double* DualBox::*> members(const DualBox*) {
  return {&DualBox::p, &DualBox::epsilon, &DualBox::d, &DualBox::lower, &DualBox::upper};
}
inline std::vector<const double* DualEntropy::*> members(const DualEntropy*) {
  return {&DualEntropy::y, &DualEntropy::cost, &DualEntropy::lower, &DualEntropy::upper};
}

}  // namespace detail

template <class Dual>
class TakenTerms {
 public:
  // The terms of the chosen variables; the view holds until the next call.
  const Dual& take(const Dual& from, Places chosen) {
    const Index n = length(chosen);
    store_.resize(members_.size() * n);
    double* to = store_.data();
    for (const auto member : members_) {
      const double* values = from.*member;
      for (Index k = 0; k < n; ++k) to[k] = values[chosen[k]];
      view_.*member = to;
      to += n;
    }
    view_.n = n;
    return view_;
  }

 private:
  std::vector<const double* Dual::*> members_ = detail::members(static_cast<const Dual*>(nullptr));
  std::vector<double> store_;
  Dual view_ = {};
};

}  // namespace gapless::smo
