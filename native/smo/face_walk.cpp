#include "smo/face_walk.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/cancel.hpp"
#include "smo/block.hpp"

namespace gapless::smo {
namespace {

constexpr double ridge_share = 1e-12;  // what is added to M's diagonal, as a share of it: well above the rounding of a factor, below what a step sees
constexpr int most_repeats = 4;        // steps on one face, each of which removes what the ridge and rounding left of the one before
constexpr double solved = 0.1;         // a face is solved where its slopes differ by at most this share of the violation outside it
constexpr double exact = 1e-13;        // the sum of a group is its total where it misses it by at most this share of Σ|β|
constexpr double rounded = 0.1;        // variables near their ends are put there where that moves no f by more than this share of the target,
constexpr double sum_room = 0.25;      // and no sum by more than this share of what a variable has room for
constexpr double more_share = 0.8;     // variables join beside the one that violates most where they violate by this share of it,
constexpr Index most_more = 4;         // and so many at most
constexpr Index most_still = 16;       // steps in a row in which nothing moved: rounding hides the way
constexpr double step_work = 2.0, call_work = 400.0, spread_work = 0.5;  // for each pair of variables of the face, for each step, for each entry

bool between(const DualBox& dual, Index k, double beta) {
  return dual.lower[k] < beta && beta < dual.upper[k] && (dual.epsilon[k] == 0.0 || beta != 0.0);
}

double size_of_face(const DualBox& dual, Index n, const double* beta) {
  double size = 0.0;
  for (Index k = 0; k < n; ++k) size += between(dual, k, beta[k]);
  return size;
}

}  // namespace

double FaceWalk::work_of_beginning(const DualBox& dual, Index n, const double* beta) {
  const double size = size_of_face(dual, n, beta);
  return step_work / 6.0 * size * size * size;
}

double FaceWalk::expected_work(const DualBox& dual, Index n, const double* beta) {
  const double size = size_of_face(dual, n, beta);
  return (size + 16.0) * (call_work + step_work * size * size + spread_work * static_cast<double>(n) * 4.0);
}

FaceWalk::End FaceWalk::go(const Part& part, double target, double most_work, double* beta, double* f) {
  const Index n = part.K.matrix.rows;
  work_ = 0.0;
  moves_ = 0;
  const bool goes_on = std::exchange(tired_, false) && std::equal(known_.begin(), known_.end(), beta, beta + n);
  if (!goes_on && !begin(part, beta, f)) return End::lost;
  find_short(part, beta);
  for (std::size_t k = 0; k < rows_.size(); ++k) slope_[k] = slope(part, beta, f, count(k));
  int repeats = 0;
  Index still = 0;
  for (;;) {
    listen();
    if (!rows_.empty()) {
      if (!newton(part)) break;
      const Index before = moves_;
      const Index met = move(part, beta);
      still = moves_ > before ? 0 : still + 1;
      if (still > most_still) break;
      if (met >= 0) {
        leave(met);
        repeats = 0;
        if (work_ < most_work) continue;
      }
    }
    bring_up_to_date(part, beta, f);
    const Violation found = survey(part.dual, n, part.diagonal, beta, f, part.groups, part.coupled, up_.data(), down_.data());
    if (work_ >= most_work) {
      settle(part, beta, f);
      tired_ = true;
      return End::tired;
    }
    const bool off = find_short(part, beta) > exact;
    double rest = 0.0;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      slope_[k] = slope(part, beta, f, count(k));
      rest = std::max(rest, std::fabs(slope_[k] - (part.coupled ? level_[group_[k]] : 0.0)));
    }
    const bool done = found.worst <= target || found.worst <= found.noise;
    if ((done ? off : rest > solved * found.worst) && repeats < most_repeats && !rows_.empty()) {
      ++repeats;
      continue;
    }
    if (done) {
      round_to_ends(part, target, beta);
      settle(part, beta, f);
      return End::reached;
    }
    repeats = 0;
    if (!enter(part, beta, f)) break;
  }
  settle(part, beta, f);
  return End::lost;
}

