// A symmetric system (H + diag ρ) x = r, factored once. Columns are first brought to one scale; a singular H gets the least ridge that helps.
#pragma once

#include <vector>

#include "core/span.hpp"

namespace gapless {

class Factored {
 public:
  Factored(const double* H, Vector rho);  // H: n × n, n the length of ρ

  // x, of n entries; NaN where no ridge helped.
  void solve(Vector r, Out x) const;
  Index size() const { return static_cast<Index>(unit_.size()); }

 private:
  std::vector<double> unit_, factor_;  // the scale of each column, and Cholesky's factor of the scaled system
  bool regular_ = true;
};

}  // namespace gapless
