// What the problems of shared fits (shared_fits.hpp) are, how closely they are to be solved, and what is found of them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/span.hpp"
#include "smo/family_values.hpp"

namespace gapless::smo {

struct SharedTable {
  Table K;                // of all samples
  Vector diagonal, g, r;  // of each row of K; g and r as in proof/table_proof.hpp, where r counts the rounding to float32
  Places places, starts;  // the samples of family a are the rows places[starts[a]] to places[starts[a + 1] − 1] of K
  Vector p;               // goes with `places`: the label, −1 or 1, or the target
  bool margins;           // whether the loss is the hinge, else ε-insensitive
  Matrix<const double> weights;  // for each member and each row of K
  Vector epsilon;                // of each member
  Places same = {};              // for each row of K the first one whose sample is the same; empty where all are different
  std::span<float> room = {};    // memory for entries in float32, single_room() of them; where it is less, own memory is taken
};

struct SharedTargets {
  double kkt;       // the bound on the largest violation
  double ahead;     // the share of `kkt` that the engine aims at
  double stricter;  // what both targets are multiplied by where the engine was ready and the proof did not agree
  double turns;     // the most steps for each sample
};

// What was found for each problem: problem a · members + m is that of family a and member m. Where done is 0, the problem was not solved as asked.
struct SharedSolutions {
  std::vector<double> done, own;
  std::vector<double> kept;  // whether all of this is that of the C before, which proves it of this one too
  std::vector<double> low, high, steps, seconds, checked, primal, dual, rounding, violation, outside, off, plain_primal, plain_dual, margin;
  std::vector<double> apart, apart_rounding;  // a bound on ‖w − w*‖², and its part for rounding

  static constexpr std::size_t numbers = 19;
  // The numbers of one problem, in the order of `all`.
  using Row = std::array<double, numbers>;

  void resize(Index problems) {
    for (std::vector<double>* each : all()) each->assign(static_cast<std::size_t>(problems), 0.0);
  }
  Row row(Index problem) {
    Row found;
    const auto columns = all();
    for (std::size_t k = 0; k < numbers; ++k) found[k] = (*columns[k])[problem];
    return found;
  }
  void put(Index problem, const Row& found) {
    const auto columns = all();
    for (std::size_t k = 0; k < numbers; ++k) (*columns[k])[problem] = found[k];
  }

 private:
  std::array<std::vector<double>*, numbers> all() {
    return {&done, &own, &kept, &low, &high, &steps, &seconds, &checked, &primal, &dual, &rounding, &violation, &outside, &off, &plain_primal, &plain_dual,
            &margin, &apart, &apart_rounding};
  }
};

}  // namespace gapless::smo
