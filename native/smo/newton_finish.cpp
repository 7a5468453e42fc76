#include "smo/newton_finish.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/blas.hpp"
#include "core/cancel.hpp"
#include "smo/block.hpp"
#include "smo/violation.hpp"

namespace gapless::smo {
namespace {

constexpr double turned_share = 0.25;  // the share of the face that may have changed in the round of pairs before
constexpr double worth = 100'000.0;    // multiplications of a factorisation (the cube of the face's size) that take as long as a pair
// A share of the mean diagonal that is added to M: along directions of less curvature a step gains less, and meets fewer bounds on its way.
constexpr double ridge = 1e-4;
constexpr double held_share = 0.25;    // the share of the face that may be held at bounds; where more would be, the face is not known yet
constexpr double join_share = 0.1;     // the share of the face that may be appended to a factor; where more join, M is factored anew
constexpr int most_steps = 12;         // the most Newton steps: each gains a digit or more
constexpr int most_passes = 12;        // how often variables may be added to those held in a step
constexpr double enter_share = 0.5;    // variables at a bound that violate by more than this share of the target join the face

bool inside(const DualBox& dual, Index k, double beta) { return dual.lower[k] < beta && beta < dual.upper[k] && beta != 0.0; }

double median_of(std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + half, values.end());
  if (values.size() % 2 == 1) return values[half];
  return 0.5 * (values[half] + *std::max_element(values.begin(), values.begin() + half));
}

// B = L⁻¹ B, where B has n rows.
void solve_lower(const std::vector<double>& L, int n, double* B, int columns) {
  const double one = 1.0;
  if (columns > 0) blas.dtrsm("L", "L", "N", "N", &n, &columns, &one, L.data(), &n, B, &n);
}

}  // namespace

Index paying_face(const DualBox& dual, Index n, const double* before, const double* after, double pairs, double room) {
  double size = 0.0, turned = 0.0;
  for (Index k = 0; k < n; ++k) {
    const bool is = inside(dual, k, after[k]), was = inside(dual, k, before[k]);
    size += is;
    turned += is != was;
  }
  const double most = std::floor(std::min(std::cbrt(worth * pairs), std::sqrt(std::max(0.0, room) / 8.0)));
  return size > 0.0 && turned <= turned_share * size && size <= most ? static_cast<Index>(most) : 0;
}

template <class T>
bool Face<T>::become(const std::vector<char>& wanted) {
  const Index m = count(wanted.size()), known = count(rows.size());
  std::vector<char> is(m, 0);
  for (const Index k : rows) is[k] = 1;
  std::vector<Index> joining;
  Index leaving = 0;
  for (Index k = 0; k < m; ++k) {
    if (wanted[k] && !is[k]) joining.push_back(k);
    leaving += is[k] && !wanted[k];
  }
  const Index fresh = count(joining.size());
  int info = 0;
  if (static_cast<double>(fresh) > join_share * static_cast<double>(known) || 2.0 * static_cast<double>(leaving) > held_share * static_cast<double>(known)) {
    rows.clear();
    for (Index k = 0; k < m; ++k)
      if (wanted[k]) rows.push_back(k);
    const Index n = count(rows.size());
    L.resize(n * n);
    for (Index j = 0; j < n; ++j) {
      const T* row = K_.row(rows[j]);
      for (Index i = j; i < n; ++i) L[j * n + i] = row[rows[i]];
      L[j * n + j] += bend_[rows[j]];
    }
    const int order = static_cast<int>(n);
    blas.dpotrf("L", &order, L.data(), &order, &info);
    return info == 0;
  }
  if (fresh == 0) return true;
  const Index n = known + fresh;
  std::vector<double> across(known * fresh), corner(fresh * fresh);
  for (Index j = 0; j < fresh; ++j) {
    const T* row = K_.row(joining[j]);
    for (Index i = 0; i < known; ++i) across[j * known + i] = row[rows[i]];
    for (Index i = 0; i < fresh; ++i) corner[j * fresh + i] = row[joining[i]];
    corner[j * fresh + j] += bend_[joining[j]];
  }
  const int old = static_cast<int>(known), more = static_cast<int>(fresh);
  const double minus = -1.0, one = 1.0;
  solve_lower(L, old, across.data(), more);
  blas.dsyrk("L", "T", &more, &old, &minus, across.data(), &old, &one, corner.data(), &more);
  blas.dpotrf("L", &more, corner.data(), &more, &info);
  if (info != 0) return false;
  std::vector<double> larger(n * n, 0.0);
  for (Index j = 0; j < known; ++j) {
    std::copy(L.begin() + j * known + j, L.begin() + (j + 1) * known, larger.begin() + j * n + j);
    for (Index i = 0; i < fresh; ++i) larger[j * n + known + i] = across[i * known + j];
  }
  for (Index j = 0; j < fresh; ++j)
    std::copy(corner.begin() + j * fresh + j, corner.begin() + (j + 1) * fresh, larger.begin() + (known + j) * n + known + j);
  L = std::move(larger);
  rows.insert(rows.end(), joining.begin(), joining.end());
  return true;
}

