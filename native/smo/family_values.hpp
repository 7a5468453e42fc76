// Decision values of the models of many families of samples, at some rows of their table of kernel entries.
//
// Families have samples in common: in one-vs-one each class belongs to as many pairs as there are other classes. So rows that are in the same families
// make a block, and the sums over a block are computed for all its families at a time (core/block_sums.hpp). Nothing is copied: the
// table is symmetric, and read along those rows in which the entries of a sum are side by side.
#pragma once

#include <variant>
#include <vector>

#include "core/span.hpp"

namespace gapless::smo {

// Decision values, of each row and each family: f + b of the proven model, and bounds on that of the exact optimum. Of several optimal b the middle one
// counts (`around_middle` of gapless/model_selection/deciding.py). `longest` is the largest √k(x, x) of a training sample of each family: for each unit
// of ‖w − w*‖ the bounds are longest + √k(x, x) apart from f + b.
struct SharedValues {
  Matrix<double> f, low, high;
  Out longest;
};

// Rows that are in the same families.
struct FamilyBlock {
  std::vector<Index> rows, families;
  // Of each of the families, which of its samples the rows are: runs of consecutive samples, one after the other.
  struct Run {
    Index sample, length;
  };
  std::vector<std::vector<Run>> runs;
  std::vector<double> g, r;  // of each row, as in proof/table_proof.hpp
};

// The model of a family, w = Σ β_i φ(x_i) / margin with the offset b, and the numbers of its proof.
struct FamilyModel {
  Index family;
  Vector beta;
  Vector f;  // Σ β_i k(x_i, x) at all rows of the table where the family has all of them and it is known (core/block_sums.hpp), else empty
  double margin, offset;
  double distance, longest;  // a bound on ‖w − w*‖, and the largest √k(x, x) of a training sample
};

using Table = std::variant<Matrix<const float>, Matrix<const double>>;

class FamilyValues {
 public:
  // K is symmetric. The samples of family a are the rows places[starts[a]] to places[starts[a + 1] − 1] of K.
  FamilyValues(const Table& K, Vector diagonal, Vector g, Vector r, Places places, Places starts);

  // Writes the largest √k(x, x) of the samples of each family that have weight.
  void longest(const double* weights, Out out) const;
  // Writes the values of these models, in the columns of their families, at some rows of K, each of which is given once; `flip` changes their signs.
  void values(const std::vector<FamilyModel>& models, Places rows, bool flip, const SharedValues& out) const;

 private:
  template <class T>
  void write(const Matrix<const T>& K, const std::vector<FamilyModel>& models, Places rows, bool flip, const SharedValues& out) const;

  Table K_;
  Vector diagonal_, g_, r_;
  std::vector<FamilyBlock> blocks_;
  std::vector<double> roundings_;  // of each sum over the samples of a family, a bound
};

}  // namespace gapless::smo
