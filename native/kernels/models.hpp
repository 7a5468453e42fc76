// The coefficients of several models, for the sums Σ over i of c(i, m) k(i, j): products of tiles of k with packed columns of coefficients.
//
// Most coefficients of one-vs-one models are zero, and the zeros are side by side: a block of samples of one class has coefficients in the models of
// that class alone. A block therefore packs only the models in which it has any.
#pragma once

#include <algorithm>
#include <vector>

#include "core/span.hpp"
#include "kernels/dense.hpp"
#include "kernels/node.hpp"

namespace gapless {

template <class T>
class Models {
 public:
  // columns[m n + i] is the coefficient of sample i < n in model m < q; a block has `tall` samples.
  Models(const std::vector<double>& columns, Index n, Index q, Index tall) : loops_(dense_table().of<T>()), n_(n), tall_(tall) {
    const Index width = loops_.tile_rows;
    for (Index begin = 0; begin < n; begin += tall) {
      const Index end = std::min(n, begin + tall);
      Part part;
      for (Index m = 0; m < q; ++m) {
        const double* c = columns.data() + m * n;
        if (std::any_of(c + begin, c + end, [](double value) { return value != 0.0; })) part.models.push_back(m);
      }
      const Index panels = (count(part.models.size()) + width - 1) / width;
      part.weights.assign(static_cast<std::size_t>(panels * width * (end - begin)), T(0));
      for (Index k = 0; k < count(part.models.size()); ++k) {
        const double* c = columns.data() + part.models[static_cast<std::size_t>(k)] * n + begin;
        T* to = part.weights.data() + k / width * width * (end - begin) + k % width;
        for (Index i = 0; i < end - begin; ++i) to[i * width] = static_cast<T>(c[i]);
      }
      parts_.push_back(std::move(part));
    }
  }

  // sums[m w + j] += Σ over the samples i of the block that begins at i0 of c(i, m) entries[(i − i0) w + j], for j < w = tile_columns.
  void add(Index i0, const T* entries, double* sums, Room<T>& room) const {
    const Part& part = parts_[static_cast<std::size_t>(i0 / tall_)];
    if (part.models.empty()) return;
    const Index n = std::min(tall_, n_ - i0), across = loops_.tile_columns;
    const Index panels = (count(part.models.size()) + loops_.tile_rows - 1) / loops_.tile_rows;
    double* own = room.sums(panels * loops_.tile_rows * across, 1);
    loops_.multiply(part.weights.data(), panels, entries, n, own);
    for (const Index m : part.models) {
      double* to = sums + m * across;
      for (Index j = 0; j < across; ++j) to[j] += own[j];
      own += across;
    }
  }

 private:
  struct Part {
    std::vector<Index> models;
    std::vector<T> weights;
  };

  const DenseLoops<T>& loops_;
  Index n_, tall_;
  std::vector<Part> parts_;
};

}  // namespace gapless
