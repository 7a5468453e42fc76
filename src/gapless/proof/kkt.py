"""The KKT conditions of a solution, sample by sample and as five residuals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gapless.blas import one_blas_thread
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.points import Point, check_point

# A share of a box's width: the repair of a sum may move a variable at its bound by so much (``bound_width`` in native/proof/dual_side.cpp).
_BOUND_WIDTH = 1e-12


@dataclass(frozen=True)
class KKT:
    r"""The optimality conditions at (w, b, β).

    Per sample: ``alpha``, ``slack_multiplier`` (the multiplier C − α of ξ ≥ 0; both in the scaling of the stated problem), ``margin`` (y f, or
    ε − |y − f| in a regression), ``slack`` ξ, ``complementarity``
    :math:`c\,ℓ(y, f) + c\,ℓ^*(y, -β/c) + β f ≥ 0` (for the hinge :math:`α(yf - 1 + ξ) + (C - α)ξ`)
    and ``role``: ``"none"`` (α = 0, outside the margin), ``"free"`` (0 < α < C, on it), ``"bound"`` (α = C, inside it or wrong).

    Residuals: ``stationarity`` ‖w − Σβᵢφ(xᵢ)‖, ``primal_inequality`` (constraint violations left by the slacks), ``equality`` |Σβ| where b is free,
    ``dual_feasibility`` (distance of β from its box), ``complementary_slackness`` (the largest complementarity).
    The complementarities add up, with ½ stationarity², to the duality gap.
    """

    alpha: np.ndarray
    slack_multiplier: np.ndarray
    margin: np.ndarray
    slack: np.ndarray
    complementarity: np.ndarray
    role: np.ndarray
    stationarity: float
    primal_inequality: float
    equality: float
    dual_feasibility: float
    complementary_slackness: float

    def __str__(self) -> str:
        names = ("stationarity", "primal_inequality", "equality", "dual_feasibility", "complementary_slackness")
        lines = [f"{name:<24}{getattr(self, name):.2e}" for name in names]
        counts = ", ".join(f"{int((self.role == role).sum())} {role}" for role in ("none", "free", "bound"))
        return "\n".join([*lines, f"{'roles':<24}{counts}"])


@one_blas_thread()
def kkt(problem: Problem, point: Point) -> KKT:
    """The KKT report of any point: a :class:`~gapless.Result`, or a :class:`~gapless.Point` with β and w (or an expansion) and b.

    >>> import gapless as gl
    >>> problem = gl.Problem([[-1.0], [1.0]], [0, 1], C=2.0)
    >>> report = gl.kkt(problem, gl.Point(beta=problem.signed([0.5, 0.5]), w=[1.0], b=0.0))
    >>> report.complementary_slackness, report.slack_multiplier.tolist()
    (0.0, [1.5, 1.5])
    """
    point = check_point(problem, point)
    beta = np.zeros(problem.n_samples) if point.beta is None else point.beta
    y, cost, dual = problem.y, problem.cost, problem.dual
    offsets = getattr(point, "offsets", None)
    b = (0.0 if point.b is None else point.b) if offsets is None else offsets[problem.groups]
    if problem.is_linear:
        w = problem.weights(beta) if point.w is None else point.w
        f = problem.expand_weights(w) + b
        square = float(((w - problem.weights(beta)) ** 2).sum())
    else:
        expansion = beta if point.expansion is None else point.expansion
        f = problem.expand(expansion) + b
        change = expansion - beta
        square = float(change @ problem.expand(change)) if change.any() else 0.0
    if problem.intercept == "regularized":
        square += float(np.max((b - problem.shift * float(beta.sum())) ** 2)) / problem.shift
    margin, slack = problem.loss.margin(y, f), problem.loss.slack(y, f)
    paid = np.zeros_like(f) if problem.is_hard else cost * problem.loss.value(y, f)
    complementarity = np.where(cost > 0, paid - problem.loss.dual_value(y, cost, beta) + beta * f, 0.0)
    at_lower, at_upper = at_bounds(problem, beta)
    at_bound = (beta != 0) & np.where(beta > 0, at_upper, at_lower)
    role = np.where(beta == 0, "none", np.where(at_bound, "bound", "free"))
    sums = np.bincount(problem.groups, weights=beta, minlength=len(problem.totals))
    outside = np.maximum(np.maximum(dual.lower - beta, beta - dual.upper), 0.0)
    return KKT(
        alpha=problem.scale * np.abs(beta),
        slack_multiplier=problem.scale * (cost - np.abs(beta)),
        margin=margin,
        slack=slack,
        complementarity=complementarity,
        role=role,
        stationarity=math.sqrt(max(0.0, square)),
        primal_inequality=float(slack[cost > 0].max()) if problem.is_hard else 0.0,
        equality=float(np.abs(sums - problem.totals).max()) if problem.intercept == "free" else 0.0,
        dual_feasibility=float(outside.max()),
        complementary_slackness=float(complementarity.max()),
    )


def at_bounds(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(which βᵢ are at their lower bound, which at their upper bound), to the rounding of a repaired sum."""
    lower, upper = problem.dual.lower, problem.dual.upper
    width = upper - lower
    slack = _BOUND_WIDTH * np.where(np.isfinite(width), width, np.abs(beta).max(initial=0.0))
    return beta <= lower + slack, beta >= upper - slack


def slope_violation(problem: Problem, beta: np.ndarray, f: np.ndarray) -> float:
    """LIBSVM's criterion at decision values f: in a group of fixed sum the steepest rise of D less its smallest fall.

    Without a sum it is the steepest slope of one variable; NaN for the entropy, whose slopes are infinite at its ends.
    """
    box = problem.dual
    if not isinstance(box, DualBox):
        return math.nan
    at_lower, at_upper = at_bounds(problem, beta)
    rise, fall = (slope - f for slope in problem.loss.dual_slopes(problem.y, problem.cost, beta))
    rise = np.where(at_upper, -np.inf, rise)
    fall = np.where(at_lower, np.inf, fall)
    if problem.intercept != "free":
        return max(0.0, float(rise.max()), -float(fall.min()))
    groups = [problem.groups == g for g in range(len(problem.totals))]
    return max(0.0, *(float(rise[g].max(initial=-np.inf) - fall[g].min(initial=np.inf)) for g in groups))
