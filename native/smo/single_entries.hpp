// The kernel entries of a family of samples in float32, side by side, for pairs of all its members at all C's: a copy of its part of a table, or the
// table itself where that is in float32; and where few of them are not negligible, those alone (sparse_pairs.hpp).
#pragma once

#include "core/span.hpp"
#include "smo/sparse_pairs.hpp"

namespace gapless::smo {

// The numbers in float32 of the entries of a family of m samples.
Index single_room(Index m);
// Whether entries whose diagonal is this can be in float32.
bool suits_single(Vector diagonal);

class SingleEntries {
 public:
  // `room` is memory for single_room(m) numbers, or null where no copy is to be made.
  explicit SingleEntries(float* room) : room_(room) {}

  // Takes the entries of the samples places[0], places[1], … of the table K, where places[j] to places[ends[j] − 1] are consecutive, when it is called first.
  template <class T>
  void prepare(Matrix<const T> K, Places places, Places ends, const double* diagonal);

  Matrix<const float> all = {};  // none where they are not to be had; further columns are zeros, which fill up the last vector of a row
  SparseRows few;

 private:
  float* room_;
  bool prepared_ = false;
};

}  // namespace gapless::smo
