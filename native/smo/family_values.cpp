#include "smo/family_values.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/block_sums.hpp"
#include "core/buffer.hpp"
#include "core/pool.hpp"
#include "proof/table_proof.hpp"
#include "proof/table_sums.hpp"

namespace gapless::smo {
namespace {

constexpr Index most_rows = 1024;  // of a block, whose tile then takes a quarter of a megabyte: what a core keeps near

std::vector<FamilyBlock> blocks_of(Index rows, Places places, Places starts) {
  const Index families = length(starts) - 1;
  // Family by family, the rows of a kind that are in the family become a kind of their own.
  std::vector<Index> kind(static_cast<std::size_t>(rows), 0), last = {-1}, renamed = {0};
  std::vector<std::vector<Index>> families_of = {{}};
  for (Index a = 0; a < families; ++a)
    for (Index j = starts[a]; j < starts[a + 1]; ++j) {
      Index& own = kind[places[j]];
      if (last[own] != a) {
        last[own] = a;
        renamed[own] = count(families_of.size());
        families_of.push_back(families_of[own]);
        families_of.back().push_back(a);
        last.push_back(-1);
        renamed.push_back(0);
      }
      own = renamed[own];
    }
  std::vector<FamilyBlock> blocks;
  std::vector<Index> block_of_kind(families_of.size(), -1), block(kind.size(), -1), number(kind.size(), 0);
  for (Index row = 0; row < rows; ++row) {
    const Index own = kind[row];
    if (families_of[own].empty()) continue;
    if (block_of_kind[own] < 0 || count(blocks[block_of_kind[own]].rows.size()) == most_rows) {
      block_of_kind[own] = count(blocks.size());
      blocks.push_back({.rows = {}, .families = families_of[own], .at = {}, .g = {}, .r = {}});
    }
    block[row] = block_of_kind[own];
    number[row] = count(blocks[block[row]].rows.size());
    blocks[block[row]].rows.push_back(row);
  }
  std::vector<Index> seen(blocks.size(), 0);  // the families of each block that are done
  for (FamilyBlock& each : blocks) each.at.resize(each.rows.size() * each.families.size());
  for (Index a = 0; a < families; ++a) {
    for (Index j = starts[a]; j < starts[a + 1]; ++j) {
      FamilyBlock& own = blocks[block[places[j]]];
      own.at[seen[block[places[j]]] * count(own.rows.size()) + number[places[j]]] = static_cast<std::int32_t>(j - starts[a]);
    }
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (seen[b] < count(blocks[b].families.size()) && blocks[b].families[seen[b]] == a) ++seen[b];
  }
  return blocks;
}

// Some models of a block that are summed at a time: of the rows where one of their factors is not zero, the place in the copy of the block, and the
// factors.
struct Factors {
  std::vector<Index> numbers, rows;
  std::vector<double> values;
  std::vector<proof::ExpansionSizes> sizes;  // of each model
};

// What is summed over one block.
template <class T>
struct BlockTask {
  std::vector<const T*> rows;  // those where a factor is not zero
  std::vector<Factors> factors;
};

// `numbers` are the places of the families among the models, −1 for a family that has none to sum.
template <class T>
BlockTask<T> task_of(const FamilyBlock& block, const Matrix<const T>& K, const std::vector<FamilyModel>& models, const std::vector<Index>& numbers,
                     double sign) {
  const Index n = count(block.rows.size());
  std::vector<Index> wanted;  // of the families of the block
  for (Index k = 0; k < count(block.families.size()); ++k)
    if (numbers[block.families[k]] >= 0) wanted.push_back(k);
  BlockTask<T> task;
  task.rows.resize(block.rows.size() + 1);  // one more: without a branch, what is not used is written too
  std::vector<Index> place(block.rows.size(), -1);
  std::vector<double> values(block.rows.size() * block_models);  // the factors of all rows, model after model
  std::vector<Index> used(block.rows.size());                    // how many of a row's factors are not zero
  Index copied = 0;
  const Index many = count(wanted.size()), parts = (many + block_models - 1) / block_models;
  for (Index part = 0; part < parts; ++part) {
    const Index first = part * many / parts, own = (part + 1) * many / parts - first;
    Factors factors;
    std::fill(used.begin(), used.end(), 0);
    for (Index m = 0; m < own; ++m) {
      const Index k = wanted[first + m], number = numbers[block.families[k]];
      factors.numbers.push_back(number);
      double sizes[3];
      block_sum_loops().gather(models[number].beta.data(), block.at.data() + k * n, block.g.data(), block.r.data(), n, sign * models[number].margin,
                               values.data() + m * n, used.data(), sizes);
      factors.sizes.push_back({sizes[0], sizes[1], sizes[2]});
    }
    factors.rows.resize(block.rows.size());
    factors.values.resize(static_cast<std::size_t>(n * own));
    Index q = 0;
    for (Index i = 0; i < n; ++i) {
      const Index is_used = used[i] > 0, is_new = is_used & (place[i] < 0);
      place[i] = is_new ? copied : place[i];
      task.rows[copied] = K.row(block.rows[i]);
      copied += is_new;
      factors.rows[q] = place[i];
      for (Index m = 0; m < own; ++m) factors.values[q * own + m] = values[m * n + i];
      q += is_used;
    }
    factors.rows.resize(static_cast<std::size_t>(q));
    if (q > 0) task.factors.push_back(std::move(factors));
  }
  task.rows.resize(static_cast<std::size_t>(copied));
  return task;
}

// The terms of the bounds of all models, each an array.
struct Terms {
  std::vector<double> offset, fixed, per_length, per_g, per_r;

