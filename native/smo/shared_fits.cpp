#include "smo/shared_fits.hpp"

#include <algorithm>
#include <cmath>

#include "core/pool.hpp"

namespace gapless::smo {
namespace {

constexpr Index line = 64 / sizeof(float);  // numbers in a line of the cache, where rows begin

}  // namespace

Index SharedFits::room(Places starts) {
  Index numbers = line;
  for (std::size_t a = 0; a + 1 < starts.size(); ++a) numbers += single_room(starts[a + 1] - starts[a]);
  return numbers;
}

SharedFits::SharedFits(const SharedTable& table)
    : table_(table), members_(table.weights.rows), values_(table.K, table.diagonal, table.g, table.r, table.places, table.starts) {
  const Index families = length(table.starts) - 1;
  longest_.resize(static_cast<std::size_t>(members_ * families));
  for (Index m = 0; m < members_; ++m) values_.longest(table.weights.row(m), Out(longest_).subspan(m * families, families));
  found.resize(families * members_);
  const bool suits = suits_single(table_.diagonal), single = std::holds_alternative<Matrix<const float>>(table_.K);
  // A family of all samples reads a table of float32 itself.
  const auto copies = [&](Index a) { return suits && !(single && table.starts[a + 1] - table.starts[a] == length(table_.diagonal)); };
  bool any = false;
  for (Index a = 0; a < families; ++a) any = any || copies(a);
  std::span<float> room = table_.room;
  if (any && length(room) < SharedFits::room(table.starts)) {
    const std::size_t numbers = static_cast<std::size_t>(SharedFits::room(table.starts));
    single_ = Buffer(numbers * sizeof(float));
    room = {static_cast<float*>(single_.data()), numbers};
  }
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(room.data()) % 64;
  float* next = any ? room.data() + (past > 0 ? (64 - past) / sizeof(float) : 0) : nullptr;
  for (Index a = 0; a < families; ++a) {
    families_.push_back(make_family(table_, a, copies(a) ? next : nullptr));
    if (copies(a)) next += single_room(table.starts[a + 1] - table.starts[a]);
  }
}

template <class Work>
void SharedFits::for_each(Index first, Index last, const Work& work) {
  // Where threads share the members of a family, the thread that has the family has rooms for all of them.
  const std::size_t cores = static_cast<std::size_t>(core_count());
  rooms_.resize(std::max(rooms_.size(), cores));
  for (std::vector<FamilyRoom>& each : rooms_) each.resize(std::max(each.size(), cores));
  share(last - first, [&](Index k, int thread) { work(*families_[first + k], first + k, rooms_[thread]); });
}

void SharedFits::advance(Vector C, Vector gap, const SharedTargets& targets) {
  for_each([&](Family& family, Index, std::vector<FamilyRoom>& rooms) {
    family.state(C, gap, targets.kkt, found);
    family.solve(targets, rooms, found);
  });
}

void SharedFits::go_ahead(Matrix<const double> C, Vector gap, Index first, Index last, const SharedTargets& targets) {
  for_each(first, last, [&](Family& family, Index, std::vector<FamilyRoom>& rooms) {
    for (Index turn = 0; turn < C.rows; ++turn) {
      const Vector costs(C.row(turn), static_cast<std::size_t>(members_));
      family.state(costs, gap, targets.kkt, found);
      family.solve(targets, rooms, found);
      family.put_aside(turn, costs, found);
    }
  });
}

void SharedFits::take_up(Index turn, Vector C, Vector gap) {
  for_each([&](Family& family, Index, std::vector<FamilyRoom>&) { family.take_up(turn, C, gap, found); });
}

void SharedFits::tighten(Vector gap, const SharedTargets& targets) {
  for_each([&](Family& family, Index a, std::vector<FamilyRoom>& rooms) {
    family.ask(gap.subspan(a * members_, members_));
    family.solve(targets, rooms, found);
  });
}

void SharedFits::beta(Index member, Out out) const {
  share(count(families_.size()), [&](Index a, int) {
    const double margin = families_[a]->margin(member);
    double* to = out.data() + table_.starts[a];
    for (const double b : families_[a]->beta(member)) *to++ = b / margin;
  });
}

void SharedFits::values(Index member, Places rows, Places which, bool flip, const SharedValues& out) const {
  const Index families = count(families_.size());
  std::vector<FamilyModel> models;
  for (const Index a : which) {
    const Index at = a * members_ + member;
    const Family& family = *families_[a];
    models.push_back({.family = a,
                      .beta = family.beta(member),
                      .f = family.known_f(member),
                      .margin = family.margin(member),
                      .offset = 0.5 * (found.low[at] + found.high[at]),
                      .distance = std::sqrt(found.apart[at]),
                      .longest = longest_[member * families + a]});
  }
  values_.values(models, rows, flip, out);
}

}  // namespace gapless::smo
