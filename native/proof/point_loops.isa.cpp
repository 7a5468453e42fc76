// This file is compiled without contraction, as all of the proof is: each operation rounds once, and the constants below count on that.
#include "proof/point_loops.hpp"

#include "proof/kept_sum.hpp"

namespace gapless::GAPLESS_LEVEL {
namespace {

using proof::unit;

template <class V>
GAPLESS_INLINE V clipped(const V& value, const V& lower, const V& upper) { return smaller<V>(larger<V>(value, lower), upper); }

template <class V>
GAPLESS_INLINE V error_of(const proof::Errors& errors, Index i, const V& f) {
  return errors.factor * read<V>(errors.sizes.data() + i) + (errors.least + errors.relative * size_of<V>(f));
}

double largest(const double* values, Index n) {
  LaneMost most(0.0);
  by_lanes(0, n, [&]<class V>(Index i) { most.add(size_of<V>(read<V>(values + i))); });
  return most.total();
}

ReachSums reach(const double* beta, const double* g, const double* r, Index n) {
  LaneSum size, reach, rough;
  LaneMost largest(0.0);
  by_lanes(0, n, [&]<class V>(Index i) {
    const V b = size_of<V>(read<V>(beta + i)), of_g = read<V>(g + i);
    size.add(b);
    reach.add(V(b > V{} ? of_g * b : V{}));  // g and r may be infinite, and 0 · ∞ is NaN
    rough.add(V(b > V{} ? read<V>(r + i) * b : V{}));
    largest.add(of_g);
  });
  return {{size.total(), reach.total(), rough.total()}, largest.total()};
}

void errors(const proof::ExpansionError& of, const double* g, const double* r, Index n, double* to) {
  by_lanes(0, n, [&]<class V>(Index i) {
    const V error = of.of_g * read<V>(g + i) + of.of_r * read<V>(r + i) + of.floor;
    write(V(error == error ? error : constant<V>(infinity)), to + i);
  });
}

SquareSums square(const double* beta, const double* of_f, const proof::Errors& errors, Index begin, Index end) {
  KeptSum product;
  LaneSum slack, products, finite;
  by_lanes(begin, end, [&]<class V>(Index i) {
    const V b = read<V>(beta + i), f = read<V>(of_f + i), each = b * f;
    product.add(each);
    slack.add(V(b != V{} ? size_of<V>(b) * error_of(errors, i, f) : V{}));  // an error may be infinite
    products.add(size_of<V>(each));
    finite.add(V(0.0 * f));
  });
  return {product.value(), slack.total(), products.total(), finite.total()};
}

struct KeptSides {
  KeptSum sum, up, down;

