// The factor of the matrix of a face (face_walk.hpp): M = RᵀR, where R is triangular. A variable that joins the face is appended as a column, and one
// that leaves it is removed by rotations of the rows below it; each takes about n² operations for a face of n variables. A = R⁻ᵀE, where E says which
// group a variable is in, is kept along with R.
//
// The diagonal of R is kept apart, and everything else but the entries above it is zero: loops go over whole vectors from where a row begins, or a few
// places before, to a multiple of `FaceFactor::step` places.
#pragma once

#include <vector>

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless::smo {

struct FactorLoops {
  // x = R⁻ᵀ b and x = R⁻¹ b. The rows of R begin `stride` entries apart; b is overwritten, and x is not b.
  void (*forward)(const double* R, const double* diagonal, Index stride, Index n, double* b, double* x);
  void (*backward)(const double* R, const double* diagonal, Index stride, Index n, const double* b, double* x);
  // (a, b) = (c a + s b, c b − s a), entry by entry, from place `begin` on, or a few places before it.
  void (*rotate)(Index begin, Index end, double c, double s, double* a, double* b);
  double (*dot)(Index n, const double* a, const double* b);
};

GAPLESS_DECLARE_LEVELS(FactorLoops, factor_loops)

class FaceFactor {
 public:
  static constexpr Index step = 8;  // float64 numbers of the widest vectors

  // The room that a vector of n numbers needs here; the numbers after its n must be zero.
  static Index room(Index n) { return (n + step - 1) / step * step; }

  Index size() const { return n_; }
  // An empty face of variables in so many groups.
  void begin(Index groups);

  // Appends a variable of a group, given its column of M (entries with the members so far) and its diagonal entry, of which the share `ridge` is not
  // from the kernel: what rounding leaves of the pivot is at least half of that. False where the pivot shows that M is not positive definite.
  bool append(Index group, const std::vector<double>& column, double diagonal, double ridge);
  void remove(Index place);
  // Vectors of room(n) numbers; `forward` overwrites b.
  void forward(double* b, double* x) const { loops_.forward(R_.data(), diagonal_.data(), stride_, n_, b, x); }
  void backward(const double* b, double* x) const { loops_.backward(R_.data(), diagonal_.data(), stride_, n_, b, x); }
  const double* A(Index group) const { return A_[group].data(); }
  double dot(const double* a, const double* b) const { return loops_.dot(n_, a, b); }

 private:
  double* row(Index i) { return R_.data() + i * stride_; }
  void make_room();

  const FactorLoops& loops_ = factor_loops();
  std::vector<double> R_, diagonal_, given_, last_;
  std::vector<std::vector<double>> A_;  // a column for each group
  Index n_ = 0, stride_ = 0;
};

}  // namespace gapless::smo
