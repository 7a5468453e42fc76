"""The exact end of a problem whose optimum is almost known: guess which βᵢ lie strictly between their bounds, solve for these, correct the guess.

    min over w of  ½ Σ ρⱼ wⱼ² − gᵀw + Σᵢ φᵢ(⟨aᵢ, w⟩),   φ(f) = max over lower ≤ β ≤ upper of β (p − f) − ε|β|

At the optimum β = prox(β + γ (p − f)) for any γ > 0. The piece of the prox that a sample falls into tells whether βᵢ is at a bound, or zero, or
whether ⟨aᵢ, w⟩ is at a kink p ∓ ε. The samples at a kink, about as many as there are columns, give a linear system for their βᵢ and w. Where the next
guess is the same, the optimum is found, to rounding: a primal–dual active-set method (Hintermüller, Ito & Kunisch 2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from gapless import _native
from gapless.data.products import matvec, rmatvec
from gapless.losses import DualBox

_ROUNDS = 12  # guesses: from a gap of 1e-5 (``_PIN`` in solver.py) a handful are enough, or the guess is too early


class Pinned(NamedTuple):
    """A point of the method: w, f = Aw, β, and the gap Σ φ(f) − β(p − f) + ε|β| = P − D."""

    w: np.ndarray
    f: np.ndarray
    beta: np.ndarray
    gap: float


def pin(
    A: np.ndarray,
    rho: np.ndarray,
    g: np.ndarray,
    dual: DualBox,
    f: np.ndarray,
    beta: np.ndarray,
    w: np.ndarray,
    length: float,
) -> Pinned | None:
    """The best point that the method passes through from (w, f, β); None where it finds no system to solve.

    ``length`` is the size of the residuals p − f: γ is the size of the box over ``length``, so that both terms of β + γ (p − f) are comparable.
    """
    gamma = np.maximum(dual.upper, -dual.lower) / length
    piece, before = np.empty(len(f), dtype=np.int8), None
    best: Pinned | None = None
    for _ in range(_ROUNDS):
        _native.kink_pieces(dual, f, beta, gamma, piece)
        if before is not None and np.array_equal(piece, before):
            break
        before = piece.copy()
        between = np.flatnonzero(np.abs(piece) == 1)
        if len(between) > 2 * A.shape[1] + 20 or not (len(between) or rho.all()):
            break
        fixed = np.where(piece == 2, dual.upper, np.where(piece == -2, dual.lower, 0.0))
        kinks = dual.p[between] - piece[between] * dual.epsilon[between]
        w, found = _solve(A[between], rho, g + rmatvec(A, fixed), kinks, w)
        if not (np.isfinite(w).all() and np.isfinite(found).all()):
            break
        beta = fixed
        beta[between] = found
        f = matvec(A, w)
        inside = np.clip(beta, dual.lower, dual.upper)
        gap = _native.fenchel_gap(dual, f, inside) + _mismatch(A, rho, w, inside, beta)
        if best is None or gap < best.gap:
            best = Pinned(w, f, inside, gap)
    return best


def _solve(
    A: np.ndarray, rho: np.ndarray, q: np.ndarray, kinks: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(w, β) with ρ∘w = q + Aᵀβ and Aw = kinks; where β is not unique, the shortest one."""
    if not len(A):
        return q / rho, np.empty(0)
    bounded = rho > 0
    B = A[:, bounded] / np.sqrt(rho[bounded])
    k, free = len(A), int(np.count_nonzero(~bounded))
    system = np.zeros((k + free, k + free))
    system[:k, :k] = B @ B.T
    system[:k, k:] = A[:, ~bounded]
    system[k:, :k] = A[:, ~bounded].T
    rhs = np.concatenate([kinks - A[:, bounded] @ (q[bounded] / rho[bounded]), -q[~bounded]])
    unit = 1.0 / np.sqrt(np.maximum(np.diag(system), np.finfo(float).tiny))
    unit[k:] = 1.0 / np.maximum(1e-300, np.abs(system[k:, :k] * unit[:k]).max(axis=1, initial=1e-300))
    x = unit * scipy.linalg.lstsq(system * unit * unit[:, None], unit * rhs, cond=1e-13, check_finite=False)[0]
    w = w.copy()
    w[~bounded] = x[k:]
    w[bounded] = (q[bounded] + A[:, bounded].T @ x[:k]) / rho[bounded]
    return w, x[:k]


def _mismatch(A: np.ndarray, rho: np.ndarray, w: np.ndarray, inside: np.ndarray, beta: np.ndarray) -> float:
    """The part of P − D that arises where β was clipped, and w is no longer the w of β."""
    moved = np.flatnonzero(inside != beta)
    if not len(moved):
        return 0.0
    change = A[moved].T @ (inside - beta)[moved]
    bounded = rho > 0
    return 0.5 * float((change[bounded] ** 2 / rho[bounded]).sum()) + float(
        np.abs(change[~bounded] * w[~bounded]).sum()
    )
