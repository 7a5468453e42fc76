// An optimum of a ν-form that is zero (gapless/proof/zero.py): a gap counts as none where neither it nor −D is above ½ (S·R)² times the square of the
// share that a tol allows.
#pragma once

#include <algorithm>

namespace gapless::smo {

inline constexpr double least_zero_share = 1e-6, zero_part = 0.1, most_zero_share = 1e-4;  // _LEAST, _PART and _MOST of gapless/proof/zero.py

inline double zero_level(double scale, double tol) {
  const double share = std::clamp(zero_part * tol, least_zero_share, most_zero_share);
  return scale * share * share;
}

}  // namespace gapless::smo
