#include "smo/family_values.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/block_sums.hpp"
#include "core/buffer.hpp"
#include "core/pool.hpp"
#include "core/runs.hpp"
#include "proof/table_proof.hpp"
#include "smo/table_reading.hpp"

namespace gapless::smo {
namespace {

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
    if (block_of_kind[own] < 0) {
      block_of_kind[own] = count(blocks.size());
      blocks.push_back({.rows = {}, .families = families_of[own], .runs = {}, .g = {}, .r = {}});
    }
    block[row] = block_of_kind[own];
    number[row] = count(blocks[block[row]].rows.size());
    blocks[block[row]].rows.push_back(row);
  }
  std::vector<std::vector<Index>> samples;  // of the rows of each block, in the family at hand
  for (const FamilyBlock& each : blocks) samples.emplace_back(each.rows.size());
  for (Index a = 0; a < families; ++a) {
    for (Index j = starts[a]; j < starts[a + 1]; ++j) samples[block[places[j]]][number[places[j]]] = j - starts[a];
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::size_t k = blocks[b].runs.size();  // the families of the block that are done
      if (k == blocks[b].families.size() || blocks[b].families[k] != a) continue;
      const std::vector<Index> ends = run_ends(samples[b]);
      blocks[b].runs.emplace_back();
      for (Index i = 0; i < count(ends.size()); i = ends[i]) blocks[b].runs[k].push_back({samples[b][i], ends[i] - i});
    }
  }
  return blocks;
}

// Some models of a block that are summed at a time: of the rows of the block where one of their factors is not zero, the place in the table and the
// factors, `padded` of each row.
struct Factors {
  std::vector<Index> numbers, rows;
  Index padded;
  std::vector<double> values;
  std::vector<proof::ExpansionSizes> sizes;  // of each model
};

// `numbers` are the places of the families among the models, −1 for a family that has none to sum.
std::vector<Factors> factors_of(const FamilyBlock& block, const std::vector<FamilyModel>& models, const std::vector<Index>& numbers, double sign) {
  const Index n = count(block.rows.size());
  std::vector<Index> wanted;  // of the families of the block
  for (Index k = 0; k < count(block.families.size()); ++k)
    if (numbers[block.families[k]] >= 0) wanted.push_back(k);
  std::vector<Factors> all;
  const Index many = count(wanted.size()), parts = (many + block_models - 1) / block_models;
  std::vector<double> values(static_cast<std::size_t>(n * std::min(many, block_models)));  // the factors of all rows, model after model
  std::vector<Index> used(block.rows.size());                                             // how many of a row's factors are not zero
  for (Index part = 0; part < parts; ++part) {
    const Index first = part * many / parts, own = (part + 1) * many / parts - first;
    Factors factors;
    std::fill(used.begin(), used.end(), 0);
    for (Index m = 0; m < own; ++m) {
      const Index k = wanted[first + m], number = numbers[block.families[k]];
      factors.numbers.push_back(number);
      double sizes[3];
      double* to = values.data() + m * n;
      for (const FamilyBlock::Run& run : block.runs[k]) to = std::copy_n(models[number].beta.data() + run.sample, run.length, to);
      block_sum_loops().divide(values.data() + m * n, n, sign * models[number].margin, block.g.data(), block.r.data(), used.data(), sizes);
      factors.sizes.push_back({sizes[0], sizes[1], sizes[2]});
    }
    for (Index i = 0; i < n; ++i)
      if (used[i] > 0) factors.rows.push_back(i);
    if (factors.rows.empty()) continue;
    factors.padded = (own + block_pad - 1) / block_pad * block_pad;
    factors.values.resize(factors.rows.size() * static_cast<std::size_t>(factors.padded));
    double* to = factors.values.data();
    for (Index& i : factors.rows) {
      for (Index m = 0; m < own; ++m) to[m] = values[m * n + i];
      to += factors.padded;
      i = block.rows[i];
    }
    all.push_back(std::move(factors));
  }
  return all;
}

// Where the sums of all factors are put, row after row of `width` of them, and of which sums the value of a model is the sum.
struct Layout {
  Index width = block_pad, parts = 1;  // the first sums of each row are zero: of a model that has fewer parts than another
  std::vector<Index> begins;           // of each block, factors after factors
  std::vector<Index> at;               // part after part, of each model

