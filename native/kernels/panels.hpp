// The kernel of given samples, by tiles of entries that are used while they are in the cache, so that the matrix of all entries is never in memory.
//
// Entries are float32 for a solver's steps or float64 for the proof; sums over tiles are always float64. The partition into tiles does not depend on
// the number of threads, and neither does any result. The pool shares the work, and Ctrl-C is heard between pieces.
#pragma once

#include <atomic>
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
  virtual bool has_bounds() const = 0;   // whether apply_bounded has error bounds: for RBF, whose errors are relative to the entries
  virtual bool sums_rows() const = 0;    // whether expand takes its sums from those of rows (kernels/linear_sums.hpp), so that no entry is computed
  double entries() const { return entries_.load(std::memory_order_relaxed); }  // the number of entries that were computed

  // out[j] += Σ over i of c[i] k(x_left[i], x_j), for begin ≤ j < end; out has a place for each of the n samples.
  virtual void expand(Places left, Vector c, Index begin, Index end, double* out) = 0;
  // The same for each j of `to`, which is in ascending order.
  virtual void expand(Places left, Vector c, Places to, double* out) = 0;

  // Fills out(:m, :m) with k + shift of the m chosen samples among themselves, where out(:known, :known) is filled already.
  // Only the overload of the panels' own precision may be called, here and below.
  virtual void extend(Places chosen, Index known, double shift, Matrix<float> out) = 0;
  virtual void extend(Places chosen, Index known, double shift, Matrix<double> out) = 0;

  // out(i, begin:end) = k of the i-th chosen sample with the samples from begin to end.
  virtual void rows(Places chosen, Index begin, Index end, Matrix<float> out) = 0;
  virtual void rows(Places chosen, Index begin, Index end, Matrix<double> out) = 0;

  // out(j, m) = Σ over all samples x of k(z_j, x) c(x, m) for each of the other samples z_j; c and out have a column for each model.
  virtual void apply(const Samples& Z, Matrix<const double> c, Matrix<double> out) = 0;
  // The same, with a bound on the error of each value; only where has_bounds() is true.
  //
  // The exponent of k(z, x) is a product of two rows a and b, a sum of m terms in the tiles' precision u, and off by at most (m + 4) u ‖a‖‖b‖; so k
  // has that relative error, and 3 u for the exponential. The sum of one model is float64; with several models a sum of `stretch` entries
  // (kernels/panels.cpp) is off by another (stretch + 9) u Σ |c| k.
  virtual void apply_bounded(const Samples& Z, Matrix<const double> c, Matrix<double> out, Matrix<double> bounds) = 0;
  // out(i, :) = k of z_i with all samples.
  virtual void cross(const Samples& Z, Matrix<float> out) = 0;
  virtual void cross(const Samples& Z, Matrix<double> out) = 0;

  // out[j] = Σ over all samples x of k(x_j, x) c(x), where each entry is computed once for its row and its column.
  virtual void own(Vector c, double* out) = 0;

 protected:
  // Atomic, since threads that work on problems of their own may share the panels.
  void computed(double more) {
    double now = entries();
    while (!entries_.compare_exchange_weak(now, now + more, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<double> entries_ = 0.0;
};

// The panels of a kernel on the samples X, whose arrays must outlive the panels.
std::unique_ptr<Panels> make_panels(const Expression& kernel, const Samples& X, bool single);

}  // namespace gapless
