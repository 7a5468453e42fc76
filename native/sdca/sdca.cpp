#include "sdca/sdca.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gapless {
namespace {

// Short rows are visited in shuffled buckets of so many neighbours, which the processor fetches ahead. Buckets are not larger, because neighbours in
// a file are often alike and undo each other's steps. Rows are shuffled one by one where there are fewer than 4,096, or where they have more than 64
// entries, eight lines of the cache of float64, and the fetch of the first line no longer matters.
constexpr Index bucket = 8, few = 4096;
constexpr double long_row = 64.0;

// All rows are visited again when the gap among the active rows has fallen to this share of the gap of the last epoch over all rows.
constexpr double returns = 0.1;

// From so many features on w is larger than a core's own cache (1 MB), and features are numbered anew before the third epoch, when a solve has shown
// that it takes more than two: that costs as much as an epoch, and each epoch after it takes two thirds of the time (benchmarks/linear.py,
// imdb_bigram_hashed).
constexpr Index many_features = 1 << 17, renumbering_epoch = 3;

bool is_plain(const DualBox& box) {
  for (Index i = 0; i < box.n; ++i)
    if (box.epsilon[i] != 0.0 || box.d[i] != 0.0 || !std::isfinite(box.lower[i]) || !std::isfinite(box.upper[i])) return false;
  return true;
}

// 1/(q + d). Where q + d = 0, D is straight: 1e300 takes any slope to its bound, and 0 leaves β as it is where there is no bound (a row of zeros
// under a hard margin).
double inverse_curvature(double bend, double lower, double upper) {
  if (bend > 0.0) return 1.0 / bend;
  return std::isfinite(upper - lower) ? 1e300 : 0.0;
}

template <class S>
std::vector<S> samples_of(const Rows& rows, const DualTerms& dual, Vector curvature) {
  std::vector<S> samples(curvature.size());
  const auto* box = std::get_if<DualBox>(&dual);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    S& s = samples[i];
    s.q = curvature[i];
    if (box != nullptr) {
      s.p = box->p[i], s.lower = box->lower[i], s.upper = box->upper[i];
      if constexpr (!S::is_plain) s.epsilon = box->epsilon[i], s.bend = box->d[i];
      s.inverse = inverse_curvature(s.q + s.bend, s.lower, s.upper);
    }
    std::visit(
        [&](const auto& all) {
          s.begin = all.begin(count(i));
          s.length = static_cast<std::uint32_t>(all.begin(count(i) + 1) - s.begin);
        },
        rows);
  }
  return samples;
}

double row_entries(const Rows& rows) {
  return std::visit([](const auto& all) { return std::max(1.0, all.entries() / static_cast<double>(std::max<Index>(1, all.size()))); }, rows);
}

}  // namespace

Sdca::Sdca(const Rows& rows, Index d, const DualTerms& dual, Vector curvature, const SdcaOptions& options)
    : rows_(rows),
      options_(options),
      dual_(dual),
      n_(length(curvature)),
      entries_(row_entries(rows)),
      w_(static_cast<std::size_t>(d)),
      visit_(curvature.size()),
      random_(options.seed) {
  const auto* box = std::get_if<DualBox>(&dual_);
  if (box == nullptr || is_plain(*box))
    samples_ = samples_of<PlainSample>(rows, dual, curvature);
  else
    samples_ = samples_of<BoxSample>(rows, dual, curvature);
  if (box == nullptr || plain()) options_.halved_from = infinity;
  if (plain()) options_.shrinks = false;
  bring_back();
  visit_.clear();
}

void Sdca::resume(Vector beta, Vector w, double b, double separable) {
  std::visit(
      [&](auto& samples) {
        for (std::size_t i = 0; i < samples.size(); ++i) samples[i].beta = beta[i];
      },
      samples_);
  if (number_.empty())
    std::copy(w.begin(), w.end(), w_.begin());
  else
    for (std::size_t j = 0; j < w.size(); ++j) w_[number_[j]] = w[j];
  double total = 0.0, square = 0.0;
  for (const double value : beta) total += value;
  for (const double value : w) square += value * value;
  tally_.moved = total;
  tally_.offset = b + options_.shift * total;
  tally_.gain = separable - 0.5 * square - (b + 0.5 * options_.shift * total) * total;
  bring_back();
}

void Sdca::read_w(Out w) const {
  if (number_.empty())
    std::copy(w_.begin(), w_.end(), w.begin());
  else
    for (std::size_t j = 0; j < w.size(); ++j) w[j] = w_[number_[j]];
}

void Sdca::read_beta(Out beta) const {
  std::visit(
      [&](const auto& samples) {
        for (std::size_t i = 0; i < samples.size(); ++i) beta[i] = samples[i].beta;
      },
      samples_);
}

Index Sdca::step(Index visits, double target) {
  Index made = 0;
  ready_ = false;
  while (made < visits && !ready_) {
    if (position_ == length(Visits(visit_))) order();
    const Index stop = std::min(count(visit_.size()), position_ + visits - made);
    const Visits piece = Visits(visit_).subspan(static_cast<std::size_t>(position_), static_cast<std::size_t>(stop - position_));
    if (halved())
      sweep_in_halves(piece);
    else
      sweep(piece, w_.data(), tally_);
    made += stop - position_;
    position_ = stop;
    if (stop < count(visit_.size())) continue;
    if (plain())
      move_multiplier();
    else
      finish(target);
  }
  return made;
}

