// An optimum of a ν-form that is zero (counts_as_zero of gapless/proof/zero.py): a gap counts as none where neither it nor −D is above ½ (S·R)² times
// the square of the share that a tol allows, and no P below zero is known; where one is, of the least share.
#pragma once

#include <algorithm>

namespace gapless::smo {

inline constexpr double least_zero_share = 1e-6, zero_part = 0.1, most_zero_share = 1e-4;  // _LEAST, _PART and _MOST of gapless/proof/zero.py

// `scale` is ½ (S·R)², or a part of it.
inline bool counts_as_zero(double scale, double tol, double primal, double dual) {
  const double share = primal < 0.0 ? least_zero_share : std::clamp(zero_part * tol, least_zero_share, most_zero_share);
  return std::max(primal, 0.0) - dual <= scale * share * share;
}

}  // namespace gapless::smo
