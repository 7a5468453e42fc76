// The objective that Newton's method for linear models minimises, and the model w that its steps move:
//
//     Q(w) = ½ Σ ρ_j w_j² + Σ_i φ̃_i(⟨a_i, w⟩),   φ̃(f) = max over lower ≤ β ≤ upper of β (p̃ − f) − ε|β| − ½ d̃ β²
//
// with a = x or (x, 1). Q is quadratic between kinks. A loss with kinks of its derivative is rounded off: the term −½ r (β − β̄)² is added in the
// maximum, around a centre β̄, which makes p̃ = p + r β̄ and d̃ = d + r. The gradient of Q is ρ∘w − Σ β a with β = β(f), and its Hessian is
// diag ρ + Σ a aᵀ/d̃ over the samples strictly inside a quadratic piece.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "core/dual.hpp"
#include "newton/gram.hpp"
#include "newton/sweep.hpp"

namespace gapless {

class Piecewise {
 public:
  // The rows and the box are views that must outlive this object. GramTask explains `sparse`, and round() explains width and centre.
  Piecewise(const Rows& rows, Index d, bool ones, bool sparse, const DualBox& box, Vector rho, Vector w, double width,
            Vector centre);

  // Rounds the loss off around a centre β̄, by r = width / max(upper, −lower) for each sample (not at all for a width of zero), and computes β and
  // the sums anew. Without a centre, β̄ is half way between zero and the bound on whose side the decision lies, so that the kink is rounded off to
  // both sides.
  void round(double width, Vector centre);

  // Writes Newton's direction dw, by a factorisation of the Hessian. Σ a aᵀ/d̃ over the samples inside is updated by the rows that came and went
  // since the last direction of this round, and computed anew where many did. GramTask explains `single`.
  void newton(bool single, Out dw);
  const std::vector<double>& hessian(bool single);  // Σ a aᵀ/d̃ over the samples inside: the Hessian without ρ

  // Writes Newton's direction dw, by conjugate gradients that are preconditioned by the diagonal, until the squared norm z of the residual in that
  // metric has fallen by the factor min(0.01, √(z/Q)) with z at the start; returns how many rows were multiplied.
  double conjugate(Out dw) const;

  // Moves w, f, β and the sums by a step t dw with Q′(t) almost zero (|Q′(t)| ≤ 0.01 |Q′(0)|), and returns t; 0 where Q does not fall along dw. Q′(t)
  // is piecewise linear and rises, so that Newton's method finds its root inside a bracket. Near the optimum the first try, t = 1, is the root: where
  // the last step was t = 1, the pass that computes the decisions along dw also computes β and the sums at t = 1.
  double step(Vector dw);

  // Moves along Newton's direction; returns (−∇Q·dw, the step t), and stays where Q does not fall along it.
  std::pair<double, double> descend(bool single);

  Index samples() const { return n_; }
  Index columns() const { return d_ + ones_; }
  Index inside_count() const;
  double falls(Vector dw) const;  // −∇Q·dw
  // Of the loss as it is, not rounded off: the objective P, and the sum of Fenchel's gaps, which with residual() is P − D at w and β (a coordinate
  // with ρ = 0 adds to it).
  double value() const { return penalty_ + sums_.loss; }
  double lacking() const { return sums_.lacking; }
  double moved() const;  // Σ ½ r (β − β̄)²: by how much the rounding off lowers D at β
  double residual() const { return residual_; }     // ½ Σ (∇Q)_j²/ρ_j over ρ_j > 0
  double free_slope() const { return free_slope_; } // (∇Q)_j of the coordinate with ρ_j = 0 (a free intercept); zero where there is none
  std::vector<double>& w() { return w_; }
  Buffer<double>& f() { return f_; }
  Buffer<double>& beta() { return beta_; }
  std::vector<double>& slope() { return slope_; }  // ∇Q

 private:
  Sweep task() const;
  template <class Work>
  void in_pieces(const Work& work) const;  // work(begin, end) for each piece of the rows
  // Does the task for each piece of the rows; adds up their sums and, where `total` is not null, their Σ (β − last) a into it.
  SweepSums pass(const Sweep& common, double* total);
  void prepare(double width, Vector centre);  // sets p̃ and 1/d̃ of a round
  void look(bool decide);                     // computes β and the sums at f, and f = A w first where `decide`
  // ρ; where no sample is inside, Σ 1/d̃ for a free intercept, whose row of the Hessian would be zero.
  std::vector<double> ridge() const;
  void settle();  // computes the slope and the parts of the objective that follow from w and Σ β a
  bool is_inside(Index i) const { return inside_[i] != 0; }

  Rows rows_;
  Index n_, d_;
  bool ones_, sparse_;
  DualBox box_;
  std::vector<double> rho_;
  bool rounded_ = false;
  bool hopeful_ = true;        // whether the last step was t = 1, so that the next one is likely to be
  std::vector<Index> bounds_;  // the bounds of the pieces of the rows
  std::vector<double> w_, total_, slope_;  // total: Σ β a
  Buffer<double> f_, df_, beta_, other_f_, other_beta_, inverse_;
  Buffer<double> p_;                                      // p̃ where the loss is rounded off, otherwise empty
  Buffer<std::uint8_t> inside_, other_inside_, members_;  // members_: the samples whose products are in hessian_
  std::vector<double> hessian_;
  bool hessian_single_ = false;
  SweepSums sums_;
  double penalty_ = 0.0, residual_ = 0.0, free_slope_ = 0.0;
};

}  // namespace gapless
