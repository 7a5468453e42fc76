"""The second-order finish of SMO: Newton's method on the face of the box that the optimum lies on, or nearly.

Near the end hardly a variable reaches or leaves a bound any more, and pairs only mend what a badly conditioned kernel matrix leaves over of f:
thousands of steps for one digit. There the face is solved at once. With F the variables between their bounds (and those that violate at one),
M = K_FF + D + ridge and g the slope of the dual,

    M δ + c = g,   Σ δ = 0   (c = 0 without a common constraint).

Variables that δ would carry past a bound are held at it, as further constraints of the same system, until none is: they cost a column of L⁻¹ each,
M = LLᵀ, and no new factorisation; nor do those that leave the face later, while those that join it are appended to L. A step along δ cannot lower
the dual, so that giving up loses nothing.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la

from gapless.kernels.threads import one_blas_thread
from gapless.losses import DualBox
from gapless.solvers.smo.blocks import gather_block, spread, survey

_TURNED = 0.25  # share of the face that may have changed in a round of pairs before it
_WORTH = 100_000.0  # cubes of the face's size that take as long as a pair
_RIDGE = 1e-4  # of the mean diagonal: directions below it gain a digit less a step, and need not be followed past every bound
_HELD = 0.25  # share of the face that may be held at bounds; beyond it, the face is not known yet
_JOIN = 0.1  # share of it that may be appended to a factor
_STEPS = 12
_PASSES = 12  # times that variables may be added to those held in a step
_ENTER = 0.5  # of the target: variables at a bound that violate by more join the face


def pays(dual: DualBox, before: np.ndarray, after: np.ndarray, pairs: int, room: float) -> bool:
    """Whether the next round of pairs is worth beginning with Newton steps: in the last, which took so many ``pairs``, few variables came to a bound
    or left one, and a factorisation takes no longer than it did; its matrix fits into ``room`` bytes."""
    inside, was = _inside(dual, after), _inside(dual, before)
    size = int(np.count_nonzero(inside))
    turned = int(np.count_nonzero(inside != was))
    return size > 0 and turned <= _TURNED * size and size**3 <= _WORTH * pairs and 8.0 * size**2 <= room


def _inside(dual: DualBox, beta: np.ndarray) -> np.ndarray:
    return (dual.lower < beta) & (beta < dual.upper) & (beta != 0.0)


def solve_face(
    dual: DualBox, diagonal: np.ndarray, K: np.ndarray, coupled: bool, target: float, beta: np.ndarray, f: np.ndarray
) -> int:
    """Maximise the dual of the first samples of K, all of one group, until nothing violates by more than ``target``, or the face turns out not to be
    known; writes beta and f. Returns how often a variable moved.

    >>> from gapless.losses import Hinge
    >>> y, X = np.array([-1.0, -1.0, 1.0]), np.array([[0.0], [1.0], [2.0]])
    >>> beta, f = np.array([0.0, -1.0, 1.0]), X[:, 0] * 1.0
    >>> solve_face(Hinge().dual_box(y, np.full(3, 10.0)), X[:, 0] ** 2, X @ X.T, True, 1e-3, beta, f) > 0
    True
    >>> beta.round(2)  # w = 2
    array([ 0., -2.,  2.])
    """
    with one_blas_thread():  # NumPy's and SciPy's threads would wait for each other's
        return _solve(dual, diagonal, K, coupled, target, beta, f)


def _solve(
    dual: DualBox, diagonal: np.ndarray, K: np.ndarray, coupled: bool, target: float, beta: np.ndarray, f: np.ndarray
) -> int:
    m, moves = len(beta), 0
    groups, up, down = np.zeros(m, dtype=np.int64), np.empty(m), np.empty(m)
    face = _Face(K, dual.d + _RIDGE * float(diagonal.mean()))
    for _ in range(_STEPS):
        _, worst = survey(dual, diagonal, beta, f, groups, 1, coupled, up, down)
        inside = _inside(dual, beta)
        if worst <= target or not inside.any():
            break
        level = float(np.median(up[inside])) if coupled else 0.0
        # the piece of the dual that a variable is in, or would enter, is above or below zero; at its far end it can only turn back
        above = np.where(beta == 0.0, up - level > level - down, beta > 0.0)
        rises = above != ((beta != 0.0) & ~inside)
        slope = np.where(rises, up, down)
        wanted = inside | (np.where(rises, slope - level, level - slope) > _ENTER * target)
        if not face.become(wanted):
            break
        rows = face.rows
        least = np.where(above, 0.0, dual.lower)[rows]
        most = np.where(above, dual.upper, 0.0)[rows]
        out = ~wanted[rows]
        g = np.where(out, 0.0, slope[rows])
        change = face.step(g, coupled, least - beta[rows], most - beta[rows], np.flatnonzero(out))
        if change is None:
            break
        after = f.copy()
        spread(K, rows, change, after)
        gain = float(g @ change)
        bend = float(change @ (after[rows] - f[rows])) + float(dual.d[rows] @ change**2)
        if not gain > 0.0:
            break
        t = min(1.0, gain / bend) if bend > 0.0 else 1.0
        f += t * (after - f)
        beta[rows] = np.where(out, beta[rows], np.clip(beta[rows] + t * change, least, most))
        moves += len(rows)
    return moves


class _Face:
    """Some variables, and L of their M."""

    def __init__(self, K: np.ndarray, bend: np.ndarray) -> None:
        self._K, self._bend = K, bend
        self.rows = np.empty(0, dtype=np.int64)
        self._L = np.empty((0, 0))

    def become(self, wanted: np.ndarray) -> bool:
        """Take in the variables that are wanted; False where M cannot be factored. Those that no longer are stay, to be held, unless many are."""
        inside = np.zeros(len(wanted), dtype=bool)
        inside[self.rows] = True
        new = np.flatnonzero(wanted & ~inside)
        known = len(self.rows)
        if len(new) > _JOIN * known or 2 * np.count_nonzero(inside & ~wanted) > _HELD * known:
            self.rows = np.flatnonzero(wanted)
            M = gather_block(self._K, self.rows).astype(np.float64)
            M.ravel()[:: len(M) + 1] += self._bend[self.rows]
            self._L, failed = la.lapack.dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
            return not failed
        if not len(new):
            return True
        L = np.empty((known + len(new),) * 2, order="F")
        L[:known, :known] = self._L
        across = self._K[new][:, self.rows].astype(np.float64)
        L[known:, :known] = la.blas.dtrsm(1.0, self._L, np.asfortranarray(across.T), lower=1, overwrite_b=1).T
        M = self._K[new][:, new] - L[known:, :known] @ L[known:, :known].T
        M.ravel()[:: len(M) + 1] += self._bend[new]
        corner, failed = la.lapack.dpotrf(M, lower=1, clean=0)
        L[known:, known:] = corner
        self.rows, self._L = np.append(self.rows, new), L
        return not failed

    def step(
        self, g: np.ndarray, coupled: bool, least: np.ndarray, most: np.ndarray, out: np.ndarray
    ) -> np.ndarray | None:
        """δ with least ≤ δ ≤ most, zero for those ``out``; None where too many variables would be held."""
        L, n = self._L, len(g)
        right = np.ones((n, 1 + coupled), order="F")
        right[:, 0] = g
        right = la.blas.dtrsm(1.0, L, right, lower=1, overwrite_b=1)
        held, at, Y = out, np.zeros(len(out)), self._columns(out)
        for _ in range(_PASSES):
            total = right[:, 0].copy()
            A, B = (np.concatenate([Y, sign * right[:, 1:]], axis=1) for sign in (-1.0, 1.0))
            if A.shape[1]:  # a multiplier for each that is held, and c
                total += A @ la.solve(B.T @ A, np.append(at, [0.0] * coupled) - B.T @ total, check_finite=False)
            change = la.blas.dtrsv(L, total, lower=1, trans=1)
            change[held] = at
            past = np.flatnonzero((change > most) | (change < least))
            past = past[~np.isin(past, held)]
            if not len(past):
                return change
            if len(held) + len(past) > _HELD * n:
                return None
            held = np.append(held, past)
            at = np.append(at, np.where(change[past] > most[past], most[past], least[past]))
            Y = np.concatenate([Y, self._columns(past)], axis=1)
        return None

    def _columns(self, which: np.ndarray) -> np.ndarray:
        """Columns of L⁻¹."""
        E = np.zeros((len(self._L), len(which)), order="F")
        E[which, np.arange(len(which))] = 1.0
        return la.blas.dtrsm(1.0, self._L, E, lower=1, overwrite_b=1) if len(which) else E
