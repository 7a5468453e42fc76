#include "l1/newton.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/blas.hpp"

namespace gapless {
namespace {

// Where features are collinear the Hessian, scaled to a diagonal of one, is singular: this ridge makes the direction long, and the line search ends
// at a kink.
constexpr double ridge = 1e-11;
constexpr Index depth = 512;  // samples packed at a time: with 60 weights 240 KiB, which stay in the cache

double sign_of(double value) { return value > 0.0 ? 1.0 : -1.0; }

// The weights that are not zero, and the samples that fall short.
struct Active {
  Active(Vector cost, Vector w, Vector shortfall) {
    for (std::size_t j = 0; j < w.size(); ++j)
      if (w[j] != 0.0) weights.push_back(count(j));
    for (std::size_t i = 0; i < cost.size(); ++i)
      if (shortfall[i] > 0.0 && cost[i] > 0.0) samples.push_back(count(i));
  }
  int size() const { return static_cast<int>(weights.size()); }

  std::vector<Index> weights, samples;
};

// Adds the lower triangle (of rows) of Σ 2c a aᵀ to H and Σ 2c s a to `pull`, by products of packed blocks of samples.
template <class T>
void add_curvature(const DenseRows<T>& columns, const Active& active, Vector cost, Vector shortfall, double* H, double* pull) {
  const int m = active.size(), most = static_cast<int>(std::min(depth, count(active.samples.size())));
  std::vector<double> packed(static_cast<std::size_t>(m) * static_cast<std::size_t>(most)), root(static_cast<std::size_t>(most));
  // Where all costs are the same, no root of them is taken: sums of small whole numbers are exact then, in any order of the samples, and so is what
  // they tell of a Hessian that is singular.
  const double first = active.samples.empty() ? 0.0 : cost[static_cast<std::size_t>(active.samples[0])];
  const bool same = std::ranges::all_of(active.samples, [&](Index i) { return cost[static_cast<std::size_t>(i)] == first; });
  const double scale = same ? 2.0 * first : 1.0;
  for (std::size_t begin = 0; begin < active.samples.size(); begin += static_cast<std::size_t>(most)) {
    const Index* samples = active.samples.data() + begin;
    const int size = static_cast<int>(std::min(static_cast<std::size_t>(most), active.samples.size() - begin));
    for (int k = 0; k < size; ++k) root[static_cast<std::size_t>(k)] = same ? 1.0 : std::sqrt(2.0 * cost[static_cast<std::size_t>(samples[k])]);
    for (int q = 0; q < m; ++q) {
      const T* column = columns.row(active.weights[static_cast<std::size_t>(q)]);
      double *to = packed.data() + static_cast<std::size_t>(q) * static_cast<std::size_t>(most), total = 0.0;
      for (int k = 0; k < size; ++k) {
        to[k] = root[static_cast<std::size_t>(k)] * static_cast<double>(column[samples[k]]);
        total += to[k] * root[static_cast<std::size_t>(k)] * shortfall[static_cast<std::size_t>(samples[k])];
      }
      pull[q] += scale * total;
    }
    const double one = 1.0;  // the lower triangle of rows is the upper triangle of Fortran's columns
    blas.dsyrk("U", "T", &m, &size, &scale, packed.data(), &most, &one, H, &m);
  }
}

// The same for sparse rows: the products of a sample's entries are added one by one.
template <class R>
void add_curvature(const R& columns, const Active& active, Vector cost, Vector shortfall, double* H, double* pull) {
  const std::size_t m = active.weights.size();
  std::vector<std::size_t> place(cost.size(), active.samples.size());  // of each sample among those that fall short
  for (std::size_t k = 0; k < active.samples.size(); ++k) place[static_cast<std::size_t>(active.samples[k])] = k;
  const auto each = [&](std::size_t q, const auto& work) {
    const Index j = active.weights[q];
    for (Index e = columns.begin(j); e < columns.begin(j + 1); ++e) {
      const std::size_t k = place[static_cast<std::size_t>(columns.indices[e])];
      if (k < active.samples.size()) work(k, columns.value(e));
    }
  };
  std::vector<std::size_t> ends(active.samples.size() + 1, 0);
  for (std::size_t q = 0; q < m; ++q) each(q, [&](std::size_t k, double) { ++ends[k + 1]; });
  for (std::size_t k = 0; k + 1 < ends.size(); ++k) ends[k + 1] += ends[k];
  std::vector<std::size_t> weights(ends.back()), next(ends.begin(), ends.end() - 1);
  std::vector<double> values(ends.back());
  for (std::size_t q = 0; q < m; ++q)
    each(q, [&](std::size_t k, double value) {
      weights[next[k]] = q;
      values[next[k]++] = value;
    });
  for (std::size_t k = 0; k < active.samples.size(); ++k) {
    const auto i = static_cast<std::size_t>(active.samples[k]);
    for (std::size_t e = ends[k]; e < ends[k + 1]; ++e) {
      const double weighted = 2.0 * cost[i] * values[e];
      pull[weights[e]] += weighted * shortfall[i];
      double* row = H + weights[e] * m;
      for (std::size_t f = ends[k]; f <= e; ++f) row[weights[f]] += weighted * values[f];
    }
  }
}

// A place on the line where the derivative bends or jumps.
struct Kink {
  double at, bend, jump;
};

// The t of the minimum; zero where t = 0 is the minimum to rounding.
double length_of(Vector cost, Vector w, Vector direction, Vector shortfall, Vector change) {
  double slope = 0.0, bend = 0.0, first = INFINITY;
  for (std::size_t q = 0; q < w.size(); ++q) {
    slope += sign_of(w[q]) * direction[q];
    if (w[q] * direction[q] < 0.0) first = std::min(first, -w[q] / direction[q]);
  }
  for (std::size_t i = 0; i < cost.size(); ++i) {
    if (shortfall[i] > 0.0 || (shortfall[i] == 0.0 && change[i] < 0.0)) {
      slope -= 2.0 * cost[i] * change[i] * shortfall[i];
      bend += 2.0 * cost[i] * change[i] * change[i];
    }
    if (shortfall[i] * change[i] > 0.0) first = std::min(first, shortfall[i] / change[i]);
  }
  if (!(slope < 0.0)) return 0.0;
  if (bend > 0.0 && -slope <= bend * first) return -slope / bend;  // before anything changes its sign, the usual case near the end
  std::vector<Kink> kinks;
  for (std::size_t q = 0; q < w.size(); ++q)
    if (w[q] * direction[q] < 0.0) kinks.push_back({-w[q] / direction[q], 0.0, 2.0 * std::fabs(direction[q])});
  for (std::size_t i = 0; i < cost.size(); ++i)
    if (shortfall[i] * change[i] > 0.0) {
      const double bends = 2.0 * cost[i] * change[i] * change[i];
      kinks.push_back({shortfall[i] / change[i], shortfall[i] > 0.0 ? -bends : bends, 0.0});
    }
  std::stable_sort(kinks.begin(), kinks.end(), [](const Kink& a, const Kink& b) { return a.at < b.at; });
  double at = 0.0;
  for (const Kink& kink : kinks) {
    const double here = std::max(0.0, bend);
    slope += here * (kink.at - at);
    if (slope >= 0.0) return here > 0.0 ? kink.at - slope / here : kink.at;
    slope += kink.jump;
    if (slope >= 0.0) return kink.at;
    bend += kink.bend;
    at = kink.at;
  }
  return 0.0;  // the objective rises without end along every line, so that only rounding leads here
}

template <class R>
bool newton(const R& columns, Vector cost, Out w, Out shortfall) {
  const Active active(cost, w, shortfall);
  const std::size_t m = active.weights.size();
  if (m == 0) return false;
  std::vector<double> H(m * m, 0.0), direction(m, 0.0), unit(m), old(m), change(cost.size(), 0.0);
  add_curvature(columns, active, cost, shortfall, H.data(), direction.data());
  for (std::size_t q = 0; q < m; ++q) {
    old[q] = w[static_cast<std::size_t>(active.weights[q])];
    unit[q] = 1.0 / std::sqrt(H[q * m + q] > 0.0 ? H[q * m + q] : 1.0);
    direction[q] = unit[q] * (direction[q] - sign_of(old[q]));
    for (std::size_t p = 0; p <= q; ++p) H[q * m + p] *= unit[q] * unit[p];
    H[q * m + q] += ridge;
  }
  const int size = active.size(), one = 1;
  int failed = 0;
  blas.dpotrf("U", &size, H.data(), &size, &failed);
  if (failed != 0) return false;
  blas.dpotrs("U", &size, &one, H.data(), &size, direction.data(), &size, &failed);
  for (std::size_t q = 0; q < m; ++q) {
    direction[q] *= unit[q];
    columns.add(active.weights[q], direction[q], change.data());
  }
  const double t = length_of(cost, old, direction, shortfall, change);
  if (!(t > 0.0)) return false;
  for (std::size_t q = 0; q < m; ++q) {
    const bool stops = old[q] * direction[q] < 0.0 && -old[q] / direction[q] == t;
    w[static_cast<std::size_t>(active.weights[q])] = stops ? 0.0 : old[q] + t * direction[q];
  }
  for (std::size_t i = 0; i < cost.size(); ++i) shortfall[i] -= t * change[i];
  return true;
}

}  // namespace

bool newton_l1(const Rows& columns, Vector cost, Out w, Out shortfall) {
  return std::visit([&](const auto& all) { return newton(all, cost, w, shortfall); }, columns);
}

}  // namespace gapless
