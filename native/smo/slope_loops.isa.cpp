#include "smo/slope_loops.hpp"

#include "core/lanes.hpp"
#include "smo/violation.hpp"

namespace gapless::smo::GAPLESS_LEVEL {
namespace {

using namespace gapless::GAPLESS_LEVEL;

constexpr int halvings = 24;        // of a bracket of offsets, at most: more would tell no violators apart
constexpr double telling = 0.1;     // a bracket that is narrower than this share of the bound on violations is not halved

SlopeRange slopes(const DualBox& dual, Index n, const double* beta, const double* f, double* up, double* down) {
  LaneMost top(-big), lowest(-big), size(0.0);
  by_lanes(0, n, [&]<class V>(Index k) {
    const V b = read<V>(beta + k), value = read<V>(f + k), e = read<V>(dual.epsilon + k);
    const V slope = read<V>(dual.p + k) - read<V>(dual.d + k) * b, zero = V{}, most = constant<V>(big);
    const V rise = slope - V(b >= zero ? e : -e) - value, fall = slope - V(b > zero ? e : -e) - value;
    const V above = b >= read<V>(dual.upper + k) ? -most : larger<V>(rise, -most), below = b <= read<V>(dual.lower + k) ? most : smaller<V>(fall, most);
    write(above, up + k);
    write(below, down + k);
    top.add(above);
    lowest.add(V(-below));
    size.add(size_of<V>(value));
  });
  return {top.total(), -lowest.total(), size.total()};
}

// An offset above as many slopes for a rise as it is below slopes for a fall, or about so: with it the fewest variables violate.
double middle(Index n, const double* up, const double* down, double top, double bottom, double kkt) {
  if (!(bottom < big && top > -big)) return 0.0;
  double low = bottom, high = top;
  for (int pass = 0; pass < halvings && high - low > telling * kkt; ++pass) {
    const double offset = 0.5 * (low + high);
    LaneSum more;
    by_lanes(0, n, [&]<class V>(Index k) {
      const V at = constant<V>(offset), one = constant<V>(1.0), zero = V{};
      more.add(V(V(read<V>(up + k) > at ? one : zero) - V(read<V>(down + k) < at ? one : zero)));
    });
    const double count = more.total();
    if (count == 0.0) return offset;
    (count > 0.0 ? low : high) = offset;
  }
  return 0.5 * (low + high);
}

Index violators(Index n, const double* up, const double* down, double top, double bottom, double kkt) {
  const double offset = middle(n, up, down, top, bottom, kkt);
  LaneSum found;
  by_lanes(0, n, [&]<class V>(Index k) {
    const V at = constant<V>(offset), bound = constant<V>(kkt), one = constant<V>(1.0), zero = V{};
    const V most = larger<V>(read<V>(up + k) - at, at - read<V>(down + k));
    found.add(V(most > bound ? one : zero));
  });
  return static_cast<Index>(found.total());
}

void ends(const double* rise, const double* fall, const double* f, Index n, double& top, double& bottom) {
  LaneMost most(-infinity), least(-infinity);
  by_lanes(0, n, [&]<class V>(Index k) {
    const V value = read<V>(f + k);
    most.add(V(read<V>(rise + k) - value));
    least.add(V(value - read<V>(fall + k)));
  });
  top = most.total();
  bottom = least.total();
}

Index larger(const float* row, Index n, float bound) {
  Index found = 0;
  for (Index k = 0; k < n; ++k) found += (row[k] > bound) | (row[k] < -bound);
  return found;
}

}  // namespace

extern const SlopeLoops slope_loops = {slopes, violators, ends, larger};

}  // namespace gapless::smo::GAPLESS_LEVEL