void Sdca::sweep(Visits visit, double* w, SdcaTally& tally) {
  const SdcaLoops& loops = sdca_loops();
  std::visit(
      [&](const auto& rows) {
        const auto& loop = loops.of(rows);
        const Index n = length(visit);
        if (auto* box = std::get_if<std::vector<BoxSample>>(&samples_))
          return loop.box(rows, box->data(), visit.data(), n, options_.shift, w, tally);
        PlainSample* plain = std::get<std::vector<PlainSample>>(samples_).data();
        if (const auto* entropy = std::get_if<DualEntropy>(&dual_))
          return loop.entropy(rows, *entropy, plain, visit.data(), n, options_.shift, w, tally);
        loop.plain(rows, plain, visit.data(), n, options_.shift, w, tally);
      },
      rows_);
}

// Sets the visits of the next epoch: every active row once, uniform draws, or the order that was given.
void Sdca::order() {
  const std::size_t total = active_.size();
  if (++epochs_ == renumbering_epoch) renumber();
  position_ = 0;
  if (!options_.order.empty()) {
    visit_ = options_.order;
    return;
  }
  visit_.resize(total);
  if (options_.uniform) return random_.draw(Span<std::uint32_t>(visit_));
  if (count(total) < few || entries_ > long_row) {
    random_.shuffle(Span<std::uint32_t>(active_));
    std::copy(active_.begin(), active_.end(), visit_.begin());
    return;
  }
  const Index whole = count(total) / bucket;
  buckets_.resize(static_cast<std::size_t>(whole));
  for (Index k = 0; k < whole; ++k) buckets_[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(k);
  random_.shuffle(Span<std::uint32_t>(buckets_));
  std::uint32_t* place = visit_.data();
  for (const std::uint32_t number : buckets_) {
    const std::uint32_t* begin = active_.data() + static_cast<Index>(number) * bucket;
    const Index draw = random_.below(bucket * bucket / 2);
    Index at = draw % bucket;
    const Index stride = 2 * (draw / bucket) + 1;  // steps of an odd stride, modulo 8, meet each place of a bucket once
    for (Index k = 0; k < bucket; ++k) {
      *place++ = begin[at];
      at = (at + stride) & (bucket - 1);
    }
  }
  std::copy(active_.begin() + whole * bucket, active_.end(), place);
}

// Numbers the features anew, frequent ones first (by the bits of their counts): the entries of w that are read most often are then side by side, and
// stay in the cache.
void Sdca::renumber() {
  std::visit(
      [&](auto& rows) {
        if constexpr (std::remove_reference_t<decltype(rows)>::is_sparse) {
          const Index first = rows.begin(0), entries = rows.begin(n_) - first;
          if (features() < many_features || entries < features()) return;
          number_.assign(w_.size(), 0);
          for (Index k = 0; k < entries; ++k) ++number_[rows.indices[first + k]];
          std::array<std::uint32_t, 33> begin{};  // for each number of bits, the next number for a feature whose count has so many
          for (const std::uint32_t times : number_)
            for (int bits = static_cast<int>(std::bit_width(times)) - 1; bits >= 0; --bits) ++begin[static_cast<std::size_t>(bits)];
          std::vector<double> w(w_.size());
          for (std::size_t j = 0; j < w.size(); ++j) {
            number_[j] = begin[static_cast<std::size_t>(std::bit_width(number_[j]))]++;
            w[number_[j]] = w_[j];
          }
          w_.swap(w);
          indices_.resize(static_cast<std::size_t>(entries));
          for (Index k = 0; k < entries; ++k) indices_[static_cast<std::size_t>(k)] = number_[rows.indices[first + k]];
          rows.indices = indices_.data() - first;
        }
      },
      rows_);
}

// After an epoch the multiplier b of a free intercept becomes the decision offset b + shift Σβ.
void Sdca::move_multiplier() {
  if (!options_.free_intercept) return;
  tally_.offset += options_.shift * tally_.moved;
  tally_.gain -= options_.shift * tally_.moved * tally_.moved;
}

// After an epoch: leaves out the rows that the epoch has marked, or brings all rows back where the active ones are nearly solved; sets the next
// threshold.
void Sdca::finish(double target) {
  const bool full = count(visit_.size()) == n_;
  gap_ = tally_.gap;
  if (options_.free_intercept) gap_ += std::fabs(tally_.offset * tally_.moved);
  move_multiplier();
  const bool solved = target > 0.0 && gap_ < infinity && gap_ <= target * (tally_.gain + gap_);
  if (full) {
    full_gap_ = gap_;
    ready_ = solved;
  }
  if (!full && (solved || gap_ <= returns * full_gap_)) {
    bring_back();
  } else {
    std::visit(
        [&](const auto& samples) {
          std::erase_if(active_, [&](std::uint32_t i) { return samples[i].gone != 0; });
        },
        samples_);
    tally_.threshold = tally_.largest > 0.0 && options_.shrinks ? tally_.largest : infinity;
    if (active_.empty()) bring_back();
  }
  tally_.gap = tally_.largest = 0.0;
}

// Makes all rows active; with an infinite threshold the next epoch marks none.
void Sdca::bring_back() {
  active_.resize(static_cast<std::size_t>(n_));
  for (std::size_t i = 0; i < active_.size(); ++i) active_[i] = static_cast<std::uint32_t>(i);
  std::visit(
      [](auto& samples) {
        for (auto& s : samples) s.gone = 0;
      },
      samples_);
  tally_.threshold = infinity;
}

}  // namespace gapless