  template <class V>
  GAPLESS_INLINE void add(const V& b) {
    sum.add(b);
    up.add(larger<V>(b, V{}));
    down.add(larger<V>(-b, V{}));
  }
  GAPLESS_INLINE SideSums value() { return {sum.value(), up.value(), down.value()}; }
};

SideSums sides(const double* beta, double start, Index begin, Index end) {
  KeptSides sums;
  sums.sum.rest = start;
  by_lanes(begin, end, [&]<class V>(Index i) { sums.add(read<V>(beta + i)); });
  return sums.value();
}

ClipSums clip(const double* lower, const double* upper, const double* beta, Index n, double* to) {
  KeptSides sums;
  LaneMost outside(0.0);
  LaneSum finite;
  by_lanes(0, n, [&]<class V>(Index i) {
    const V b = read<V>(beta + i), inside = clipped<V>(b, read<V>(lower + i), read<V>(upper + i));
    sums.add(inside);
    outside.add(size_of<V>(b - inside));
    finite.add(V(0.0 * b));
    write(inside, to + i);
  });
  return {sums.value(), outside.total(), finite.total()};
}

void shrink(double side, double kept, Index n, double* values) {
  by_lanes(0, n, [&]<class V>(Index i) {
    const V value = read<V>(values + i);
    write(V(side * value > V{} ? kept * value : value), values + i);
  });
}

MultipleSums multiple(const PointTask& task) {
  const DualBox& box = task.box;
  KeptSum linear, bend;
  LaneMost nearest(-infinity), largest(0.0);
  by_lanes(task.begin, task.end, [&]<class V>(Index i) {
    const V b = read<V>(task.beta + i), size = size_of<V>(b);
    const V bound = b > V{} ? read<V>(box.upper + i) : read<V>(box.lower + i);
    linear.add(V(read<V>(box.p + i) * b - read<V>(box.epsilon + i) * size));
    bend.add(V(read<V>(box.d + i) * (b * b)));
    nearest.add(V(b != V{} ? -(bound / b) : constant<V>(-infinity)));
    largest.add(size);
  });
  return {linear.value(), bend.value(), -nearest.total(), largest.total()};
}

void scale(const DualBox& box, double s, Index n, double* beta, double* f) {
  by_lanes(0, n, [&]<class V>(Index i) {
    write(V(s * read<V>(f + i)), f + i);
    write(clipped<V>(s * read<V>(beta + i), read<V>(box.lower + i), read<V>(box.upper + i)), beta + i);
  });
}

TermSums terms(const PointTask& task) {
  const DualBox& box = task.box;
  KeptSum sum;
  LaneSum sizes;
  by_lanes(task.begin, task.end, [&]<class V>(Index i) {
    const V b = read<V>(task.beta + i), size = size_of<V>(b), d = read<V>(box.d + i);
    const V linear = read<V>(box.p + i) * b, kink = read<V>(box.epsilon + i) * size;
    sum.add(V(linear - kink - 0.5 * d * b * b));
    sizes.add(V(size_of<V>(linear) + kink + d * b * b));
  });
  return {sum.value(), sizes.total()};
}

SlopeEnds ends(const PointTask& task, double shift, double width, double largest) {
  const DualBox& box = task.box;
  LaneMost top(-infinity), bottom(-infinity), highest(-infinity), lowest(-infinity);  // the least of a and b is −(the most of −a and −b)
  LaneSum doubt;
  by_lanes(task.begin, task.end, [&]<class V>(Index i) {
    const V b = read<V>(task.beta + i), lower = read<V>(box.lower + i), upper = read<V>(box.upper + i), e = read<V>(box.epsilon + i);
    const V slope = read<V>(box.p + i) - read<V>(box.d + i) * b - (read<V>(task.f + i) + shift);
    const V wide = upper - lower, slack = width * V(wide < constant<V>(infinity) ? wide : constant<V>(largest));
    const V rise = slope - V(b >= V{} ? e : -e), fall = slope - V(b > V{} ? e : -e);
    top.add(V(b < upper - slack ? rise : constant<V>(-infinity)));
    bottom.add(V(b > lower + slack ? -fall : constant<V>(-infinity)));
    highest.add(slope);
    lowest.add(V(-slope));
    doubt.add(V(0.0 * slope));
  });
  return {top.total(), -bottom.total(), highest.total(), -lowest.total(), doubt.total()};
}

ShrinkSums shrink_loss(const ShrinkTask& task) {
  const DualBox& box = task.point.box;
  LaneSum gain, doubt, moved;
  const double n = static_cast<double>(task.point.end - task.point.begin), most = task.most;
  by_lanes(task.point.begin, task.point.end, [&]<class V>(Index i) {
    const V b = read<V>(task.point.beta + i), f = read<V>(task.point.f + i), p = read<V>(box.p + i), e = read<V>(box.epsilon + i);
    const V way = task.side * b > V{} ? -b : V{}, long_way = size_of<V>(way);
    // A point certainly beyond the end of the move (proof/repair_loss.cpp); 2u|near| is no less than the distance of `near` to its neighbour.
    const V near = b + 2.0 * most * way, step = 2.0 * unit * size_of<V>(near) + 1e-300, to = near + V(way > V{} ? step : -step);
    const V bend = read<V>(box.d + i) * to, slope = p - V(to > V{} ? e : -e) - bend;
    const V slope_error = 4.0 * unit * (size_of<V>(p) + e + size_of<V>(bend)), rise = slope - f;
    const V error = slope_error + error_of(task.errors, i, f) + 8.0 * unit * (size_of<V>(slope) + size_of<V>(f));
    // The sum of the gains is rounded n times.
    const V each = task.spread * size_of<V>(rise) + most * error + 4.0 * unit * n * most * size_of<V>(rise);
    gain.add(V(task.share * way * rise));
    doubt.add(V(way != V{} ? long_way * each : V{}));  // an error may be infinite
    moved.add(V(most * long_way));
  });
  return {gain.total(), doubt.total(), moved.total()};
}

}  // namespace

extern const PointLoops point_loops = {largest, reach, errors, square, sides, clip, shrink, multiple, scale, terms, ends, shrink_loss};

}  // namespace gapless::GAPLESS_LEVEL
