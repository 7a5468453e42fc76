r"""Between two models: bounds on the optimum for every C from a handful of numbers, in exact arithmetic.

Let $P_C(w, b) = ½‖w‖² + C\,L(w, b)$ with $L = \sum_i s_i\,ℓ(y_i, f(x_i))$, and let $D_C(β)$ be its dual. Two models are given, at $C_1 < C_2$, with
$P_k ≥ P_{C_k}(w_k, b_k)$ and $D_k ≤ D_{C_k}(β_k)$. For $C = (1-θ)C_1 + θC_2$ the path takes the mixture of both with the share $θ$:

.. math:: w = (1-θ)w_1 + θw_2, \quad b = (1-θ)b_1 + θb_2, \quad β = (1-θ)β_1 + θβ_2.

*From above.* $P_C$ is convex, and strongly so in w, and $P_C(w_k, b_k)$ is affine in C with the slope $L_k$:

.. math:: P_C(w, b) ≤ (1-θ)P_1 + θP_2 + θ(1-θ)\bigl[(C_2 - C_1)(L_1 - L_2) - ½‖w_1 - w_2‖²\bigr].

*From below.* $D_C(β) = -\sum_i C s_i\,ℓ^*(y_i, -β_i/(C s_i)) - ½‖\sum_i β_i φ(x_i)‖²$. The first sum is the perspective of a concave function,
concave in $(β, C)$ together, whatever the loss: the box of the hinge grows with C, the curvature $1/2C s_i$ of a squared loss falls with it. So β
is feasible at C (with a free intercept its sum stays zero), and the square gives the exact rest:

.. math:: D_C(β) ≥ (1-θ)D_1 + θD_2 + ½θ(1-θ)\,‖v_1 - v_2‖², \quad v_k = \sum_i β_{k,i} φ(x_i).

*The gap*, where $w_k = v_k$, is thus at most $(1-θ)g_1 + θg_2 + θ(1-θ)\,κ$ with $κ = (C_2-C_1)(L_1-L_2) - ‖w_1-w_2‖²$. As long as no sample comes
to the margin or leaves it, the path of the hinge is linear in C and κ is zero: the mixture is optimal all the way.

*The slope.* With $R = ½‖w‖²$ the slope of $w_1$ is $L_1 = (P_{C_1} - R_1)/C_1$; to the right of $C_1$ an upper bound on P and a lower one on R give
an upper bound on $P_C(w_1, b_1) = (C/C_1) P_{C_1} - (C/C_1 - 1) R_1$. To the left of $C_2$, $P_C(w_2, b_2) = (C/C_2) P_{C_2} + (1 - C/C_2) R_2$
needs both from above.

*Below the first model* stands zero: at C = 0 both w = 0 and β = 0 are optimal with the value zero, and the slope is the loss of the best constant.

Both bounds are quadratic in θ. The numbers of the models are rounded outwards; what is done with them here is done in fractions, without rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gapless.record import record

_HALF = Fraction(1, 2)
_BISECTIONS = 60  # of the interval [0, 1], which leaves less than a unit in the last place of a gap of 1e-2
_TINY = Fraction(1e-300)

Quadratic = tuple[Fraction, Fraction, Fraction]
"""The three Bernstein coefficients of a quadratic on an interval: its value at the left end, the middle one, its value at the right end."""


@record
class Node:
    """What a model proves of all C: D ≤ P*(C), and P_C(w, b) at most P + (c − C)·rise for c ≥ C, and at most P − (C − c)·fall for c ≤ C."""

    C: float
    primal: Fraction
    dual: Fraction
    rise: Fraction
    fall: Fraction


@record
class Segment:
    """The bounds for every C between two nodes; ``primal_square`` and ``dual_square`` are at most ‖w₁ − w₂‖² and ‖v₁ − v₂‖².

    >>> one, two = (Node(C, Fraction(C), Fraction(C), Fraction(1), Fraction(1)) for C in (1.0, 2.0))
    >>> Segment(one, two, Fraction(0), Fraction(0)).bounds(1.5)
    (1.5, 1.5)
    """

    left: Node
    right: Node
    primal_square: Fraction
    dual_square: Fraction

    def share(self, C: float) -> Fraction:
        """θ, the share of the right model at C."""
        low, high = Fraction(self.left.C), Fraction(self.right.C)
        return (Fraction(C) - low) / (high - low)

    @property
    def above(self) -> Quadratic:
        """The upper bound on P of the mixture, as a quadratic in θ from 0 to 1."""
        width = Fraction(self.right.C) - Fraction(self.left.C)
        bend = width * (self.left.rise - self.right.fall) - _HALF * self.primal_square
        return _quadratic(self.left.primal, self.right.primal, bend)

    @property
    def below(self) -> Quadratic:
        """The lower bound on the optimum, as a quadratic in θ from 0 to 1."""
        return _quadratic(self.left.dual, self.right.dual, _HALF * self.dual_square)

    def exact_bounds(self, C: float) -> tuple[Fraction, Fraction]:
        """(the upper bound on P of the mixture, the lower bound on the optimum) at C."""
        share = self.share(C)
        return _value(self.above, share), _value(self.below, share)

    def bounds(self, C: float) -> tuple[float, float]:
        """The bounds at C, rounded outwards."""
        above, below = self.exact_bounds(C)
        return rounded(above, math.inf), rounded(below, -math.inf)

    def relative_gap(self, C: float) -> float:
        """(P − D)/P at C, rounded upwards."""
        above, below = self.exact_bounds(C)
        return rounded(min(Fraction(1), max(Fraction(0), above - below) / max(above, _TINY)), math.inf)

    def worst_gap(self, low: float, high: float) -> float:
        """A number that the relative gap is nowhere above, for C from ``low`` to ``high``: the least one, to the last digits.

        The relative gap is at most r where D − (1 − r) P ≥ 0. This is a quadratic with Bernstein coefficients q₀, q₁, q₂; it is nowhere negative
        if and only if q₀ ≥ 0, q₂ ≥ 0 and, where q₁ < 0, q₁² ≤ q₀q₂. The least such r is found by bisection.
        """
        ends = self.share(low), self.share(high)
        above, below = (_restricted(bound, *ends) for bound in (self.above, self.below))
        best, worst = 0.0, 1.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (best + worst)
            if not best < middle < worst:
                break
            rest = 1 - Fraction(middle)
            q0, q1, q2 = (d - rest * p for d, p in zip(below, above, strict=True))
            if q0 >= 0 and q2 >= 0 and (q1 >= 0 or q1 * q1 <= q0 * q2):
                worst = middle
            else:
                best = middle
        return worst


def rounded(value: Fraction, side: float) -> float:
    """The nearest float to a fraction on one side of it, −∞ or ∞."""
    near = float(value)
    is_beyond = Fraction(near) >= value if side > 0 else Fraction(near) <= value
    return near if is_beyond else math.nextafter(near, side)


def _quadratic(first: Fraction, last: Fraction, bend: Fraction) -> Quadratic:
    """(1 − θ)·first + θ·last + θ(1 − θ)·bend."""
    return first, _HALF * (first + last + bend), last


def _value(bound: Quadratic, share: Fraction) -> Fraction:
    return _polar(bound, share, share)


def _polar(bound: Quadratic, s: Fraction, t: Fraction) -> Fraction:
    """The symmetric bilinear form of a quadratic, whose diagonal is the quadratic itself (de Casteljau's scheme)."""
    q0, q1, q2 = bound
    return (1 - s) * ((1 - t) * q0 + t * q1) + s * ((1 - t) * q1 + t * q2)


def _restricted(bound: Quadratic, s: Fraction, t: Fraction) -> Quadratic:
    """The coefficients of the same quadratic on the interval from s to t."""
    return _polar(bound, s, s), _polar(bound, s, t), _polar(bound, t, t)
