// A sum by lanes that keeps what rounding loses, lane by lane (core/sums.hpp does it for one sum). Only files *.isa.cpp include this header, as
// core/lanes.hpp says.
#pragma once

#include "core/lanes.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

// The lanes are joined with what each of them has lost, so that the bound of one sum holds (sum_error in proof/rounding.hpp counts the joining).
struct KeptSum {
  Lanes<double> total{}, lost{};
  double rest = 0.0, lost_of_rest = 0.0;

  template <class V>
  GAPLESS_INLINE static void add(const V& value, V& total, V& lost) {
    const V sum = total + value, part = sum - total;
    lost += (total - (sum - part)) + (value - part);
    total = sum;
  }
  template <class V>
  GAPLESS_INLINE void add(const V& value) {
    if constexpr (std::is_same_v<V, Lanes<double>>)
      add(value, total, lost);
    else
      add(value, rest, lost_of_rest);
  }
  GAPLESS_INLINE double value() {
    for (int k = 0; k < lanes<double>; ++k) {
      add(lane<double>(total, k), rest, lost_of_rest);
      lost_of_rest += lane<double>(lost, k);
    }
    return rest + lost_of_rest;
  }
};

}  // namespace
}  // namespace gapless::GAPLESS_LEVEL