  void add(const FamilyModel& model, const proof::ExpansionError& error, double sign) {
    offset.push_back(sign * model.offset);
    fixed.push_back(model.distance * model.longest + error.floor);
    per_length.push_back(model.distance);
    per_g.push_back(error.of_g);
    per_r.push_back(error.of_r);
  }
  ValueTerms view() const { return {offset.data(), fixed.data(), per_length.data(), per_g.data(), per_r.data()}; }
};

// What a thread works with.
struct Room {
  Buffer<double> block, sums, rows;
};

template <class T>
CopyBlock<T> copy_block() {
  if constexpr (sizeof(T) == 4)
    return block_sum_loops().copy_single;
  else
    return block_sum_loops().copy_full;
}

}  // namespace

FamilyValues::FamilyValues(const Table& K, Vector diagonal, Vector g, Vector r, Places places, Places starts)
    : K_(K), diagonal_(diagonal), g_(g), r_(r), blocks_(blocks_of(length(diagonal), places, starts)) {
  for (FamilyBlock& block : blocks_)
    for (const Index row : block.rows) {
      block.g.push_back(g[row]);
      block.r.push_back(r[row]);
    }
  std::vector<Index> blocks(starts.size() - 1, 0);
  for (const FamilyBlock& block : blocks_)
    for (const Index a : block.families) ++blocks[a];
  // One more: a factor is itself a quotient that was rounded.
  for (std::size_t a = 0; a < blocks.size(); ++a) roundings_.push_back(1.0 + block_roundings(starts[a + 1] - starts[a], blocks[a]));
}

void FamilyValues::longest(const double* weights, Out out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (const FamilyBlock& block : blocks_) {
    double most = 0.0;
    for (const Index row : block.rows)
      if (weights[row] > 0.0) most = std::max(most, diagonal_[row]);
    for (const Index a : block.families) out[a] = std::max(out[a], std::sqrt(most));
  }
}

void FamilyValues::values(const std::vector<FamilyModel>& models, Places rows, bool flip, const SharedValues& out) const {
  std::visit([&](const auto& K) { write(K, models, rows, flip, out); }, K_);
}

template <class T>
void FamilyValues::write(const Matrix<const T>& K, const std::vector<FamilyModel>& models, Places rows, bool flip, const SharedValues& out) const {
  const Index n = length(rows), many = count(models.size());
  const double sign = flip ? -1.0 : 1.0;
  if (n == 0 || many == 0) return;
  const BlockSumLoops& loops = block_sum_loops();
  std::vector<Index> numbers(roundings_.size(), -1);
  bool together = true;  // whether the families of the models are side by side
  for (Index m = 0; m < many; ++m) {
    out.longest[models[m].family] = models[m].longest;
    if (models[m].f.empty()) numbers[models[m].family] = m;
    together = together && models[m].family == models[0].family + m;
  }
  std::vector<BlockTask<T>> tasks(blocks_.size());
  share(count(blocks_.size()), [&](Index b, int) { tasks[b] = task_of(blocks_[b], K, models, numbers, sign); });
  std::size_t largest = 0;
  std::vector<proof::ExpansionSizes> sizes(models.size());
  for (const BlockTask<T>& task : tasks) {
    largest = std::max(largest, task.rows.size());
    for (const Factors& each : task.factors)
      for (std::size_t m = 0; m < each.sizes.size(); ++m) sizes[each.numbers[m]] += each.sizes[m];
  }
  Terms terms;
  for (Index m = 0; m < many; ++m) {
    const FamilyModel& model = models[m];
    for (std::size_t i = 0; i < model.f.size(); ++i) sizes[m].add(model.beta[i] / model.margin, g_[i], r_[i]);
    terms.add(model, proof::sum_error(sizes[m], model.f.empty() ? roundings_[model.family] : proof::table_roundings(length(model.f))), sign);
  }

  std::vector<Index> order(rows.size());
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return rows[i] < rows[j]; });
  std::vector<Room> rooms(static_cast<std::size_t>(core_count()));
  share((n + block_tile - 1) / block_tile, [&](Index piece, int thread) {
    Room& room = rooms[thread];
    if (room.sums.size() == 0) {
      room.block = Buffer<double>(count(largest) * block_tile);
      room.sums = Buffer<double>(many * block_tile);
      room.rows = Buffer<double>(together ? 0 : many * (block_tile + 2));
    }
    const Index first = piece * block_tile, columns = std::min(block_tile, n - first);
    Index places[block_tile];
    for (Index k = 0; k < block_tile; ++k) places[k] = rows[order[first + std::min(k, columns - 1)]];
    std::fill(room.sums.begin(), room.sums.end(), 0.0);
    for (const BlockTask<T>& task : tasks) {
      if (task.rows.empty()) continue;
      copy_block<T>()(task.rows.data(), count(task.rows.size()), places, room.block.data());
      for (const Factors& each : task.factors)
        loops.add(room.block.data(), each.rows.data(), each.values.data(), count(each.rows.size()), each.numbers.data(), count(each.numbers.size()),
                  room.sums.data());
    }
    for (Index m = 0; m < many; ++m)
      if (!models[m].f.empty())
        for (Index k = 0; k < columns; ++k) room.sums[m * block_tile + k] = models[m].f[places[k]] / (sign * models[m].margin);

    double* to[block_tile];
    for (Index k = 0; k < columns; ++k)
      to[k] = together ? out.f.row(order[first + k]) + models[0].family : room.rows.data() + k * many;
    loops.turn(room.sums.data(), many, columns, to);
    for (Index k = 0; k < columns; ++k) {
      const Index row = order[first + k];
      double* low = together ? out.low.row(row) + models[0].family : room.rows.data() + block_tile * many;
      double* high = together ? out.high.row(row) + models[0].family : low + many;
      loops.bound(terms.view(), many, std::sqrt(std::max(0.0, diagonal_[places[k]])), g_[places[k]], r_[places[k]], to[k], low, high);
      if (together) continue;
      for (Index m = 0; m < many; ++m) {
        const Index a = models[m].family;
        out.f(row, a) = to[k][m];
        out.low(row, a) = low[m];
        out.high(row, a) = high[m];
      }
    }
  });
}

}  // namespace gapless::smo
