#include "crammer_singer/ascent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gapless {
namespace {

// A block whose largest change is below this share of its cost, some 4 roundings, is left as it is.
constexpr double rounding = 1e-15;

// The block of one sample: its classes, and a number for each of them.
struct Block {
  explicit Block(Index k) : classes(static_cast<std::size_t>(k)), linear(classes.size()), levels(classes.size()), change(classes.size()) {}

  std::vector<Index> classes;
  std::vector<double> linear, levels, change;
  std::size_t size = 0;
};

// linear += the scores ⟨w_m, x_i⟩ of the block's classes.
template <class R>
void add_scores(const R& rows, Index i, const Matrix<double>& W, Block& block) {
  double* linear = block.linear.data();
  const Index *classes = block.classes.data(), size = count(block.size);
  if constexpr (!R::is_sparse) {
    for (Index q = 0; q < size; ++q) linear[q] += rows.dot(i, W.row(classes[q]));
  } else {
    const bool every = size == W.columns;  // the block has all classes, in their order
    for (Index e = rows.begin(i); e < rows.begin(i + 1); ++e) {
      const double value = rows.value(e), *weights = W.row(static_cast<Index>(rows.indices[e]));
      if (every)
        for (Index q = 0; q < size; ++q) linear[q] += value * weights[q];
      else
        for (Index q = 0; q < size; ++q) linear[q] += value * weights[classes[q]];
    }
  }
}

// w_m += change · x_i for the first `size` classes of the block.
template <class R>
void add_weights(const R& rows, Index i, const Matrix<double>& W, const Block& block, std::size_t size) {
  if constexpr (!R::is_sparse) {
    for (std::size_t q = 0; q < size; ++q) rows.add(i, block.change[q], W.row(block.classes[q]));
  } else {
    for (Index e = rows.begin(i); e < rows.begin(i + 1); ++e) {
      const double value = rows.value(e);
      double* weights = W.row(static_cast<Index>(rows.indices[e]));
      for (std::size_t q = 0; q < size; ++q) weights[block.classes[q]] += value * block.change[q];
    }
  }
}

// The level t with Σ max(0, levels[q] − t) = need. It rises while levels below it drop out of the sum (Michelot 1986).
double level_of(const Block& block, double need) {
  double total = -need;
  for (std::size_t q = 0; q < block.size; ++q) total += block.levels[q];
  std::size_t free = block.size;
  for (;;) {
    const double level = total / static_cast<double>(free);
    std::size_t above = 0;
    total = -need;
    for (std::size_t q = 0; q < block.size; ++q)
      if (block.levels[q] > level) {
        total += block.levels[q];
        ++above;
      }
    if (above >= free || above == 0) return level;  // the number above falls in each round but the last, or by rounding stays
    free = above;
  }
}

// What the block of all classes lacks: with s_m = f_m + [m ≠ y] the loss is c (max s − s_y), and the block's part of −D + ‖W‖² is ⟨β, s⟩.
double lacking(const Block& block, const double* beta, Index y, double a, double c) {
  double largest = -INFINITY, product = 0.0;
  for (std::size_t q = 0; q < block.size; ++q) {
    const double s = block.linear[q] + a * beta[q];
    largest = std::max(largest, s);
    product += beta[q] * s;
  }
  return c * (largest - block.linear[static_cast<std::size_t>(y)] - a * beta[y]) + product;
}

template <class R>
BlockPass ascend(const R& rows, const BlockProblem& problem, Places order, Index position, double budget, bool whole,
                 const BlockModel& model) {
  const Index k = model.beta.columns;
  Block block(k);
  BlockPass pass{position, 0.0, 0.0, 0.0};
  while (pass.position < length(order) && (pass.work < budget || pass.work == 0.0)) {
    const auto i = static_cast<std::size_t>(order[static_cast<std::size_t>(pass.position++)]);
    const Index y = problem.codes[i];
    const double a = problem.curvature[i], c = problem.cost[i];
    double* beta = model.beta.row(count(i));
    block.size = 0;
    for (Index m = 0; m < k; ++m)
      if (whole || m == y || beta[m] != 0.0) {
        block.linear[block.size] = model.b[static_cast<std::size_t>(m)] + (m == y ? 0.0 : 1.0) - a * beta[m];
        block.classes[block.size++] = m;
      }
    if (block.size < 2) continue;  // a class alone has no other to give to
    add_scores(rows, count(i), model.W, block);
    pass.work += static_cast<double>(block.size) * problem.entries;
    for (std::size_t q = 0; q < block.size; ++q) block.levels[q] = block.linear[q] + (block.classes[q] == y ? a * c : 0.0);
    if (whole) pass.gap += lacking(block, beta, y, a, c);
    const double level = level_of(block, a * c);
    double largest = 0.0;
    for (std::size_t q = 0; q < block.size; ++q) {
      const Index m = block.classes[q];
      block.change[q] = std::min(m == y ? c : 0.0, (level - block.linear[q]) / a) - beta[m];
      largest = std::max(largest, std::fabs(block.change[q]));
    }
    if (!(largest > rounding * c)) continue;
    model.moved[i] = true;
    double gain = 0.0;
    std::size_t kept = 0;  // the number of classes that move; only their weights are written
    for (std::size_t q = 0; q < block.size; ++q) {
      const Index m = block.classes[q];
      if (block.change[q] == 0.0) continue;
      gain -= block.change[q] * (block.linear[q] + a * (beta[m] + 0.5 * block.change[q]));
      beta[m] += block.change[q];
      model.b[static_cast<std::size_t>(m)] += problem.shift * block.change[q];
      block.classes[kept] = m;
      block.change[kept++] = block.change[q];
    }
    pass.gain += gain;
    add_weights(rows, count(i), model.W, block, kept);
    pass.work += static_cast<double>(kept) * problem.entries;
  }
  return pass;
}

}  // namespace

BlockPass ascend_blocks(const BlockProblem& problem, Places order, Index position, double budget, bool whole, const BlockModel& model) {
  return std::visit([&](const auto& rows) { return ascend(rows, problem, order, position, budget, whole, model); }, problem.rows);
}

void ascend_again(const BlockProblem& problem, Span<Index> order, double enough, Index most, double budget, Random& random, InnerPasses& state,
                  const BlockModel& model) {
  state.work = 0.0;
  while (!state.ended && (state.work < budget || state.work == 0.0)) {
    if (state.position == 0) random.shuffle(order);
    const BlockPass pass = ascend_blocks(problem, order, state.position, budget - state.work, false, model);
    state.position = pass.position;
    state.work += pass.work + 1.0;
    state.gain += pass.gain;
    if (state.position < length(order)) continue;
    ++state.passes;
    state.ended = !(state.gain > enough) || state.passes >= most;
    state.position = 0;
    state.gain = 0.0;
  }
}

}  // namespace gapless
