// The problems of one family of shared fits (shared_fits.hpp): its members, each at the C that it has come to.
//
// The members of a family go from C to C together: their proofs read the table once for all of them. What was found can be put aside turn by turn, so
// that a family whose entries fit into the cache goes through all its C's while they are there, and be taken up again in the same order.
#pragma once

#include <memory>
#include <vector>

#include "core/span.hpp"
#include "proof/table_proof.hpp"
#include "smo/shared_problems.hpp"
#include "smo/single_entries.hpp"
#include "smo/single_pairs.hpp"
#include "smo/sparse_pairs.hpp"
#include "smo/table_walk.hpp"

namespace gapless::smo {

// Arrays for the problems of one thread.
struct FamilyRoom {
  proof::TableRoom proof;
  SinglePairs pairs;
  SparsePairs sparse_pairs;
  TableWalk walk;
};

class Family {
 public:
  virtual ~Family() = default;
  // States the problems of the members with C > 0, each with a point to begin with, chosen with a view to the bound `kkt` on violations.
  virtual void state(Vector C, Vector gap, double kkt, SharedSolutions& found) = 0;
  // Asks for closer proofs of the problems with gap > 0.
  virtual void ask(Vector gap) = 0;
  // Solves and proves what was stated or asked for; there is a room for each thread.
  virtual void solve(const SharedTargets& targets, std::vector<FamilyRoom>& rooms, SharedSolutions& found) = 0;
  // Puts aside what was found of the members with C > 0.
  virtual void put_aside(Index turn, Vector C, SharedSolutions& found) = 0;
  // The members with C > 0 are again where they were at that turn, or where what has been proven since of the C before holds of this one, with that.
  virtual void take_up(Index turn, Vector C, Vector gap, SharedSolutions& found) = 0;
  // f = Kβ at all rows of K where the family has all of them, else empty.
  virtual Vector known_f(Index member) const = 0;
  virtual Vector beta(Index member) const = 0;
  virtual double margin(Index member) const = 0;
};

// Family number a of the table, which outlives it. `room` is memory for the family's entries in float32, single_room(m) numbers, or null.
std::unique_ptr<Family> make_family(const SharedTable& table, Index a, float* room);

}  // namespace gapless::smo
