// A sweep of dual coordinate ascent (Hsieh et al. 2008): one exact maximisation of the dual for each row of a list of visits,
//
//     s = p_i − ⟨w, x_i⟩ − offset,   β_i ← clip(soft(s + q_i β_i, ε_i) / (q_i + d_i)),   w += (new − old) x_i,   offset += shift (new − old)
//
// with q_i = ‖x_i‖² + shift. The sweep sums up the Fenchel gaps c_i ℓ(f_i) + c_i ℓ*(−β_i/c_i) + β_i f_i at the moment of each visit, which would be
// the duality gap if w did not move in between, and the gain of D. It marks rows at a bound whose slope points out of the box by more than
// `threshold`. Writes the samples, w and the tally.
#pragma once

#include <cstdint>

#include "core/dual.hpp"
#include "core/isa.hpp"
#include "core/rows.hpp"

namespace gapless {

// The numbers of a sample that a visit reads beside its row, side by side: a visit of a short row waits for memory, and so it waits once.
struct RowSample {
  double p, lower, upper;
  double q, inverse;  // ‖x‖² + shift, and 1/(q + d)
  double beta;
  Index begin;  // the place of the row's first entry
  std::uint32_t length;
  std::uint32_t gone;  // 1 where the sample is left out from the next epoch on
};

// A sample with ε = d = 0 and a finite box (the hinge), in one line of the cache: on short rows further terms would cost more than the row. The
// samples of an entropy are of this type too, with their terms in DualEntropy.
struct alignas(64) PlainSample : RowSample {
  static constexpr bool is_plain = true;
  static constexpr double epsilon = 0.0, bend = 0.0;
};

struct BoxSample : RowSample {
  static constexpr bool is_plain = false;
  double epsilon, bend;
};

struct SdcaTally {
  double offset = 0.0;           // the offset that is added to all decision values
  double threshold = infinity;   // the slack above which a row is marked as gone
  double largest = 0.0;          // the largest |change of β| · (q + d), in units of the slope
  double gap = 0.0;              // the sum of the Fenchel gaps
  double gain = 0.0;             // D: the sum of the gains of all steps
  double moved = 0.0;            // Σβ: the sum of all changes of β
};

template <class R>
struct SdcaLoopsOf {
  template <class S>
  using Loop = void (*)(const R& rows, S* samples, const std::uint32_t* visit, Index count, double shift, double* w, SdcaTally& tally);
  Loop<PlainSample> plain;
  Loop<BoxSample> box;
  // The gap is not summed up, since its logarithms would cost more than the steps: it becomes infinite.
  void (*entropy)(const R& rows, const DualEntropy& dual, PlainSample* samples, const std::uint32_t* visit, Index count, double shift,
                  double* w, SdcaTally& tally);
};

struct SdcaLoops : SdcaLoopsOf<DenseRows<float>>, SdcaLoopsOf<DenseRows<double>>, SdcaLoopsOf<CsrRows<float>>, SdcaLoopsOf<CsrRows<double>>, SdcaLoopsOf<OnesRows> {
  template <class R>
  const SdcaLoopsOf<R>& of(const R&) const { return *this; }
};

GAPLESS_DECLARE_LEVELS(SdcaLoops, sdca_loops)

}  // namespace gapless