bool FaceWalk::begin(const Part& part, const double* beta, const double* f) {
  const Index n = part.K.matrix.rows, groups = part.groups.count;
  factor_.begin(groups);
  for (auto* each : {&low_, &high_, &slope_, &ridge_}) each->clear();
  rows_.clear();
  group_.clear();
  inside_.assign(n, 0);
  known_.assign(beta, beta + n);
  level_.assign(groups, 0.0);
  short_.assign(groups, 0.0);
  members_.assign(groups, 0);
  up_.resize(n);
  down_.resize(n);
  bend_ = 0.0;
  for (Index k = 0; part.coupled && k < n; ++k) bend_ += part.diagonal[k] / static_cast<double>(n);
  for (Index k = 0; k < n; ++k)
    if (between(part.dual, k, beta[k]) && !join(part, beta, f, k, beta[k] > 0.0)) return false;
  return true;
}

// Variable i joins the face, in the piece above zero or below it where these differ.
bool FaceWalk::join(const Part& part, const double* beta, const double* f, Index i, bool rises) {
  const DualBox& dual = part.dual;
  const double* row = part.K.row(i);
  column_.resize(rows_.size());
  const Index group = part.groups.count == 1 ? 0 : part.groups.of[i];
  for (std::size_t k = 0; k < rows_.size(); ++k) column_[k] = row[rows_[k]] + (group_[k] == group ? bend_ : 0.0);
  const double own = part.diagonal[i] + dual.d[i] + bend_, ridge = ridge_share * own;
  work_ += step_work / 2.0 * static_cast<double>(rows_.size() * rows_.size());
  if (!(own > 0.0) || !factor_.append(group, column_, own + ridge, ridge)) return false;
  const bool pieces = dual.epsilon[i] > 0.0;
  const bool above = beta[i] > 0.0 || (beta[i] == 0.0 && rises);
  low_.push_back(pieces && above ? std::max(0.0, dual.lower[i]) : dual.lower[i]);
  high_.push_back(pieces && !above ? std::min(0.0, dual.upper[i]) : dual.upper[i]);
  rows_.push_back(i);
  group_.push_back(group);
  ridge_.push_back(ridge);
  slope_.push_back(slope(part, beta, f, count(rows_.size()) - 1));
  inside_[i] = 1;
  ++members_[group];
  return true;
}

void FaceWalk::leave(Index place) {
  inside_[rows_[place]] = 0;
  --members_[group_[place]];
  factor_.remove(place);
  for (auto* each : {&low_, &high_, &slope_, &ridge_}) each->erase(each->begin() + place);
  rows_.erase(rows_.begin() + place);
  group_.erase(group_.begin() + place);
}

double FaceWalk::find_short(const Part& part, const double* beta) {
  const Index n = part.K.matrix.rows;
  std::copy(part.totals, part.totals + short_.size(), short_.begin());
  if (!part.coupled) return 0.0;
  double size = 0.0, most = 0.0;
  for (Index k = 0; k < n; ++k) {
    short_[part.groups.count == 1 ? 0 : part.groups.of[k]] -= beta[k];
    size += std::fabs(beta[k]);
  }
  for (const double rest : short_) most = std::max(most, std::fabs(rest));
  return size > 0.0 ? most / size : 0.0;
}

double FaceWalk::slope(const Part& part, const double* beta, const double* f, Index place) const {
  const DualBox& dual = part.dual;
  const Index i = rows_[place];
  const double side = high_[place] <= 0.0 ? -1.0 : 1.0;  // ε = 0 where there is no piece
  return dual.p[i] - dual.d[i] * beta[i] - side * dual.epsilon[i] - f[i];
}

