// How a kernel of given samples is computed best: as dense or as sparse rows, around which origin, and whether its loops keep enough digits.
#pragma once

#include <vector>

#include "kernels/expression.hpp"

namespace gapless {

// A CSR matrix with a larger share of stored entries is packed as a dense one: a stored entry of a sparse tile takes 3 to 4 times as long as a
// feature of a dense tile (benchmarks/tiles.py).
constexpr double dense_share = 0.25;
constexpr Index many_features = 4096;    // features up to which sparse rows are made dense for the Laplacian kernel: 32 KiB a row
constexpr double costly_entries = 400;   // stored entries of a row from which on an entry takes many times as long to compute as to read

// The largest γ‖x‖² of a row for which ‖x − z‖² is expanded into norms and a product. In float32 entries between two rows of 1e4 have a relative
// error of 1e-3. Rows so far out are few as a rule (a rare category, standardised), and the bound is large so that all other rows keep the fast way.
template <class T>
constexpr double large_exponent = 0.0;
template <>
inline constexpr double large_exponent<float> = 1e4;
template <>
inline constexpr double large_exponent<double> = 1e5;

bool is_sparse(const Samples& X);
bool is_worth_sparse(const Samples& X);  // whether loops over stored entries are faster than over all features

double stored_entries(const Samples& X);  // the stored entries of the chosen rows

// The mean of some rows, which is subtracted from all rows, so that fewer digits cancel. Empty where rows stay sparse.
std::vector<double> centre(const Samples& X);

// The largest ‖x − centre‖² of dense rows, or ‖x‖² of sparse rows, from which no centre is subtracted.
double largest_norm(const Samples& X, const std::vector<double>& centre);

}  // namespace gapless
