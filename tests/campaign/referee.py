"""The referee: primal and dual values of a problem in exact rationals, or in intervals where a kernel or a logarithm has no rational value.

Nothing of Gapless is used: the formulas are those of docs/proof.md, written a second time. A value is a rational number (``fmpq``), or an interval
(``arb``) that certainly contains it. A claim is refuted only where it contradicts the whole interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from tests.campaign.exact_kernels import gram_table

BITS = 256  # the precision of intervals, some 77 digits: sums whose terms differ by fifty orders of size stay sharp


@dataclass(frozen=True)
class Statement:
    """A problem in plain numbers. ``cost`` may hold inf; ``parameter`` is that of the loss; the ν-forms have ``groups`` and ``totals``."""

    rows: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    loss: str
    parameter: float
    intercept: str
    intercept_scale: float
    kernel: list[Any]
    gram: np.ndarray | None = None
    groups: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    totals: tuple[float, ...] = (0.0,)

    @property
    def is_linear(self) -> bool:
        return self.kernel[0] == "linear"

    @property
    def is_hard(self) -> bool:
        return bool(np.isinf(self.cost).any())

    @property
    def is_semidefinite(self) -> bool:
        """Whether K is certainly positive semi-definite, so that weak duality holds."""
        kind = self.kernel[0]
        return kind != "sigmoid" and (kind != "precomputed" or self.kernel[1] == "valid")


def rational(value: float) -> fmpq:
    """A float64 as the rational number that it is."""
    return fmpq(*float(value).as_integer_ratio())


def rationals(values: Any) -> list[fmpq]:
    """A vector as rationals."""
    return [fmpq(*v.as_integer_ratio()) for v in np.asarray(values, dtype=np.float64).tolist()]


def low(value: Any) -> Any:
    """A lower bound of the value: the lower end of an interval."""
    return value.lower() if isinstance(value, arb) else value


def high(value: Any) -> Any:
    """An upper bound of the value: the upper end of an interval."""
    return value.upper() if isinstance(value, arb) else value


def certainly_less(left: Any, right: Any) -> bool:
    """Whether left < right for all numbers of the two intervals."""
    if isinstance(left, arb) or isinstance(right, arb):
        return bool(arb(high(left)) < arb(low(right)))
    return bool(left < right)


class Referee:
    """The primal and the dual of one statement, evaluated exactly or in intervals."""

    def __init__(self, statement: Statement, bits: int = BITS) -> None:
        self.statement, self.bits = statement, bits
        ctx.prec = bits
        n = len(statement.y)
        self.groups = statement.groups if len(statement.groups) else np.zeros(n, dtype=int)
        self.y, self.totals = rationals(statement.y), rationals(statement.totals)
        self.cost = [None if math.isinf(c) else rational(c) for c in statement.cost.tolist()]
        self.parameter = rational(statement.parameter)
        self.is_rational = statement.is_linear and statement.loss != "logistic"
        if statement.is_linear:
            flat = rationals(statement.rows.ravel())
            self.X = fmpq_mat(*statement.rows.shape, flat)
        else:
            table = gram_table(statement.kernel, statement.rows, statement.gram)
            self.K = arb_mat(table)

    # --- primal

    def primal(self, weights: Sequence[fmpq], offsets: Sequence[fmpq]) -> Any:
        """P at w (of a linear problem) or at the coefficients of w in the samples; None is an infinite value."""
        f, square = self.decisions(weights)
        return self.primal_of(f, square, offsets)

    def decisions(self, weights: Sequence[fmpq]) -> tuple[list[Any], Any]:
        """(⟨w, φ(xᵢ)⟩ for all i, ‖w‖²)."""
        if self.statement.is_linear:
            f = _column(self.X * fmpq_mat(len(weights), 1, list(weights)))
            return f, sum((w * w for w in weights), fmpq(0))
        coefficients = [arb(w) for w in weights]
        f = _column(self.K * arb_mat(len(weights), 1, coefficients))
        return f, sum((e * v for e, v in zip(coefficients, f, strict=True)), arb(0))

    def primal_of(self, f: list[Any], square: Any, offsets: Sequence[fmpq]) -> Any:
        """P at decision values without their offsets; where a hard margin is positive, w is stretched to a margin of one first."""
        values = [v + offsets[g] for v, g in zip(f, self.groups, strict=True)]
        statement = self.statement
        if statement.intercept == "regularized":
            square = square + offsets[0] ** 2 / rational(statement.intercept_scale) ** 2
        if statement.is_hard:
            return self._hard(values, square)
        total = square / 2 + sum((t * b for t, b in zip(self.totals, offsets, strict=True)), fmpq(0))
        for y, v, c in zip(self.y, values, self.cost, strict=True):
            if c != 0:
                total = total + c * self.loss(y, v)
        return total

    def _hard(self, values: list[Any], square: Any) -> Any:
        bound = [(y, v) for y, v, c in zip(self.y, values, self.cost, strict=True) if c is None]
        if "insensitive" in self.statement.loss:
            return square / 2 if all(high(self.loss(y, v)) <= 0 for y, v in bound) else None
        least = reduce(_least, (y * v for y, v in bound), fmpq(1))
        return square / 2 / least**2 if low(least) > 0 else None

    def loss(self, y: fmpq, f: Any) -> Any:
        """ℓ(y, f)."""
        match self.statement.loss:
            case "hinge":
                return _positive(1 - y * f)
            case "squared_hinge":
                return _positive(1 - y * f) ** 2
            case "smoothed_hinge":
                short = _positive(1 - y * f)
                inner = _least(short, self.parameter)
                return inner**2 / (2 * self.parameter) + (short - inner)
            case "logistic":
                m = arb(y) * arb(f)
                return (-m).nonnegative_part() + (-abs(m)).exp().log1p()
            case "epsilon_insensitive":
                return _positive(abs(y - f) - self.parameter)
            case "squared_epsilon_insensitive":
                return _positive(abs(y - f) - self.parameter) ** 2
        raise AssertionError(f"no loss is called {self.statement.loss!r}")

    # --- dual

    def feasible(self, beta: np.ndarray) -> list[fmpq] | None:
        """β clipped to its box and brought to its sums in exact arithmetic; None where the sums cannot be reached."""
        lower, upper = self.box()
        values = [_clip(rational(b), *bounds) for b, *bounds in zip(beta.tolist(), lower, upper, strict=True)]
        if self.statement.intercept != "free":
            return values
        for g, total in enumerate(self.totals):
            members = [i for i in range(len(values)) if self.groups[i] == g]
            excess = sum((values[i] for i in members), fmpq(0)) - total
            if excess == 0:
                continue
            side = 1 if excess > 0 else -1
            bounds = lower if excess > 0 else upper
            room = {}
            for i in members:
                bound = bounds[i]
                room[i] = side * (values[i] - bound) if bound is not None else max(side * values[i], fmpq(0))
            # Moves towards zero are enough where they can make up for the excess: they keep zeros at zero.
            inward = {i: _least(max(side * values[i], fmpq(0)), room[i]) for i in members}
            room = inward if sum(inward.values(), fmpq(0)) >= abs(excess) else room
            free = sum(room.values(), fmpq(0))
            if free < abs(excess):
                return None
            for i in members:
                values[i] -= excess * room[i] / free
        return values

    def box(self) -> tuple[list[fmpq | None], list[fmpq | None]]:
        """The bounds of β, None where there is none."""
        lower: list[fmpq | None] = []
        upper: list[fmpq | None] = []
        loss = self.statement.loss
        for y, c in zip(self.y, self.cost, strict=True):
            reach = fmpq(0) if c == 0 else None if loss.startswith("squared") else c
            both = "insensitive" in loss
            below = both or y < 0
            above = both or y > 0
            lower.append((None if reach is None else -reach) if below else fmpq(0))
            upper.append(reach if above else fmpq(0))
        return lower, upper

    def dual(self, beta: Sequence[fmpq]) -> Any:
        """D at a feasible β."""
        if self.statement.is_linear:
            n, d = self.X.nrows(), self.X.ncols()
            w = _column(self.X.transpose() * fmpq_mat(n, 1, list(beta)))
            square: Any = sum((v * v for v in w), fmpq(0))
            assert len(w) == d
        else:
            _, square = self.decisions(beta)
        if self.statement.intercept == "regularized":
            square = square + (rational(self.statement.intercept_scale) * sum(beta, fmpq(0))) ** 2
        total = -square / 2
        for y, c, b in zip(self.y, self.cost, beta, strict=True):
            if b != 0:
                total = total + self.dual_term(y, c, b)
        return total

    def dual_term(self, y: fmpq, c: fmpq | None, b: fmpq) -> Any:
        """−c ℓ*(y, −β/c)."""
        match self.statement.loss:
            case "hinge":
                return y * b
            case "squared_hinge":
                return y * b - (0 if c is None else b * b / (4 * c))
            case "smoothed_hinge":
                return y * b - (0 if c is None else self.parameter * b * b / (2 * c))
            case "logistic":
                assert c is not None
                a = y * b / c
                return -arb(c) * (_x_log_x(a) + _x_log_x(1 - a))
            case "epsilon_insensitive":
                return y * b - self.parameter * abs(b)
            case "squared_epsilon_insensitive":
                return y * b - self.parameter * abs(b) - (0 if c is None else b * b / (4 * c))
        raise AssertionError(f"no loss is called {self.statement.loss!r}")


class ShortfallReferee(Referee):
    """The referee of the ν-forms, whose loss is max(0, y (t − f)) with the targets t."""

    def __init__(self, statement: Statement, targets: np.ndarray, bits: int = BITS) -> None:
        super().__init__(statement, bits)
        self.targets = rationals(targets)

    def primal_of(self, f: list[Any], square: Any, offsets: Sequence[fmpq]) -> Any:
        # The loss is max(0, y (t − f)), in the place of the hinge's max(0, 1 − y f).
        total = square / 2 + sum((t * b for t, b in zip(self.totals, offsets, strict=True)), fmpq(0))
        for y, v, c, t, g in zip(self.y, f, self.cost, self.targets, self.groups, strict=True):
            if c != 0:
                total = total + c * _positive(y * (t - (v + offsets[g])))
        return total

    def dual(self, beta: Sequence[fmpq]) -> Any:
        linear = sum((t * b for t, b in zip(self.targets, beta, strict=True)), fmpq(0))
        hinge = sum((y * b for y, b in zip(self.y, beta, strict=True)), fmpq(0))
        return super().dual(beta) - hinge + linear


def _clip(value: fmpq, lower: fmpq | None, upper: fmpq | None) -> fmpq:
    value = value if lower is None else max(value, lower)
    return value if upper is None else min(value, upper)


def _x_log_x(a: fmpq) -> arb:
    return arb(0) if a == 0 else arb(a) * arb(a).log()


def _positive(value: Any) -> Any:
    return value.nonnegative_part() if isinstance(value, arb) else max(value, fmpq(0))


def _least(left: Any, right: Any) -> Any:
    if isinstance(left, arb) or isinstance(right, arb):
        return arb(left).min(arb(right))
    return min(left, right)


def _column(matrix: Any) -> list[Any]:
    return list(matrix.entries())