template <class T>
std::vector<double> Face<T>::step(const std::vector<double>& g, Groups groups, const std::vector<double>& least, const std::vector<double>& most,
                                  const std::vector<Index>& out) const {
  const int n = static_cast<int>(g.size()), increment = 1;
  const double one = 1.0, zero = 0.0, minus = -1.0;
  std::vector<double> right(g);
  right.resize(n * (1 + groups.count), 0.0);
  for (Index k = 0; groups.count > 0 && k < n; ++k) right[n * (1 + groups.of[k]) + k] = 1.0;
  solve_lower(L, n, right.data(), static_cast<int>(1 + groups.count));
  // Y holds the columns of L⁻¹ for the variables that are held; L⁻¹E is appended to them in B.
  std::vector<Index> held, open(groups.count), bound;  // open: the variables of a group that are not held; bound: the groups whose sum is given
  std::vector<double> at, Y;
  std::vector<char> is_held(n, 0);
  const auto hold = [&](const std::vector<Index>& which, const std::vector<double>& values) {
    const std::size_t begin = Y.size();
    Y.resize(begin + which.size() * n, 0.0);
    for (std::size_t k = 0; k < which.size(); ++k) Y[begin + k * n + which[k]] = 1.0;
    solve_lower(L, n, Y.data() + begin, static_cast<int>(which.size()));
    for (const Index k : which) is_held[k] = 1;
    held.insert(held.end(), which.begin(), which.end());
    at.insert(at.end(), values.begin(), values.end());
  };
  hold(out, std::vector<double>(out.size(), 0.0));
  // The sum of a group whose variables are all held is what these add up to: false where that is not zero.
  const auto find_open = [&] {
    std::fill(open.begin(), open.end(), Index(0));
    for (Index k = 0; groups.count > 0 && k < n; ++k) open[groups.of[k]] += !is_held[k];
    bound.clear();
    for (Index group = 0; group < groups.count; ++group)
      if (open[group] > 0) bound.push_back(group);
    for (std::size_t k = 0; groups.count > 0 && k < held.size(); ++k)
      if (at[k] != 0.0 && open[groups.of[held[k]]] == 0) return false;
    return true;
  };
  std::vector<double> change, B, S, multipliers;
  std::vector<int> pivots;
  for (int pass = 0; pass < most_passes; ++pass) {
    listen();
    change.assign(right.begin(), right.begin() + n);
    if (!find_open()) return {};
    const int columns = static_cast<int>(held.size() + bound.size());
    if (columns > 0) {  // a multiplier μ for each variable held, and −c: (BᵀB) μ = (at, 0) − Bᵀ change, then change += B μ
      B = Y;
      for (const Index group : bound) B.insert(B.end(), right.begin() + n * (1 + group), right.begin() + n * (2 + group));
      S.assign(static_cast<std::size_t>(columns) * columns, 0.0);
      multipliers = at;
      multipliers.resize(columns, 0.0);
      blas.dgemm("T", "N", &columns, &columns, &n, &one, B.data(), &n, B.data(), &n, &zero, S.data(), &columns);
      blas.dgemv("T", &n, &columns, &minus, B.data(), &n, change.data(), &increment, &one, multipliers.data(), &increment);
      pivots.resize(columns);
      int info = 0;
      blas.dgesv(&columns, &increment, S.data(), &columns, pivots.data(), multipliers.data(), &columns, &info);
      if (info != 0) return {};
      blas.dgemv("N", &n, &columns, &one, B.data(), &n, multipliers.data(), &increment, &one, change.data(), &increment);
    }
    blas.dtrsv("L", "T", "N", &n, L.data(), &n, change.data(), &increment);
    for (std::size_t k = 0; k < held.size(); ++k) change[held[k]] = at[k];
    std::vector<Index> past;
    std::vector<double> bounds;
    for (Index k = 0; k < n; ++k)
      if (!is_held[k] && (change[k] > most[k] || change[k] < least[k])) {
        past.push_back(k);
        bounds.push_back(change[k] > most[k] ? most[k] : least[k]);
      }
    if (past.empty()) return change;
    if (static_cast<double>(held.size() + past.size()) > held_share * n) return {};
    hold(past, bounds);
  }
  return {};
}

