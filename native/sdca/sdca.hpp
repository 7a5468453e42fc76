// Epochs of dual coordinate ascent for a linear model that keeps w up to date: the order of visits, the sweeps, and shrinking (Hsieh et al.
// 2008, §3; Shalev-Shwartz & Zhang 2013).
//
// A sample at a bound whose slope points out of the box by more than anything moved in the last epoch is left out, and comes back with all others
// as soon as the rest is nearly solved. The gap that sweeps sum up says when a certificate pays, and never replaces it.
//
// A free intercept is a multiplier b of Σβ = 0 beside the penalty ½ shift (Σβ)²: the decision offset is b + shift Σβ, and after each epoch b
// becomes that offset (the method of multipliers, which is proximal point on b).
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/dual.hpp"
#include "core/random.hpp"
#include "core/rows.hpp"
#include "core/span.hpp"
#include "sdca/sweep.hpp"

namespace gapless {

struct SdcaOptions {
  double shift = 0.0;                // what the intercept adds to each entry of K
  bool free_intercept = false;       // then shift is the penalty on Σβ
  bool uniform = false;              // draws with replacement in the place of reshuffled epochs; nothing is shrunk, no gap is known
  bool shrinks = true;
  double halved_from = infinity;     // entries of the active rows from which on an epoch is shared by two threads
  std::uint64_t seed = 1;
  std::vector<std::uint32_t> order = {};  // if any: these visits again and again in the place of epochs, as plain as uniform ones
};

class Sdca {
 public:
  // β = 0 and w = 0 before the first visit. `curvature` is q_i = ‖x_i‖² + shift. What `rows` and an entropy view has to outlive this.
  Sdca(const Rows& rows, Index d, const DualTerms& dual, Vector curvature, const SdcaOptions& options);

  // Goes on from β with w = Σ β_i x_i, from b where it is free, and from D's separable part Σ h_i(β_i).
  void resume(Vector beta, Vector w, double b, double separable);

  // Makes at most so many visits, and returns how many. Stops after an epoch over all rows whose gap is at most target · P, which is `ready` then.
  Index step(Index visits, double target);

  bool ready() const { return ready_; }
  Span<const std::uint32_t> active() const { return active_; }
  Index samples() const { return n_; }
  double gap() const { return gap_; }  // of the last epoch
  double dual_value() const { return tally_.gain; }
  double offset() const { return tally_.offset; }
  Index features() const { return static_cast<Index>(w_.size()); }
  void read_w(Out w) const;
  void read_beta(Out beta) const;

 private:
  using Samples = std::variant<std::vector<PlainSample>, std::vector<BoxSample>>;
  using Visits = Span<const std::uint32_t>;

  void order();
  void sweep(Visits visit, double* w, SdcaTally& tally);
  void sweep_in_halves(Visits visit);
  template <class S>
  void merge(S* samples, Visits visit, const SdcaTally& a, const SdcaTally& b);
  bool plain() const { return options_.uniform || !options_.order.empty(); }  // the textbook's method: nothing is shrunk, no gap is known
  void move_multiplier();
  void finish(double target);
  void bring_back();
  void renumber();
  bool halved() const { return static_cast<double>(active_.size()) * entries_ >= options_.halved_from; }

  Rows rows_;
  SdcaOptions options_;
  DualTerms dual_;
  Index n_;
  double entries_;  // of an average row, at least one
  Samples samples_;
  std::vector<double> w_;
  std::vector<std::uint32_t> number_, indices_;  // of each feature in w, and the rows' indices in these numbers; empty where none has another
  Index epochs_ = 0;                             // begun
  SdcaTally tally_;
  double gap_ = infinity, full_gap_ = infinity;  // of the last epoch, and of the last one over all rows
  bool ready_ = false;
  Index position_ = 0;
  std::vector<std::uint32_t> active_, visit_, buckets_;
  std::vector<double> half_w_[2], old_;  // scratch of epochs in halves
  Random random_;
};

}  // namespace gapless