  Layout(const std::vector<std::vector<Factors>>& blocks, Index models) {
    std::vector<Index> seen(static_cast<std::size_t>(models), 0);
    at.resize(seen.size(), 0);
    for (const std::vector<Factors>& block : blocks)
      for (const Factors& each : block) {
        begins.push_back(width);
        for (std::size_t m = 0; m < each.numbers.size(); ++m) {
          const Index number = each.numbers[m], part = seen[number]++;
          if (part == parts) at.resize(static_cast<std::size_t>(++parts * models), 0);
          at[part * models + number] = width + count(m);
        }
        width += each.padded;
      }
  }
  // Writes the value of each model at one row, whose sums these are.
  void collect(const double* sums, Index models, double* GAPLESS_RESTRICT f) const {
    for (Index m = 0; m < models; ++m) f[m] = sums[at[m]];
    for (Index k = 1; k < parts; ++k)
      for (Index m = 0; m < models; ++m) f[m] += sums[at[k * models + m]];
  }
};

// The columns of all factors, one after the other.
std::vector<Index> columns_of(const std::vector<std::vector<Factors>>& blocks) {
  std::vector<Index> columns;
  for (const std::vector<Factors>& block : blocks)
    for (const Factors& each : block) columns.insert(columns.end(), each.rows.begin(), each.rows.end());
  return columns;
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
  std::vector<Index> known;  // the models whose sums are known
  bool together = true;  // whether the families of the models are side by side
  for (Index m = 0; m < many; ++m) {
    out.longest[models[m].family] = models[m].longest;
    if (models[m].f.empty())
      numbers[models[m].family] = m;
    else
      known.push_back(m);
    together = together && models[m].family == models[0].family + m;
  }
  std::vector<std::vector<Factors>> blocks(blocks_.size());
  share(count(blocks_.size()), [&](Index b, int) { blocks[b] = factors_of(blocks_[b], models, numbers, sign); });
  std::vector<proof::ExpansionSizes> sizes(models.size());
  for (const std::vector<Factors>& block : blocks)
    for (const Factors& each : block)
      for (std::size_t m = 0; m < each.sizes.size(); ++m) sizes[each.numbers[m]] += each.sizes[m];
  Terms terms;
  for (Index m = 0; m < many; ++m) {
    const FamilyModel& model = models[m];
    for (std::size_t i = 0; i < model.f.size(); ++i) sizes[m].add(model.beta[i] / model.margin, g_[i], r_[i]);
    terms.add(model, proof::sum_error(sizes[m], model.f.empty() ? roundings_[model.family] : 1.0 + block_roundings(length(model.f), 1)), sign);
  }

  const Layout layout(blocks, many);
  std::vector<Index> order(rows.size()), ascending;
  std::iota(order.begin(), order.end(), Index(0));
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return rows[i] < rows[j]; });
  for (const Index i : order) ascending.push_back(rows[i]);
  const TableReading<T> reading(K, ascending, columns_of(blocks));
  std::vector<Buffer<double>> rooms(static_cast<std::size_t>(core_count()));
  share((n + block_rows - 1) / block_rows, [&](Index piece, int thread) {
    Buffer<double>& room = rooms[thread];
    if (room.size() == 0) {
      room = Buffer<double>(block_rows * layout.width + 3 * many);
      for (Index k = 0; k < block_rows; ++k) std::fill_n(room.data() + k * layout.width, block_pad, 0.0);
    }
    const Index first = piece * block_rows, own = std::min(block_rows, n - first);
    const T* from[block_rows];
    for (Index k = 0; k < block_rows; ++k) from[k] = reading.rows[first + std::min(k, own - 1)];
    auto begin = layout.begins.begin();
    const Index* columns = reading.columns.data();
    for (const std::vector<Factors>& block : blocks)
      for (const Factors& each : block) {
        sum_block<T>()(from, columns, each.values.data(), count(each.rows.size()), each.padded, room.data() + *begin++, layout.width);
        columns += each.rows.size();
      }
    for (Index k = 0; k < own; ++k) {
      const Index row = order[first + k], place = rows[row];
      double* f = together ? out.f.row(row) + models[0].family : room.data() + block_rows * layout.width;
      double* low = together ? out.low.row(row) + models[0].family : f + many;
      double* high = together ? out.high.row(row) + models[0].family : low + many;
      layout.collect(room.data() + k * layout.width, many, f);
      for (const Index m : known) f[m] = models[m].f[place] / (sign * models[m].margin);
      loops.bound(terms.view(), many, std::sqrt(std::max(0.0, diagonal_[place])), g_[place], r_[place], f, low, high);
      if (together) continue;
      for (Index m = 0; m < many; ++m) {
        const Index a = models[m].family;
        out.f(row, a) = f[m];
        out.low(row, a) = low[m];
        out.high(row, a) = high[m];
      }
    }
  });
}

}  // namespace gapless::smo
