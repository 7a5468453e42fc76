// The factor of the matrix of a face (face_walk.hpp): M = RᵀR, where R is triangular. A variable that joins the face is appended as a column, and one
// that leaves it is removed by rotations of the rows below it; each takes about n² operations for a face of n variables. A = R⁻ᵀE, where E says which
// group a variable is in, is kept along with R.
#pragma once

#include <vector>

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless::smo {

struct FactorLoops {
  // b = R⁻ᵀ b and b = R⁻¹ b. The rows of R begin `stride` entries apart, and only entries on and right of the diagonal are read.
  void (*forward)(const double* R, Index stride, Index n, double* b);
  void (*backward)(const double* R, Index stride, Index n, double* b);
  // (a, b) = (c a + s b, c b − s a), entry by entry.
  void (*rotate)(Index n, double c, double s, double* a, double* b);
  double (*dot)(Index n, const double* a, const double* b);
};

GAPLESS_DECLARE_LEVELS(FactorLoops, factor_loops)

class FaceFactor {
 public:
  Index size() const { return n_; }
  // An empty face of variables in so many groups.
  void begin(Index groups);

  // Appends a variable of a group, given its column of M (entries with the members so far) and its diagonal entry, of which the share `ridge` is not from the
  // kernel: what rounding leaves of the pivot is at least half of that. False where the pivot shows that M is not positive definite.
  bool append(Index group, const double* column, double diagonal, double ridge);
  void remove(Index place);
  void forward(double* b) const { loops_.forward(R_.data(), stride_, n_, b); }
  void backward(double* b) const { loops_.backward(R_.data(), stride_, n_, b); }
  const double* A(Index group) const { return A_[group].data(); }
  double dot(const double* a, const double* b) const { return loops_.dot(n_, a, b); }

 private:
  double* row(Index i) { return R_.data() + i * stride_; }
  void make_room();

  const FactorLoops& loops_ = factor_loops();
  std::vector<double> R_, last_;
  std::vector<std::vector<double>> A_;  // a column for each group
  Index n_ = 0, stride_ = 0;
};

}  // namespace gapless::smo
