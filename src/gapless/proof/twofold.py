"""The proof in numbers of twice the digits, for points whose float64 bounds are wider than ``tol`` by rounding alone.

A point is taken as it stands: β of the dual side, w or its expansion of the primal side. Only the offsets are chosen once more, since those that
float64 chose may be off by a rounding error. The remaining rounding is a few units in the last place of P and D.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch

import numpy as np

from gapless import _native
from gapless.kernels import Linear
from gapless.kernels.formula import TWOFOLD_UNIT, entry_cost, twofold_expansion
from gapless.kernels.rounding import UNIT, magnitudes, terms_of
from gapless.problems.problem import Problem
from gapless.proof.certificate import DualPoint, PrimalPoint, evaluate, has_multiples, is_valid
from gapless.proof.feasible import best_multiple
from gapless.proof.hard import may_separate
from gapless.proof.kkt import slope_violation
from gapless.proof.outward import LEAST
from gapless.proof.values import expansion_error

_AFFORDABLE = 4e8  # products of two features in numbers of twice the digits that a proof may take: a second or two
_SPEED = 1e8  # such products a second, on a slow machine: the estimate for a solve whose time is bounded
_STRETCHES = (
    4  # attempts to stretch a model to a smallest margin of one: coefficients that cancel round differently each time
)
# A multiple of β, or a margin, that is farther from one gains more than rounding (``near_one`` in native/proof/dual_side.cpp).
_FAR = 1e-9


# (decision values in two rows, a bound on their errors, ‖w‖² in two parts, a bound on its error)
Values = tuple[np.ndarray, np.ndarray, tuple[float, float], float]


@singledispatch
def refine(
    problem: Problem, primal: PrimalPoint, dual: DualPoint, seconds: float = math.inf
) -> tuple[PrimalPoint, DualPoint] | None:
    """Both points with bounds computed in numbers of twice the digits; None where that would take more than a second or two, or than ``seconds``.

    A kind of problem with another primal and dual registers a refinement of its own, or has none.
    """
    if evaluate.dispatch(type(problem)) is not evaluate.dispatch(Problem):
        return None
    columns = 2.0 if problem.is_linear else float(np.count_nonzero(dual.beta))
    if not (problem.is_linear or primal.own):
        columns += np.count_nonzero(np.asarray(primal.expansion))
    if not is_affordable(problem, columns, seconds):
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        twofold = _Twofold(problem)
        return twofold.primal(primal), twofold.dual(dual)


def refine_model(
    problem: Problem, beta: np.ndarray, primal: PrimalPoint, dual: DualPoint
) -> tuple[PrimalPoint, DualPoint]:
    """The same for the primal point of a model as it stands, kept as β and its own offsets: P is that of Σ βᵢφ(xᵢ) in exact arithmetic.

    Nothing else may be refined: no offset is replaced by a better one. A linear model is refined however large X is, since that takes a few passes.
    """
    columns = float(np.count_nonzero(dual.beta)) + float(np.count_nonzero(beta))
    if problem.is_hard or not (problem.is_linear or is_affordable(problem, columns, math.inf)):
        return primal, dual
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        twofold = _Twofold(problem)
        return twofold.as_it_stands(primal, beta), twofold.dual(dual)


def is_affordable(problem: Problem, columns: float, seconds: float) -> bool:
    """Whether so many columns of K (or products with X), in numbers of twice the digits, take at most a second or two, and at most ``seconds``."""
    cost = terms_of(problem.X) if problem.kernel is None else entry_cost(problem.kernel, problem.X)
    return problem.n_samples * columns * cost <= min(_AFFORDABLE, _SPEED * seconds)


def twofold_values(problem: Problem, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Kβ, a bound on its error), computed in numbers of twice the digits and rounded to float64 at the end."""
    kernel = Linear() if problem.kernel is None else problem.kernel
    f = twofold_expansion(kernel, problem.X, beta)
    error = expansion_error(beta, *magnitudes(kernel, problem.X, TWOFOLD_UNIT), TWOFOLD_UNIT)
    return f[0] + f[1], error + 2.0 * UNIT * np.abs(f[0])


