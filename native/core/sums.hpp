// A sum that keeps what rounding loses (Neumaier 1974). It needs files that are compiled without reassociation, as all files here are.
#pragma once

namespace gapless {

class Sum {
 public:
  void add(double value) {
    const double total = total_ + value, part = total - total_;
    lost_ += (total_ - (total - part)) + (value - part);  // Knuth's form of the lost part, the same number without a branch
    total_ = total;
  }
  double value() const { return total_ + lost_; }

 private:
  double total_ = 0.0, lost_ = 0.0;
};

}  // namespace gapless
