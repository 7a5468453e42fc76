// A symmetric system (H + diag ρ) x = r, factored once by Cholesky's method. The diagonal is first scaled to one; where the matrix is singular, the
// smallest ridge of a few that makes it positive definite is added.
#pragma once

#include <vector>

#include "core/span.hpp"

namespace gapless {

class Factored {
 public:
  Factored(const double* H, Vector rho);  // H has n × n entries, where n is the length of ρ

  // Writes x; all NaN where no ridge made the matrix positive definite.
  void solve(Vector r, Out x) const;
  Index size() const { return static_cast<Index>(unit_.size()); }

 private:
  std::vector<double> unit_, factor_;  // the scale of each column, and Cholesky's factor of the scaled system
  bool regular_ = true;
};

}  // namespace gapless
