// Epochs of dual coordinate ascent for a linear model that keeps w up to date: the order of visits, the sweeps, and shrinking (Hsieh et al.
// 2008, §3; Shalev-Shwartz & Zhang 2013).
//
// A sample at a bound is left out where its slope points out of the box by more than the largest move of the last epoch; it comes back with all
// others as soon as the active ones are nearly solved. The gap that sweeps sum up tells when a certificate is worth computing; it is no certificate
// itself.
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
  double shift = 0.0;                // s² of a regularised intercept; with a free one the penalty on Σβ
  bool free_intercept = false;
  bool uniform = false;              // draws with replacement in the place of reshuffled epochs; nothing is shrunk, no gap is known
  bool shrinks = true;               // whether samples may be left out
  double halved_from = infinity;     // entries of the active rows from which on an epoch is shared by two threads
  std::uint64_t seed = 1;
  std::vector<std::uint32_t> order = {};  // where it is not empty, these visits again and again; as with `uniform` nothing is shrunk
};

class Sdca {
 public:
  // β = 0 and w = 0 before the first visit. `curvature` is q_i = ‖x_i‖² + shift. The arrays behind `rows`, and behind an entropy, must outlive this
  // object.
  Sdca(const Rows& rows, Index d, const DualTerms& dual, Vector curvature, const SdcaOptions& options);

  // Goes on from β with w = Σ β_i x_i and Σ h_i(β_i) = separable, and from the multiplier b where the intercept is free.
  void resume(Vector beta, Vector w, double b, double separable);

  // Makes at most `visits` visits, and returns how many. Stops after an epoch over all rows whose gap is at most target · P; then ready() is true.
  Index step(Index visits, double target);

  bool ready() const { return ready_; }
  Span<const std::uint32_t> active() const { return active_; }
  Index samples() const { return n_; }
  double gap() const { return gap_; }  // the gap that the last epoch summed up
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
  double entries_;  // the entries of an average row, at least one
  Samples samples_;
  std::vector<double> w_;
  std::vector<std::uint32_t> number_, indices_;  // the place of each feature in w, and the rows' indices in these places; empty before renumber()
  Index epochs_ = 0;                             // the number of epochs begun
  SdcaTally tally_;
  double gap_ = infinity, full_gap_ = infinity;  // the gap of the last epoch, and of the last epoch over all rows
  bool ready_ = false;
  Index position_ = 0;
  std::vector<std::uint32_t> active_, visit_, buckets_;
  std::vector<double> half_w_[2], old_;  // scratch memory of epochs in halves: a w of each half, and the β before the round
  Random random_;
};

}  // namespace gapless
