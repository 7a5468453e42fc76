// The objective that Newton's method for linear models minimises, at a model w that it moves:
//
//     Q(w) = ½ Σ ρ_j w_j² + Σ_i φ̃_i(⟨a_i, w⟩),   φ̃(f) = max over lower ≤ β ≤ upper of β (p̃ − f) − ε|β| − ½ d̃ β²
//
// with a = x or (x, 1). It is quadratic between kinks. A loss with kinks is rounded off around some β̄ by − ½ r (β − β̄)²: p̃ = p + r β̄ and
// d̃ = d + r. The gradient is ρ∘w − Σ β a with β = β(f), the Hessian diag ρ + Σ a aᵀ/d̃ over the samples strictly inside a quadratic piece.
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/dual.hpp"
#include "newton/gram.hpp"
#include "newton/sweep.hpp"

namespace gapless {

class Piecewise {
 public:
  // The rows and the box are views that must outlive this. `sparse`: see GramTask; width and centre: see round.
  Piecewise(const Rows& rows, Index d, bool ones, bool sparse, const DualBox& box, Vector rho, Vector w, double width,
            Vector centre);

  // Rounds the loss off around a centre, by r = width / max(upper, −lower) for each sample, or not at all for a width of zero, and looks.
  // An empty centre is half way between zero and the bound on whose side a decision lies: to both sides of its kink.
  void round(double width, Vector centre);

  // Newton's direction: (diag ρ + Hessian) dw = −∇Q. The Hessian, Σ a aᵀ/d̃ over the samples inside, changes by the rows that came and
  // went since the last one of this round, unless many did. `single`: see GramTask.
  void newton(bool single, Out dw);
  const std::vector<double>& hessian(bool single);  // without ρ

  // The same by conjugate gradients, preconditioned by the diagonal, until the squared norm of the residual in that metric has fallen by
  // min(0.01, itself / Q); returns how many rows were multiplied.
  double conjugate(Out dw) const;

  // A step along dw with Q′(t) almost zero (|Q′(t)| ≤ 0.01 |Q′(0)|): returns t, which is 0 where Q does not fall along dw, and moves w, f, β
  // and the sums. Q′ is piecewise linear and rises, so that Newton's method finds its root inside a bracket. Near the optimum the first try,
  // t = 1, is the root; so the pass that finds the decisions along dw also makes all that is needed there.
  double step(Vector dw);

  Index samples() const { return n_; }
  Index columns() const { return d_ + ones_; }
  Index inside_count() const;
  double falls(Vector dw) const;  // −∇Q·dw
  // Of the loss itself: the objective P, and P − D at w and β, but for what a coordinate without a price (ρ = 0) adds.
  double value() const { return penalty_ + sums_.loss; }
  double lacking() const { return sums_.lacking; }  // Σ of Fenchel's gaps
  double moved() const;  // Σ ½ r (β − β̄)²: what the centre of the round costs the dual point
  double residual() const { return residual_; }     // ½ Σ (∇Q)_j²/ρ_j over ρ_j > 0
  double free_slope() const { return free_slope_; } // (∇Q)_j of the coordinate without a price, or zero
  std::vector<double>& w() { return w_; }
  Buffer<double>& f() { return f_; }
  Buffer<double>& beta() { return beta_; }
  std::vector<double>& slope() { return slope_; }  // ∇Q

 private:
  Sweep task() const;
  template <class Work>
  void in_pieces(const Work& work) const;  // work(begin, end) for each piece of the rows
  // Makes the task for each piece of the rows; adds up their sums and, where asked, their Σ (β − last) a into `total`.
  SweepSums pass(const Sweep& common, double* total);
  void prepare(double width, Vector centre);  // the smooth loss of a round
  void look(bool decide);                     // β and the sums at f, which is made first where `decide`
  std::vector<double> ridge() const;  // ρ, and a little where nothing else holds a free intercept: no sample is inside
  void settle();  // what follows from w, Σ β a and the sums
  bool is_inside(Index i) const { return inside_[i] != 0; }

  Rows rows_;
  Index n_, d_;
  bool ones_, sparse_;
  DualBox box_;
  std::vector<double> rho_;
  bool rounded_ = false;
  bool hopeful_ = true;  // whether the last step was t = 1
  std::vector<Index> bounds_;  // of the pieces of the rows
  std::vector<double> w_, total_, slope_;  // total: Σ β a
  Buffer<double> f_, df_, beta_, other_f_, other_beta_, inverse_;
  Buffer<double> p_;                                      // p̃ where the loss is rounded off, otherwise empty
  Buffer<std::uint8_t> inside_, other_inside_, members_;  // members: whose products are in hessian_
  std::vector<double> hessian_;
  bool hessian_single_ = false;
  SweepSums sums_;
  double penalty_ = 0.0, residual_ = 0.0, free_slope_ = 0.0;
};

}  // namespace gapless
