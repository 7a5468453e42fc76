"""The exact end of a problem whose optimum is almost known: guess which βᵢ lie strictly between their bounds, solve for these, correct the guess.

    min over w of  ½ Σ ρⱼ wⱼ² − gᵀw + Σᵢ φᵢ(⟨aᵢ, w⟩),   φ(f) = max over lower ≤ β ≤ upper of β (p − f) − ε|β| − ½ d β²

At the optimum β = prox(β + γ (p − f − dβ)) for any γ > 0. The piece of the prox that a sample falls into says whether βᵢ is at a bound, or zero, or
whether ⟨aᵢ, w⟩ + dᵢβᵢ is at a kink p ∓ ε; the latter samples, without a bend d about as many as columns, give a linear system for their βᵢ and w.
Where the next guess is the same, the optimum is found, to rounding: a primal–dual active-set method (Hintermüller, Ito & Kunisch 2002). With a bend,
β comes from the system itself and not from (p − f)/d, whose rounding grows with C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from gapless import _native
from gapless.data.products import matvec, rmatvec
from gapless.losses import DualBox

_ROUNDS = 12
# Of a row's length times the model's and √features: more than rounding moves a decision by.
_ASIDE = 8 * float(np.finfo(float).eps)
_CORRECTIONS = 2  # of a solution: from the rounding of its system to that of its products; the second is for systems of a bad condition
_SINGULAR = 1e-13  # condition's inverse from which on a system counts as singular: some hundred times rounding


class Pinned(NamedTuple):
    """w, f = Aw, β and Σ φ(f) − β(p − f) + ε|β| + ½dβ², which is P − D."""

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
    goal: float = 0.0,
    features: int = 0,
) -> Pinned | None:
    """The best point that the method passes through from (w, f, β); None where it finds no system to solve.

    ``length`` is the size of residuals p − f, which makes them comparable with shares of the box. With a large C a decision that rounding puts a
    little on the wrong side of its kink costs much: where a gap of ``goal`` allows for it, decisions are put a little on the right side. ``features``
    are those that the model will be multiplied with, whose rounding it is.
    """
    gamma = np.maximum(dual.upper, -dual.lower) / length
    piece, before = np.empty(len(f), dtype=np.int8), None
    best: Pinned | None = None
    for _ in range(_ROUNDS):
        _native.kink_pieces(dual, f + dual.d * beta, beta, gamma, piece)
        if before is not None and np.array_equal(piece, before):
            break
        before = piece.copy()
        between = np.flatnonzero(np.abs(piece) == 1)
        if len(between) > 2 * A.shape[1] + 20 or not (len(between) or rho.all()):
            break
        fixed = np.where(piece == 2, dual.upper, np.where(piece == -2, dual.lower, 0.0))
        kinks = dual.p[between] - piece[between] * dual.epsilon[between]
        q, rows, bend = g + rmatvec(A, fixed), A[between], dual.d[between]
        aside = _ASIDE * np.sqrt((16 + features) * np.einsum("ij,ij->i", rows, rows) * float(w @ w))
        solve = _solution(rows, rho, bend, q)
        for side in (1.0, 0.0):
            at, found = solve(kinks + side * piece[between] * aside)
            if not (np.isfinite(at).all() and np.isfinite(found).all()):
                return best
            there = fixed.copy()
            there[between] = found
            tried = _judged(A, rho, dual, at, there)
            if best is None or tried.gap < best.gap:
                best = tried
            if tried.gap <= goal:
                break
        w, f, beta = at, tried.f, there
    return best


def _judged(A: np.ndarray, rho: np.ndarray, dual: DualBox, w: np.ndarray, beta: np.ndarray) -> Pinned:
    """A model and the β that it is made of, brought into the box, with their gap."""
    f = matvec(A, w)
    inside = np.clip(beta, dual.lower, dual.upper)
    return Pinned(w, f, inside, _native.fenchel_gap(dual, f, inside) + _mismatch(A, rho, w, inside, beta))


def _solution(
    A: np.ndarray, rho: np.ndarray, d: np.ndarray, q: np.ndarray
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The function that gives, for any ``kinks``, w and β with ρ∘w = q + Aᵀβ and Aw + d∘β = kinks; where β is not unique, the shortest."""
    if not len(A):
        return lambda _: (q / rho, np.empty(0))
    bounded = rho > 0
    B = A[:, bounded] / np.sqrt(rho[bounded])
    k, free = len(A), int(np.count_nonzero(~bounded))
    system = np.zeros((k + free, k + free))
    system[:k, :k] = B @ B.T + np.diag(d)
    system[:k, k:] = A[:, ~bounded]
    system[k:, :k] = A[:, ~bounded].T
    unit = 1.0 / np.sqrt(np.maximum(np.diag(system), np.finfo(float).tiny))
    unit[k:] = 1.0 / np.maximum(1e-300, np.abs(system[k:, :k] * unit[:k]).max(axis=1, initial=1e-300))
    solve = _solver(system * unit * unit[:, None])

    def solution(kinks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, w = np.zeros(k + free), np.zeros(len(rho))
        w[bounded] = q[bounded] / rho[bounded]
        # What is left is taken from w, whose products cancel less than those of β: so each correction makes Aw as exact as rounding allows.
        for _ in range(1 + _CORRECTIONS):
            change = unit * solve(
                unit * np.concatenate([kinks - A @ w - d * x[:k], -q[~bounded] - A[:, ~bounded].T @ x[:k]])
            )
            x += change
            w[~bounded] += change[k:]
            w[bounded] += A[:, bounded].T @ change[:k] / rho[bounded]
        return w, x[:k]

    return solution


def _solver(system: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Solves a symmetric system: by elimination where its condition allows that, else for the shortest of the best, which takes longer."""
    factors, pivots, singular = lapack.dgetrf(system)
    if singular == 0:
        regular, _ = lapack.dgecon(factors, float(np.abs(system).sum(axis=0).max()))
        if regular > _SINGULAR:
            return lambda rhs: np.asarray(lapack.dgetrs(factors, pivots, rhs)[0])
    sizes, V = scipy.linalg.eigh(system, driver="evd", check_finite=False)
    kept = np.abs(sizes) > _SINGULAR * np.abs(sizes).max()
    sizes, V = sizes[kept], V[:, kept]
    return lambda rhs: np.asarray(V @ ((V.T @ rhs) / sizes))


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