template <class T>
Index solve_face(const DualBox& dual, const double* diagonal, Matrix<const T> K, Groups groups, bool coupled, double target, Index most_on_face,
                 double* beta, double* f) {
  const Index m = K.rows;
  Index moves = 0;
  std::vector<double> up(m), down(m), slope(m), bend(m), levels, after(m);
  std::vector<std::optional<double>> level(groups.count);
  std::vector<Index> own;
  const auto group_of = [&](Index k) { return groups.count == 1 ? 0 : groups.of[k]; };
  std::vector<char> wanted(m), above(m);
  double mean = 0.0;
  for (Index k = 0; k < m; ++k) mean += diagonal[k] / static_cast<double>(m);
  for (Index k = 0; k < m; ++k) bend[k] = dual.d[k] + ridge * mean;
  Face<T> face(K, bend);
  for (int step = 0; step < most_steps; ++step) {
    listen();
    const double worst = survey(dual, m, diagonal, beta, f, groups, coupled, up.data(), down.data()).worst;
    if (worst <= target) break;
    bool any = false;
    for (Index group = 0; group < groups.count; ++group) {  // the level of a group on the face is the median of its slopes; where it is not there, none
      levels.clear();
      for (Index k = 0; k < m; ++k)
        if (group_of(k) == group && inside(dual, k, beta[k])) levels.push_back(up[k]);
      any = any || !levels.empty();
      level[group] = levels.empty() ? std::nullopt : std::optional(coupled ? median_of(levels) : 0.0);
    }
    if (!any) break;
    for (Index k = 0; k < m; ++k) {
      // The piece of the dual that a variable is in, or would enter, is above or below zero (|β| has its kink there). A variable at the far end of
      // its piece can only move back.
      const bool between = inside(dual, k, beta[k]);
      const std::optional<double>& own_level = level[group_of(k)];
      const double middle = own_level.value_or(0.0);
      above[k] = beta[k] == 0.0 ? up[k] - middle > middle - down[k] : beta[k] > 0.0;
      const bool rises = static_cast<bool>(above[k]) != (beta[k] != 0.0 && !between);
      slope[k] = rises ? up[k] : down[k];
      wanted[k] = between || (own_level && (rises ? slope[k] - middle : middle - slope[k]) > enter_share * target);
    }
    // Samples that have entered the active set since may violate, and all of them join the face.
    if (std::count(wanted.begin(), wanted.end(), 1) > most_on_face || !face.become(wanted)) break;
    const std::vector<Index>& rows = face.rows;
    const Index n = count(rows.size());
    std::vector<double> least(n), most(n), g(n);
    std::vector<Index> out;
    own.clear();
    for (Index k = 0; k < n; ++k) {
      const Index i = rows[k];
      own.push_back(group_of(i));
      least[k] = (above[i] ? 0.0 : dual.lower[i]) - beta[i];
      most[k] = (above[i] ? dual.upper[i] : 0.0) - beta[i];
      g[k] = wanted[i] ? slope[i] : 0.0;
      if (!wanted[i]) out.push_back(k);
    }
    const std::vector<double> change = face.step(g, {own.data(), coupled ? groups.count : 0}, least, most, out);
    if (change.empty()) break;
    std::copy(f, f + m, after.begin());
    spread<T>({K.data, m, m, K.stride}, rows, change.data(), after.data());
    double gain = 0.0, curve = 0.0;
    for (Index k = 0; k < n; ++k) {
      const Index i = rows[k];
      gain += g[k] * change[k];
      curve += change[k] * (after[i] - f[i]) + dual.d[i] * change[k] * change[k];
    }
    if (!(gain > 0.0)) break;
    const double t = curve > 0.0 ? std::min(1.0, gain / curve) : 1.0;
    for (Index k = 0; k < m; ++k) f[k] += t * (after[k] - f[k]);
    for (Index k = 0; k < n; ++k) {
      const Index i = rows[k];
      if (!wanted[i]) continue;
      const double low = above[i] ? 0.0 : dual.lower[i], high = above[i] ? dual.upper[i] : 0.0;
      beta[i] = std::min(std::max(beta[i] + t * change[k], low), high);
    }
    moves += n;
  }
  return moves;
}

template class Face<float>;
template class Face<double>;
template Index solve_face(const DualBox&, const double*, Matrix<const float>, Groups, bool, double, Index, double*, double*);
template Index solve_face(const DualBox&, const double*, Matrix<const double>, Groups, bool, double, Index, double*, double*);

}  // namespace gapless::smo