def linear_values(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """Kβ of a linear problem in float64, with the s² of a regularised intercept, of a w that is summed in twice the digits."""
    w, sizes = np.empty((2, problem.n_features)), np.empty(problem.n_features)
    _native.twofold_weights(problem.rows, beta, w, sizes)
    return problem.expand_weights(w[0]) + problem.shift * math.fsum(beta)


def measured(problem: Problem, dual: DualPoint) -> DualPoint:
    """The dual point of a linear problem with the KKT violation that twice the digits tell: of β, and not of what float64 makes of Σ βᵢxᵢ."""
    return replace(dual, kkt_violation=slope_violation(problem, dual.beta, linear_values(problem, dual.beta)))


class _Twofold:
    """The points of one problem in numbers of twice the digits. Error bounds count operations as those of float64 do, with a smaller unit."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        kernel = Linear() if problem.kernel is None else problem.kernel
        self.g, self.r = magnitudes(kernel, problem.X, TWOFOLD_UNIT)
        self.last: tuple[np.ndarray, Values] | None = None

    def dual(self, dual: DualPoint) -> DualPoint:
        """The dual point with the bound of twice the digits; its best multiple where float64's multiple was far from the best."""
        problem, beta = self.problem, dual.beta
        if not is_valid(problem) or not beta.any():
            return dual
        values = self._of_beta(beta)
        if has_multiples(problem):
            total = float(beta.sum())
            scale, _ = best_multiple(problem.dual, beta, values[2][0] + problem.shift * total * total)  # type: ignore[arg-type]
            if 0 < scale < math.inf and abs(scale - 1.0) > _FAR:
                beta = np.clip(scale * beta, problem.dual.lower, problem.dual.upper)
                values = self._of_beta(beta)
        f, error, square, square_error = values
        plain, proven = _native.twofold_dual(
            problem.dual, problem.groups, problem.totals, problem.intercept == "free", beta, f, error,
            square, square_error, problem.shift, float(self.g.max()),
        )  # fmt: skip
        if problem.is_linear and beta is dual.beta:
            dual = replace(dual, kkt_violation=slope_violation(problem, beta, f[0] + problem.shift * math.fsum(beta)))
        if not proven > dual.value:
            return dual
        return replace(dual, value=proven, beta=beta, rounding=max(0.0, plain - proven))

    def primal(self, primal: PrimalPoint) -> PrimalPoint:
        """The primal point with the bound of twice the digits and the best offsets."""
        problem = self.problem
        if problem.is_hard:
            return self._hard(primal)
        f, error, square, square_error = self._of_model(primal)
        offsets, intervals = np.array(primal.offsets, dtype=np.float64), primal.offset_intervals
        if problem.intercept == "free":
            intervals = tuple(_native.twofold_offsets(problem.dual, problem.groups, problem.totals, f, offsets))
        plain, proven = _native.twofold_primal(
            problem.dual, problem.groups, problem.totals, offsets, f, error, square, square_error, problem.shift
        )
        if proven < primal.value:
            primal = replace(
                primal, value=proven, rounding=max(0.0, proven - plain), offsets=offsets, offset_intervals=intervals
            )
        return self._separating(primal) if may_separate(problem) else primal

    def as_it_stands(self, primal: PrimalPoint, beta: np.ndarray) -> PrimalPoint:
        """The primal point of the coefficients β and of the offsets that it has, with the bound of twice the digits."""
        problem = self.problem
        f, error, square, square_error = self._of_sum_in_full(beta) if problem.is_linear else self._of_expansion(beta)
        offsets = np.array(primal.offsets, dtype=np.float64)
        plain, proven = _native.twofold_primal(
            problem.dual, problem.groups, problem.totals, offsets, f, error, square, square_error, problem.shift
        )
        return replace(primal, value=proven, rounding=max(0.0, proven - plain)) if proven < primal.value else primal

    def _hard(self, primal: PrimalPoint) -> PrimalPoint:
        """The primal point of a hard margin or tube, where all constraints hold in exact arithmetic.

        A tube must hold as it is. For a margin below one P counts the stretch to one; where the margin was far from one, the model itself is divided
        by it, in a second round.
        """
        problem, b, found = self.problem, float(primal.offsets[0]), primal
        free = problem.intercept == "free"
        for _ in range(2):
            f, error, (square, _), square_error = self._of_model(found)
            if problem.loss.task == "regression":
                margin = 1.0 if _native.twofold_room(problem.dual, problem.cost, b, f, error) >= 0 else 0.0
            else:
                b, margin = _native.twofold_margin(problem.y, problem.cost, free, b, f, error)
            if not 0 < margin < math.inf:
                return primal
            regularized = b * b / problem.shift if problem.intercept == "regularized" else 0.0
            value = 0.5 * (square + square_error + regularized) / min(margin, 1.0) ** 2 * (1.0 + 16.0 * UNIT)
            if value < primal.value:
                interval = (primal.offset_intervals[0] if b == primal.offsets[0] else (b, b),)
                primal = replace(
                    found, value=value, offsets=np.array([b]), offset_intervals=interval, rounding=16.0 * UNIT * value
                )
            if abs(margin - 1.0) < _FAR:
                break
            b /= margin
            w, expansion = found.w, found.expansion
            found = replace(
                found,
                w=None if w is None else w / margin,
                expansion=None if expansion is None else expansion / margin,
            )
        return primal

    def _separating(self, primal: PrimalPoint) -> PrimalPoint:
        """A point of a soft margin stretched, or shrunk, to a smallest margin of one, where it is the better for having no loss at all."""
        problem, free = self.problem, self.problem.intercept == "free"
        f, error, (square, _), _ = self._of_model(primal)
        b, margin = _native.twofold_margin(problem.y, problem.cost, free, float(primal.offsets[0]), f, error)
        if not 0 < margin < math.inf or 0.5 * square / margin**2 >= primal.value:
            return primal
        stretch = 1.0 / (
            margin * (1.0 - 16.0 * UNIT)
        )  # so that no rounding of the products below brings a sample inside the margin
        for _ in range(_STRETCHES):
            w, expansion, offset = primal.w, primal.expansion, stretch * b
            found = replace(
                primal, w=None if w is None else stretch * w, expansion=None if expansion is None else stretch * expansion,
                offsets=np.array([offset]), offset_intervals=((offset, offset),), own=False,
            )  # fmt: skip
            f, error, (square, _), square_error = self._of_model(found)
            _, margin = _native.twofold_margin(problem.y, problem.cost, False, offset, f, error)
            if margin >= 1:
                regularized = offset * offset / problem.shift if problem.intercept == "regularized" else 0.0
                value = 0.5 * (square + square_error + regularized) * (1.0 + 16.0 * UNIT)
                return replace(found, value=value, rounding=16.0 * UNIT * value) if value < primal.value else primal
            if not margin > 0:
                break
            stretch /= margin**2  # the products round anew, and may again miss by as much
        return primal

    def _of_model(self, primal: PrimalPoint) -> Values:
        return (
            self._of_weights(np.asarray(primal.w))
            if self.problem.is_linear
            else self._of_beta(np.asarray(primal.expansion))
        )

    def _of_beta(self, beta: np.ndarray) -> Values:
        return self._of_sum(beta) if self.problem.is_linear else self._of_expansion(beta)

    def _of_expansion(self, beta: np.ndarray) -> Values:
        """Kβ and βᵀKβ of a kernel; the last ones are kept, since both sides often have one β."""
        if self.last is None or not np.array_equal(self.last[0], beta):
            assert self.problem.kernel is not None
            f = twofold_expansion(self.problem.kernel, self.problem.X, beta)
            size, error = np.abs(beta), expansion_error(beta, self.g, self.r, TWOFOLD_UNIT)
            used = size > 0
            square = _native.twofold_dot(np.vstack([beta, np.zeros_like(beta)]), f)
            rough = float(size[used] @ error[used]) + TWOFOLD_UNIT * (len(beta) + 8) * float(size @ np.abs(f[0]))
            self.last = beta, (f, error, square, 1.01 * rough + (LEAST if used.any() else 0.0))
        return self.last[1]

    def _of_weights(self, w: np.ndarray) -> Values:
        """Xw and ‖w‖² of a linear problem."""
        problem = self.problem
        f, sizes = np.empty((2, problem.n_samples)), np.empty(problem.n_samples)
        _native.twofold_products(problem.rows, w, f, sizes)
        flat = np.vstack([w, np.zeros_like(w)])
        square = _native.twofold_dot(flat, flat)
        error = TWOFOLD_UNIT * (terms_of(problem.X) + 8) * sizes + LEAST
        lost = LEAST if w.any() else 0.0  # squares may underflow
        return f, error, square, TWOFOLD_UNIT * (len(w) + 8) * square[0] + lost

    def _of_sum(self, beta: np.ndarray) -> Values:
        """X Σ βᵢxᵢ and ‖Σ βᵢxᵢ‖² of a linear problem: the square in twice the digits, the values in float64, which is enough for ``repair_loss``."""
        problem = self.problem
        w, _, square, square_error = self._sum(beta)
        f = problem.expand_weights(w[0])
        error = 2.0 * UNIT * (terms_of(problem.X) + 16) * math.sqrt(square[0]) * self.g + LEAST
        return np.vstack([f, np.zeros_like(f)]), error, square, square_error

    def _of_sum_in_full(self, beta: np.ndarray) -> Values:
        """The same with values in twice the digits: of both parts of w, and off by what w is."""
        w, lost, square, square_error = self._sum(beta)
        f, error, _, _ = self._of_weights(w[0])
        rest = self.problem.expand_weights(w[1])
        roundings = 2.0 * UNIT * (terms_of(self.problem.X) + 16)
        error = error + (float(np.linalg.norm(lost)) + roundings * float(np.linalg.norm(w[1]))) * 1.01 * self.g
        low = f[1] + rest
        error += 4.0 * UNIT * np.abs(f[1]) + 4.0 * UNIT * np.abs(rest)
        high = f[0] + low  # and what this sum is rounded by, so that the parts do not overlap (Knuth 1969)
        part = high - f[0]
        return np.vstack([high, (f[0] - (high - part)) + (low - part)]), error, square, square_error

    def _sum(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[float, float], float]:
        """(Σ βᵢxᵢ in two parts, a bound on the error of each entry, its square, a bound on the error of that)."""
        problem = self.problem
        w, sizes = np.empty((2, problem.n_features)), np.empty(problem.n_features)
        _native.twofold_weights(problem.rows, beta, w, sizes)
        lost = TWOFOLD_UNIT * (len(beta) + 8) * sizes + LEAST
        square = _native.twofold_dot(w, w)
        square_error = float((2.0 * np.abs(w[0]) + lost) @ lost) + TWOFOLD_UNIT * (len(lost) + 8) * square[0]
        return w, lost, square, 1.01 * square_error
