// All squared distances of some samples, and the Gaussian kernel from them: another γ takes an exponential for each entry, and no product.
//
// Distances are sums of squared differences, so that their errors are relative to themselves and not to the norms of the samples: (d + 3) u at most.
// `distance_magnitudes` of gapless/kernels/rounding.py bounds the
// error of an entry of the kernel.
#pragma once

#include "core/isa.hpp"
#include "core/span.hpp"

namespace gapless {

struct DistanceLoops {
  // out(i, j) = ‖x_i − x_j‖² for first ≤ i < last and begin ≤ j < end; `columns` has the features of all samples, feature by feature, `stride` apart.
  void (*squares)(Matrix<const double> X, const double* columns, Index stride, Index first, Index last, Index begin, Index end, Matrix<double> out);
  // to[k] = exp(−γ from[k]); both may be the same.
  void (*gaussian)(const double* from, double gamma, Index n, double* to);
};

GAPLESS_DECLARE_LEVELS(DistanceLoops, distance_loops)

// Threads share the rows; Ctrl-C is heard between pieces.
void squared_distances(Matrix<const double> X, Matrix<double> out);
void gaussian(Matrix<const double> distances, double gamma, Matrix<double> out);

}  // namespace gapless
