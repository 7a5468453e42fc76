"""Whether a hard margin exists, by candidate points of any origin, which exact arithmetic verifies."""

from __future__ import annotations

import numpy as np
from flint import arb, arb_mat
from scipy.optimize import linprog

from tests.campaign.referee import Referee, certainly_less, rational, rationals


def separates(referee: Referee, rivals: list[tuple[np.ndarray, np.ndarray]]) -> str:
    """A sentence about a hyperplane that separates the data, verified exactly; empty where none was found.

    For a hard tube nothing is looked for, and the sentence is empty.
    """
    statement = referee.statement
    if "insensitive" in statement.loss:
        return ""
    candidates = list(rivals)
    if statement.is_linear:
        candidates += _by_linear_program(referee)
    elif statement.is_semidefinite and _interpolates(referee):
        return "its kernel matrix is invertible, so that some w takes every value on the samples"
    for w, offsets in candidates:
        if referee.primal(rationals(w), rationals(offsets)) is not None:
            return f"a separating hyperplane has the offset {float(offsets[0])!r} and w = {w.tolist()}"
    return ""


def _interpolates(referee: Referee) -> bool:
    used = [i for i, c in enumerate(referee.cost) if c is None]
    try:
        K = arb_mat([[referee.K[i, j] for j in used] for i in used])
        K.solve(arb_mat(len(used), 1, [arb(referee.y[i]) for i in used]))
    except ZeroDivisionError:
        return False
    return True


def _by_linear_program(referee: Referee) -> list[tuple[np.ndarray, np.ndarray]]:
    """Candidates from the linear program max m with y (⟨w, x⟩ + b) ≥ m, |w|, |b| ≤ 1, on features scaled to one, as they are and centred."""
    statement = referee.statement
    used = statement.cost > 0
    rows, y = statement.rows[used], statement.y[used]
    found = []
    centres = [np.zeros(rows.shape[1])] + ([rows.mean(axis=0)] if statement.intercept != "none" else [])
    for centre in centres:
        moved = rows - centre
        size = np.abs(moved).max(axis=0)
        size[size == 0] = 1.0
        n, d = moved.shape
        A = np.hstack([-y[:, None] * moved / size, -y[:, None], np.ones((n, 1))])
        free = (-1, 1) if statement.intercept != "none" else (0, 0)
        outcome = linprog(
            np.append(np.zeros(d + 1), -1.0),
            A_ub=A,
            b_ub=np.zeros(n),
            bounds=[(-1, 1)] * d + [free, (None, 1)],
            method="highs",
        )
        if outcome.x is None:
            continue
        w = outcome.x[:d] / size
        found += [(w, np.array([b])) for b in _offsets(referee, w, float(outcome.x[d] - centre @ w))]
    return found


def _offsets(referee: Referee, w: np.ndarray, guess: float) -> list[float]:
    """The guess and, with an intercept, the middle between the classes, computed exactly and then rounded."""
    statement = referee.statement
    if statement.intercept == "none":
        return [0.0]
    f, _ = referee.decisions(rationals(w))
    sides = [
        [v for v, y, c in zip(f, referee.y, referee.cost, strict=True) if c is None and y * s > 0] for s in (1, -1)
    ]
    top, bottom = min(sides[0]), max(sides[1])
    if not certainly_less(bottom, top):
        return [guess]
    middle = -(top + bottom) / 2
    near = float(middle.p) / float(middle.q) if middle else 0.0
    assert abs(rational(near) - middle) <= abs(middle)
    return [guess, near]