// δ and λ for the slopes of the face: with z = R⁻ᵀs and A = R⁻ᵀE, AᵀA λ = Aᵀz − short and δ = R⁻¹(z − Aλ). Groups number two at most.
bool FaceWalk::newton(const Part& part) {
  const Index n = factor_.size(), room = FaceFactor::room(n);
  right_.assign(room, 0.0);
  std::copy(slope_.begin(), slope_.end(), right_.begin());
  half_.assign(room, 0.0);
  factor_.forward(right_.data(), half_.data());
  if (part.coupled) {
    find_levels();
    for (std::size_t g = 0; g < members_.size(); ++g) {
      if (members_[g] == 0) continue;
      const double* a = factor_.A(count(g));
      for (Index k = 0; k < n; ++k) half_[k] -= level_[g] * a[k];
      level_[g] += bend_ * short_[g];
    }
  }
  step_.resize(room);
  factor_.backward(half_.data(), step_.data());
  work_ += call_work + step_work * static_cast<double>(n) * static_cast<double>(n);
  return std::all_of(step_.begin(), step_.end(), [](double d) { return std::isfinite(d); });
}

// λ of the groups that have variables in the face.
void FaceWalk::find_levels() {
  std::vector<Index> present;
  for (std::size_t g = 0; g < members_.size(); ++g)
    if (members_[g] > 0) present.push_back(count(g));
  const Index first = present.front(), last = present.back();
  const double *a = factor_.A(first), *b = factor_.A(last), *z = half_.data();
  const double aa = factor_.dot(a, a), az = factor_.dot(a, z) - short_[first];
  if (first == last) {
    level_[first] = az / aa;
    return;
  }
  const double bb = factor_.dot(b, b), ab = factor_.dot(a, b), bz = factor_.dot(b, z) - short_[last], det = aa * bb - ab * ab;
  level_[first] = (bb * az - ab * bz) / det;
  level_[last] = (aa * bz - ab * az) / det;
}

// Moves β along δ as far as no variable passes the end of its piece, and the slopes with it: K_FF δ = s − Eλ − ridge δ.
Index FaceWalk::move(const Part& part, double* beta) {
  const Index n = count(rows_.size());
  double t = 1.0;
  Index met = -1;
  for (Index k = 0; k < n; ++k) {
    if (step_[k] == 0.0) continue;
    const double room = ((step_[k] > 0.0 ? high_[k] : low_[k]) - beta[rows_[k]]) / step_[k];
    if (room < t) {
      t = std::max(room, 0.0);
      met = k;
    }
  }
  for (double& rest : short_) rest *= 1.0 - t;
  for (Index k = 0; k < n; ++k) {
    double& value = beta[rows_[k]];
    const double to = k == met ? (step_[k] > 0.0 ? high_[k] : low_[k]) : std::clamp(value + t * step_[k], low_[k], high_[k]);
    moves_ += to != value;
    value = to;
    slope_[k] -= t * (slope_[k] - (part.coupled ? level_[group_[k]] : 0.0) - ridge_[k] * step_[k]);
  }
  return met;
}

void FaceWalk::bring_up_to_date(const Part& part, const double* beta, double* f) {
  const Index n = part.K.matrix.rows;
  moved_.clear();
  change_.clear();
  for (Index k = 0; k < n; ++k)
    if (beta[k] != known_[k]) {
      moved_.push_back(k);
      change_.push_back(beta[k] - known_[k]);
      known_[k] = beta[k];
    }
  const Matrix<const double> K = part.K.with(moved_);
  spread<double>({K.data, n, n, K.stride}, moved_, change_.data(), f);
  work_ += spread_work * static_cast<double>(n) * static_cast<double>(moved_.size() + 2);
}

