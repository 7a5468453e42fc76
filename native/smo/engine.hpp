// The rounds of SMO: choose variables, maximise the dual over them, expand the change of β to f.
//
// An active set of some thousand samples, whose kernel matrix is kept (active_set.hpp), takes in the worst violators of all samples at each round,
// and loses those that are farthest from violating. The dual is maximised over the active set by blocks that fit a core's cache (block.hpp,
// pairs.hpp) and, in the end, when hardly a variable meets a bound any more, by Newton's method (newton_finish.hpp). Then the change of β is expanded
// to f of those samples outside that it may bring to violate (laggards.hpp), through panels that keep no kernel row (kernels/panels.hpp), or to f of
// all samples through rows that are kept where an entry is costly (kept_rows.hpp). A large problem is first solved on growing parts of it, so that a
// round on all samples begins near the optimum. In a short problem all samples are in the active set, and nothing is chosen or expanded; pairs take
// turns there with walks from face to face of the box (turns.hpp).
//
// f = Kβ (shift included) is float64 whatever the entries are, and refreshed from scratch when its error could matter.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/dual.hpp"
#include "kernels/panels.hpp"
#include "smo/active_set.hpp"

namespace gapless::smo {

enum class SmoOutcome { running, ready, stalled };

struct SmoAdvance {
  double iterations, work;  // the pairs, and the work in stored entries of X
  SmoOutcome outcome;
};

// The problem, with samples in the engine's order. The arrays must outlive the engine.
struct SmoProblem {
  DualTerms dual;
  const double* diagonal;  // K_ii + shift
  const Index* groups;
  std::vector<double> totals;
  bool coupled;       // whether Σβ is given for each group: the intercept is free
  bool hard;          // whether costs are infinite, and a gap says nothing
  double shift;       // s², which a regularised intercept adds to each entry; else 0
  double zero;        // ½ (S·R)² of a ν-form whose optimum may be zero (zero.hpp); 0 elsewhere
  double entry_work;  // the work of one kernel entry, in stored entries of X
};

struct SmoOptions {
  bool second_order;
  double cache_bytes;  // the memory for kernel entries that are kept
  bool walk_first = false;  // whether a short problem begins with a walk over faces, since pairs have been tried
};

// The source of entries: panels, or a given matrix, in which sample k is at places[k], in float64 or in float32. Entries in float32 have an error of
// `error` in the mean.
struct SmoEntries {
  Panels* panels = nullptr;
  LastTable<float>* last = nullptr;  // of panels in float32: the table that the last solver on them has left
  double error = 0.0;
  Matrix<const double> given = {};
  Matrix<const float> given_single = {};
  Places places = {};
};

// Writes f[k] = (Kβ)_k + shift Σβ in float64 for each k of `near`, or for all samples without `near`.
using Exact = std::function<void(Vector beta, std::optional<Places> near, double* f)>;

class Smo {
 public:
  virtual ~Smo() = default;

  // Goes on within the budget of work and pairs, at least by one pair, until f as it is kept meets the targets (`ready`) or nothing moves
  // (`stalled`). A call after `ready` means that a proof did not agree.
  virtual SmoAdvance step(double work, double iterations, double gap_target, double kkt_target) = 0;

  virtual Vector beta() const = 0;
  virtual Vector f() const = 0;
  virtual Index reach() const = 0;        // the number of samples that take part so far
  virtual Index active() const = 0;       // the number of members of the active set
  virtual Index active_room() const = 0;  // the number of members that it has room for
  // Whether an active set in float64 would have room for all free support vectors; where it has none, rounds take turns with parts of them.
  virtual bool fits_in_full() const = 0;
  virtual bool keeps_rows() const = 0;    // whether kernel rows are kept beside the active set
  virtual Index finishes() const = 0;     // the number of rounds and walks in which Newton's method moved a variable
};

// `start` is the first β; `start_f` is its f in float64, where the caller knows it, and empty otherwise.
std::unique_ptr<Smo> make_smo(SmoProblem problem, SmoEntries entries, Exact exact, Vector start, SmoOptions options, Vector start_f = {});

}  // namespace gapless::smo
