// Mehrotra's predictor–corrector method for a sum of hinges, on a matrix A of few columns (Mehrotra 1992; Ferris & Munson 2003):
//
//     min over w of  ½ Σ ρ_j w_j² − gᵀw + Σ over halves h(t − σ ⟨a, w⟩),   h(r) = max over 0 ≤ α ≤ c of α r − ½ d α²
//
// A row a of A has one or two halves (σ = +1 or −1), a price c and a target t each, and a bend d: the hinge is one half without a bend, for which
// h(r) = c max(0, r), the ε-insensitive loss two, and their squares have a bend and a price that no optimum reaches. With the surplus u, the
// slack ξ and the multiplier α of a half, σf − t + dα = u − ξ, and on the central path u α = ξ (c − α) = cμ. Eliminating all of them leaves
//
//     (diag ρ + AᵀTA) dw = g − ρ∘w + Aᵀ(β + σTq),   T = 1/(u/α + ξ/(c − α) + d),   dα = T (q − σ A dw),
//
// so that an iteration costs one weighted AᵀA, four products with A, and a factorisation whose size is the number of columns. Each pass computes the
// terms of some samples and multiplies their rows while these are in the cache.
#pragma once

#include <vector>

#include "core/dual.hpp"
#include "core/isa.hpp"
#include "core/rows.hpp"

namespace gapless {

// One pass over the samples [begin, end). Arrays of halves hold the first half of every sample, then the second half of every sample.
struct BarrierTask {
  DenseRows<double> A;
  Index begin, end;
  int halves;
  const double *sign, *target, *price, *bend;
  double *alpha, *surplus, *slack;     // the iterate
  double *dalpha, *dsurplus, *dslack;  // the corrected direction
  const double *f, *direction;         // the decisions A w, and a step of w whose product with A the pass computes
  double *weight, *rhs;                // T, and β + σTq
  double *aimed, *df;                  // A times the predictor's step, and A times the corrector's step
  double *total;                       // Aᵀ rhs is added to it
  double mu, step;
};

// The results of a pass: `blocking` is a largest value, the others are sums.
struct BarrierSums {
  double blocking;          // 1 over the step to the nearest bound
  double zero, two, total;  // complementarity along the affine direction is (1 − t) zero + t² two; on the path at μ = 1 it is total
  double lacking, loss;     // Σ uα + ξ(c − α), Σ h(t − σf)
};

// The passes of an iteration in their order, each with the arrays that it writes and, after the semicolon, the sums that it returns.
struct BarrierLoops {
  BarrierSums (*predictor)(const BarrierTask&);  // weight, rhs, total
  BarrierSums (*predict)(const BarrierTask&);    // aimed; blocking, zero, two, total
  BarrierSums (*corrector)(const BarrierTask&);  // rhs, total
  BarrierSums (*correct)(const BarrierTask&);    // df, dalpha, dsurplus, dslack; blocking
  BarrierSums (*move)(const BarrierTask&);       // alpha, surplus, slack after the step; lacking and loss at f
};

GAPLESS_DECLARE_LEVELS(BarrierLoops, barrier_loops)

class Barrier {
 public:
  // A is a view that must outlive this. The halves are those whose conjugate is the box, all of whose bounds are finite: of price upper at
  // p − ε − f, of price −lower at f − p − ε, prices times `factor` (empty: one) and bends divided by it. `constant` is what the value lacks of the whole problem's. It begins at w with all halves centred as if
  // μ were `width`: their residual of feasibility is zero.
  Barrier(const DenseRows<double>& A, const DualBox& box, Vector factor, Vector rho, Vector g, double constant, Vector w,
          double width);

  void iterate();  // one predictor and one corrector step

  std::vector<double> beta() const;  // Σ σα over a sample's halves
  double gap() const { return lacking_ + infeasible_ * residual_; }  // an estimate of P − D
  double value() const { return value_; }                            // the objective of the whole problem
  double mu() const;                                                 // the μ of the point on the central path near which the iterate is
  bool stuck() const { return stuck_; }                              // whether the last iteration found no step
  std::vector<double>&w() { return w_; }
  std::vector<double>&f() { return f_; }
  std::vector<double>&alpha() { return alpha_; }
  std::vector<double>&surplus() { return surplus_; }
  std::vector<double>&slack() { return slack_; }
  std::vector<double>&g() { return g_; }
  double constant() const { return constant_; }
  Index rows() const { return A_.n; }

 private:
  using Loop = BarrierSums (*BarrierLoops::*)(const BarrierTask&);
  BarrierTask task();
  BarrierSums pass(Loop loop, const BarrierTask& common, double* total);
  void measure(const BarrierSums& sums);

  DenseRows<double> A_;
  int halves_;
  std::vector<double> rho_, g_, w_, f_;
  std::vector<double> sign_, target_, price_, bend_, alpha_, surplus_, slack_, dalpha_, dsurplus_, dslack_;
  std::vector<double> weight_, rhs_, aimed_, df_;
  double constant_, infeasible_ = 1.0;  // infeasible_: the share of residual_ that is left after the steps so far
  double residual_ = 0.0;               // the part of the gap that the residual of stationarity made at the start
  double lacking_ = 0.0, value_ = 0.0;
  bool stuck_ = false;
};

}  // namespace gapless
