// A sum that keeps what rounding loses (Neumaier 1974). Files that use it are compiled without reassociation, as all of ours are.
#pragma once

#include <cmath>

namespace gapless {

class Sum {
 public:
  void add(double value) {
    const double total = total_ + value;
    lost_ += std::fabs(total_) >= std::fabs(value) ? (total_ - total) + value : (value - total) + total_;
    total_ = total;
  }
  double value() const { return total_ + lost_; }

 private:
  double total_ = 0.0, lost_ = 0.0;
};

}  // namespace gapless
