// A generator whose numbers follow from the seed alone, on every machine: xorshift64* (Vigna 2016), with the full period of 2⁶⁴ − 1.
#pragma once

#include <cstdint>
#include <utility>

#include "core/span.hpp"

namespace gapless {

class Random {
 public:
  // A state of zero would stay zero.
  explicit Random(std::uint64_t seed) : state_(seed != 0 ? seed : 1) {}

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * UINT64_C(2685821657736338717);
  }

  // A number from 0 to n − 1: the upper 32 bits times n over 2³², without a division; each is as likely as any other to within 2⁻³² n.
  Index below(Index n) { return static_cast<Index>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32); }

  // A random order of `values`, each as likely as any other (Fisher & Yates).
  template <class T>
  void shuffle(Span<T> values) {
    for (Index k = length(values) - 1; k > 0; --k)
      std::swap(values[static_cast<std::size_t>(k)], values[static_cast<std::size_t>(below(k + 1))]);
  }

  // Fills `values` with n draws from 0 to n − 1, with replacement, where n is its length.
  template <class T>
  void draw(Span<T> values) {
    for (T& value : values) value = static_cast<T>(below(length(values)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace gapless
