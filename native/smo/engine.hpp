// The rounds of SMO: choose, solve among the chosen, expand.
//
// Three levels keep the work where it pays. An active set of some thousands, whose kernel matrix is kept (active_set.hpp), takes in the worst violators of
// all samples at each round, and loses those that are farthest from violating; the dual is maximised over it, by blocks that fit a core's cache
// (block.hpp, pairs.hpp), and in the end, when hardly a variable meets a bound any more, by Newton's method (newton_finish.hpp); then what moved is
// expanded to those samples outside that it may bring to violate (laggards.hpp), through panels that keep no kernel row (kernels/panels.hpp), or to all
// of them through rows that are kept where an entry is costly (kept_rows.hpp). A large problem is solved on growing parts of it first, so that a round
// on all samples begins near the optimum. Of a short problem all samples are in the active set, and there is nothing to choose or to expand.
//
// f = Kβ (shift included) is float64 whatever the entries are, and refreshed from scratch when its error could matter.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/dual.hpp"
#include "kernels/panels.hpp"

namespace gapless::smo {

enum class SmoOutcome { running, ready, stalled };

struct SmoAdvance {
  double iterations, work;  // pairs, and entries touched in the unit of entry_work
  SmoOutcome outcome;
};

// Samples in the engine's order; what is pointed to outlives the engine.
struct SmoProblem {
  DualTerms dual;
  const double* diagonal;  // K_ii + shift
  const Index* groups;
  std::vector<double> totals;
  bool coupled;       // whether Σβ is given for each group: the intercept is free
  bool hard;          // whether costs are infinite, and a gap says nothing
  double shift;       // what a regularised intercept adds to each entry
  double zero;        // a gap that counts as none where −D is as small, as in a ν-form whose optimum is zero; 0 elsewhere
  double entry_work;  // what an entry costs
};

struct SmoOptions {
  bool second_order;
  double cache_bytes;  // of the kernel entries that are kept
};

// Where entries come from: panels, whose entries are off by `error` in the mean; or a given matrix, of which `places` are the samples.
struct SmoEntries {
  Panels* panels = nullptr;
  double error = 0.0;
  Matrix<const double> given = {};
  Places places = {};
};

// f[k] = (Kβ)_k + shift Σβ in float64, for each k of `near`, or for all where there is none.
using Exact = std::function<void(Vector beta, std::optional<Places> near, double* f)>;

class Smo {
 public:
  virtual ~Smo() = default;

  // Goes on within the budget, at least by one pair, until the targets are met as far as f tells, or nothing moves. Called again after `ready`, it
  // knows that a proof did not agree.
  virtual SmoAdvance step(double work, double iterations, double gap_target, double kkt_target) = 0;

  virtual Vector beta() const = 0;
  virtual Vector f() const = 0;
  virtual Index reach() const = 0;        // how many of the samples take part so far
  virtual Index active() const = 0;       // how many are in the active set
  virtual Index active_room() const = 0;  // how many it has room for
  virtual bool keeps_rows() const = 0;
  virtual Index finishes() const = 0;     // how often Newton's method moved something
};

std::unique_ptr<Smo> make_smo(SmoProblem problem, SmoEntries entries, Exact exact, Vector start, SmoOptions options);

}  // namespace gapless::smo