// Puts variables that are within rounding of an end of their piece there: a step to the maximum over a face leaves them short of it by what the
// condition of M makes of rounding, and what is nearly zero would count as a support vector. All of them together move no f by more than a small share
// of the target. A variable of their group that is far from its ends takes what they leave of the sum (settle).
void FaceWalk::round_to_ends(const Part& part, double target, double* beta) const {
  const double longest = *std::max_element(part.diagonal, part.diagonal + part.K.matrix.rows);
  std::vector<double> room(members_.size(), part.coupled ? 0.0 : infinity);
  std::vector<std::pair<double, std::size_t>> near;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const double apart = std::min(high_[k] - beta[rows_[k]], beta[rows_[k]] - low_[k]);
    room[group_[k]] = std::max(room[group_[k]], sum_room * apart);
    if (apart * std::sqrt(part.diagonal[rows_[k]] * longest) <= rounded * target) near.emplace_back(apart, k);
  }
  std::sort(near.begin(), near.end());
  double left = rounded * target;
  for (const auto& [apart, k] : near) {
    left -= apart * std::sqrt(part.diagonal[rows_[k]] * longest);
    room[group_[k]] -= apart;
    if (left < 0.0 || room[group_[k]] < 0.0) return;
    double& value = beta[rows_[k]];
    value = high_[k] - value < value - low_[k] ? high_[k] : low_[k];
  }
}

// Brings f up to date with β, whose sums become the totals exactly: what a sum is short of is added to the variable that is farthest from the ends of
// its piece. A proof would otherwise move all variables of one sign for it, and those at a bound would no longer be there.
void FaceWalk::settle(const Part& part, double* beta, double* f) {
  find_short(part, beta);
  for (Index g = 0; part.coupled && g < part.groups.count; ++g) {
    Index best = -1;
    double most = 2.0 * std::fabs(short_[g]);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const double value = beta[rows_[k]], room = std::min(high_[k] - value, value - low_[k]);
      if (group_[k] == g && room > most) {
        most = room;
        best = rows_[k];
      }
    }
    if (best >= 0) beta[best] += short_[g];
  }
  bring_up_to_date(part, beta, f);
}

// The variable outside the face that violates most joins it, and a few that violate nearly as much; where no variable of its group is in the face, the
// one that it makes a pair with.
bool FaceWalk::enter(const Part& part, const double* beta, const double* f) {
  const Index n = part.K.matrix.rows;
  double worst = 0.0;
  Index best = -1, partner = -1;
  bool rises = false;
  for (Index g = 0; g < part.groups.count; ++g) {
    Index top = -1, bottom = -1;
    for (Index k = 0; k < n; ++k) {
      if (inside_[k] || (part.groups.count > 1 && part.groups.of[k] != g)) continue;
      if (up_[k] > -big && (top < 0 || up_[k] > up_[top])) top = k;
      if (down_[k] < big && (bottom < 0 || down_[k] < down_[bottom])) bottom = k;
    }
    if (part.coupled && members_[g] == 0) {
      if (top < 0 || bottom < 0 || !(up_[top] - down_[bottom] > worst)) continue;
      worst = up_[top] - down_[bottom];
      best = top;
      partner = bottom;
      rises = true;
      continue;
    }
    const double level = part.coupled ? level_[g] : 0.0;
    if (top >= 0 && up_[top] - level > worst) {
      worst = up_[top] - level;
      best = top;
      partner = -1;
      rises = true;
    }
    if (bottom >= 0 && level - down_[bottom] > worst) {
      worst = level - down_[bottom];
      best = bottom;
      partner = -1;
      rises = false;
    }
  }
  if (best < 0 || !join(part, beta, f, best, rises)) return false;
  if (partner >= 0) return join(part, beta, f, partner, false);
  Index more = 0;
  for (Index k = 0; k < n && more < most_more; ++k) {
    const Index g = part.groups.count == 1 ? 0 : part.groups.of[k];
    if (inside_[k] || (part.coupled && members_[g] == 0)) continue;
    const double level = part.coupled ? level_[g] : 0.0, up = up_[k] - level, down = level - down_[k];
    if (std::max(up, down) <= more_share * worst) continue;
    if (!join(part, beta, f, k, up > down)) return false;
    ++more;
  }
  return true;
}

}  // namespace gapless::smo
