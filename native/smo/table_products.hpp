// Kβ of several models at a time, over some samples of a symmetric table of kernel entries.
#pragma once

#include <vector>

#include "core/span.hpp"

namespace gapless::smo {

// f[m][k] = Σ over i of K(places[k], places[i]) β[m][i] for each model m. Threads share the samples k. Returns the roundings of each sum, as
// core/block_sums.hpp counts them.
template <class T>
double table_products(Matrix<const T> K, Places places, const std::vector<const double*>& beta, const std::vector<double*>& f);

}  // namespace gapless::smo
