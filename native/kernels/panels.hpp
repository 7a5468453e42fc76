// The kernel of given samples, by tiles that are used while they are in cache, so that no matrix of all entries is ever in memory.
//
// Entries are float32 for a solver's steps or float64 for the proof; what is summed over tiles is float64 always. The partition into tiles does
// not depend on the number of threads, and neither does any result. Work is shared by the pool and listens for Ctrl-C between tiles.
#pragma once

#include "core/span.hpp"

namespace gapless {

class Panels {
 public:
  virtual ~Panels() = default;

  virtual Index size() const = 0;        // n, the samples
  virtual bool is_single() const = 0;    // whether entries are float32
  virtual bool is_costly() const = 0;    // whether an entry takes many times as long to compute as to read
  double entries = 0.0;                  // how many were computed

  // out[j] += Σ over i of c[i] k(x_left[i], x_j), for begin ≤ j < end; out has a place for each of the n samples.
  virtual void expand(Places left, Vector c, Index begin, Index end, double* out) = 0;
  // The same for each j of `to`, which is in ascending order.
  virtual void expand(Places left, Vector c, Places to, double* out) = 0;

  // Fill out(:m, :m) with k + shift of the m chosen samples among themselves, of which the first `known` have theirs already.
  // Only the one of the panels' own precision may be called.
  virtual void extend(Places chosen, Index known, double shift, Matrix<float> out) = 0;
  virtual void extend(Places chosen, Index known, double shift, Matrix<double> out) = 0;

  // out(i, begin:end) = k of the i-th chosen sample with the samples from begin to end.
  virtual void rows(Places chosen, Index begin, Index end, Matrix<float> out) = 0;
  virtual void rows(Places chosen, Index begin, Index end, Matrix<double> out) = 0;
};

}  // namespace gapless
