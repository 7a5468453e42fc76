// The kernel of given samples, by tiles that are used while they are in cache, so that no matrix of all entries is ever in memory.
//
// Entries are float32 for a solver's steps or float64 for the proof; what is summed over tiles is float64 always. The partition into tiles does
// not depend on the number of threads, and neither does any result. Work is shared by the pool and listens for Ctrl-C between tiles.
#pragma once

#include <memory>

#include "core/span.hpp"
#include "kernels/expression.hpp"

namespace gapless {

class Panels {
 public:
  virtual ~Panels() = default;

  virtual Index size() const = 0;        // n, the samples
  virtual bool is_single() const = 0;    // whether entries are float32
  virtual bool is_costly() const = 0;    // whether an entry takes many times as long to compute as to read
  virtual bool has_bounds() const = 0;   // whether apply_bounded knows its error: for RBF, whose entries' errors are relative to the entries
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

  // out(j, m) = Σ over all samples x of k(z_j, x) c(x, m), one column a model, for each row z of other samples.
  virtual void apply(const Samples& Z, Matrix<const double> c, Matrix<double> out) = 0;
  // The same, and how far at most each value is from the exact one; where has_bounds().
  //
  // The exponent of k(z, x) is a sum of m terms in the tiles' precision u, off by at most (m + 4) u ‖a‖‖b‖, with a and b the rows whose product
  // it is; so k is off by that share of itself, and by 3 u for the exponential. One model's sum is float64; of several, a sum of `stretch`
  // entries (kernels/panels.cpp) is off by another (stretch + 9) u Σ |c| k.
  virtual void apply_bounded(const Samples& Z, Matrix<const double> c, Matrix<double> out, Matrix<double> bounds) = 0;
  // out(i, :) = k of z_i with all samples.
  virtual void cross(const Samples& Z, Matrix<float> out) = 0;
  virtual void cross(const Samples& Z, Matrix<double> out) = 0;

  // out[j] = Σ over all samples x of k(x_j, x) c(x) for each of them, where an entry serves both its row and its column.
  virtual void own(Vector c, double* out) = 0;
};

// The panels of an expression on the samples X, whose arrays outlive them.
std::unique_ptr<Panels> make_panels(const Expression& kernel, const Samples& X, bool single);

}  // namespace gapless
