// Sums over the samples of a dual point, many samples at a time, for box terms (core/dual.hpp) whose samples all belong to one group.
#pragma once

#include "core/dual.hpp"
#include "core/isa.hpp"
#include "proof/rounding.hpp"

namespace gapless {

// The samples from `begin` to `end` of a point β, whose decision values are f.
struct PointTask {
  DualBox box;
  const double *beta, *f;
  Index begin, end;
};

struct ReachSums {
  proof::ExpansionSizes sizes;
  double largest;  // the largest g, or zero
};

struct SquareSums {
  double product = 0.0;   // βᵀf, of which rounding loses nothing to speak of (proof/kept_sum.hpp)
  double slack = 0.0;     // Σ |β| · the error of f
  double products = 0.0;  // Σ |β f|
  double finite = 0.0;    // NaN where an f is NaN or infinite
};

// Σβ, and the sums of the positive β and of the |negative β|, all three as exact as `product` above.
struct SideSums {
  double sum = 0.0, up = 0.0, down = 0.0;
};

struct ClipSums {
  SideSums sides;  // of the clipped β
  double outside;  // the largest distance of a β from its box
  double finite;   // NaN where a β is NaN or infinite
};

struct MultipleSums {
  double linear = 0.0, bend = 0.0;  // Σ pβ − ε|β| and Σ dβ²
  double room = infinity;           // the largest s for which sβ stays in the box
  double largest = 0.0;             // the largest |β|
};

// Σ h(β), and the sum of the sizes of its parts.
struct TermSums {
  double sum = 0.0, sizes = 0.0;
};

// The slopes of D: the steepest rise and the smallest fall by a change of one β that its bounds allow. `highest` and `lowest` are those of all
// slopes p − dβ − f.
struct SlopeEnds {
  double top = -infinity, bottom = infinity, highest = -infinity, lowest = infinity;
  double doubt = 0.0;  // NaN where a slope is NaN or infinite
};

// The positive (side 1) or the negative (side −1) entries of β go a share of their way to zero; `most` is a number that this share is certainly not
// above, and `spread` a bound on its error.
struct ShrinkTask {
  PointTask point;
  proof::Errors errors;
  double side, share, spread, most;
};

// What proof/repair_loss.hpp needs of such a move.
struct ShrinkSums {
  double gain, doubt, moved;
};

struct PointLoops {
  double (*largest)(const double* values, Index n);  // the largest |value|
  ReachSums (*reach)(const double* beta, const double* g, const double* r, Index n);
  // Writes the errors of sums (ExpansionError::at); infinity in the place of NaN.
  void (*errors)(const proof::ExpansionError& of, const double* g, const double* r, Index n, double* to);
  SquareSums (*square)(const double* beta, const double* f, const proof::Errors&, Index begin, Index end);
  SideSums (*sides)(const double* beta, double start, Index begin, Index end);  // `start` is added to the sum
  ClipSums (*clip)(const double* lower, const double* upper, const double* beta, Index n, double* to);
  // Multiplies the positive (side 1) or the negative (side −1) values by `kept`.
  void (*shrink)(double side, double kept, Index n, double* values);
  MultipleSums (*multiple)(const PointTask&);
  // Writes s times f, and s times β, where a product that is rounded past a bound becomes the bound.
  void (*scale)(const DualBox&, double s, Index n, double* beta, double* f);
  TermSums (*terms)(const PointTask&);
  // The decision values are f + shift. A β that is nearer to a bound than the share `width` of its box, or of `largest` where the box is infinite,
  // counts as at that bound.
  SlopeEnds (*ends)(const PointTask&, double shift, double width, double largest);
  ShrinkSums (*shrink_loss)(const ShrinkTask&);
};

GAPLESS_DECLARE_LEVELS(PointLoops, point_loops)

}  // namespace gapless
