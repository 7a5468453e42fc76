// What the samples tell about the best way to compute a kernel of them.
#pragma once

#include <vector>

#include "kernels/expression.hpp"

namespace gapless {

constexpr double dense_share = 0.25;     // a CSR matrix with more entries than this is faster as a dense one
constexpr Index many_features = 4096;    // from which on absolute differences of sparse rows are not taken feature by feature
constexpr double costly_entries = 400;   // of a row, from which on a product takes many times as long as reading its result

// γ‖x‖² of the row farthest out, beyond which the expansion of ‖x − z‖² has lost too much: in float32, entries between two such rows are off
// by 1e-3 of themselves. Rows far out are few as a rule (a rare category, standardised), and should not cost all others the fast way.
template <class T>
constexpr double large_exponent = 0.0;
template <>
inline constexpr double large_exponent<float> = 1e4;
template <>
inline constexpr double large_exponent<double> = 1e5;

bool is_sparse(const Samples& X);
bool is_worth_sparse(const Samples& X);  // whether loops over stored entries are faster than over all features

double stored_entries(const Samples& X);  // of the chosen rows

// About the mean of the rows, to be subtracted from all: of many, some tell it. Empty where rows stay sparse.
std::vector<double> centre(const Samples& X);

// The largest ‖x − centre‖² of dense rows, ‖x‖² of sparse ones, which are not moved.
double largest_norm(const Samples& X, const std::vector<double>& centre);

}  // namespace gapless
