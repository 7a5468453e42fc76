"""The ℓ₁ problem by the interior-point method of the other linear problems: |w| is a sum of two hinges, as a sample's loss is of one or two.

    min over w of  Σⱼ |wⱼ| + Σᵢ cᵢ max(0, 1 − ⟨aᵢ, w⟩)²,   aᵢ = yᵢx̃ᵢ

is what ``native/interior_point/barrier.hpp`` solves for the rows aᵢ, with a bend 1/(2cᵢ), and below them a unit row for each weight, with the box
[−1, 1] around the target zero. Its steps hardly depend on C and on how features are correlated, as those of coordinate descent do. Where there are
many weights it sees some of them, and those whose optimality condition is violated come in. Weights are in a unit that gives all rows one price: on
the central path the products of a multiplier and its slack are as the prices, and where these were apart by orders of magnitude steps would be short.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.losses import DualBox

_STEPS = 25  # of a solve, as a rule
_MOST_STEPS = 100
_ROUNDS = 20  # sets of weights, each larger than the last
_PRODUCT = 1 / 60  # of an entry touched: a multiplication inside a product of matrices
_MOST_WEIGHTS, _MOST_ENTRIES = 2000, 3e7  # of the barrier's matrix
_SURE = 0.1  # share of the target that the barrier's own gap may take
_BEYOND = 1e-9  # by which a slope of a weight outside may be above one without its coming in, at the least
_ROOM = 2.0  # times what no αᵢ is above
_FEW = 300  # weights that always take part
_LOOK = 1e-2  # relative gap at which weights outside are first looked at, and come in where their slope is clearly beyond one
_CLEARLY = 0.05
_SPARE = 0.3  # what the slope of a weight lacks of one that makes room for others
# A weight is zero where its effect on margins is below this times what its slope lacks of one; the first of these that the model stands is taken.
_CUTS = (1.0, 1e-3, 1e-6, 0.0)


def set_size(weights: int, samples: int) -> int:
    """Weights that take part from the first: an optimum needs no more than there are samples."""
    return min(weights, max(_FEW, samples))


def expected_work(weights: int, samples: int) -> float:
    """What a solve is likely to cost, in entries touched; infinite where its matrix would be large."""
    m = set_size(weights, samples)
    rows = samples + m
    if m > _MOST_WEIGHTS or rows * m > _MOST_ENTRIES:
        return np.inf
    one = rows * m * (8.0 + 0.5 * m * _PRODUCT) + m**3 * _PRODUCT / 3
    return _STEPS * one + 2.0 * weights * samples


class L1Barrier:
    """A has a row for each weight, (y ∘ X̃)ᵀ. A solve under way: some weights, and the barrier on them."""

    def __init__(self, A: Any, cost: np.ndarray, w: np.ndarray) -> None:
        self.A, self.cost = A, cost
        weights, samples = A.shape
        # At the optimum ½ Σα ≤ P, and no sample's loss α²/(4c) is above P, which is at most Σc.
        most = float(cost.sum())
        self.bound = _ROOM * np.minimum(2.0 * most, np.sqrt(4.0 * cost * most))
        self.unit = float(self.bound.max())
        self.reach = np.asarray(abs(A).sum(axis=1)).ravel() / samples  # what a weight of one moves margins by
        self.alpha, self.work, self.rounds = np.zeros(samples), 0.0, 0
        self.w, self.lacks = np.zeros(weights), np.zeros(weights)  # and what each slope lacks of one
        slope = np.abs(np.asarray(A @ (2.0 * cost * np.maximum(0.0, 1.0 - np.asarray(A.T @ w)))))
        first = np.where(w != 0, np.inf, slope)
        self._begin(np.argsort(-first, kind="stable")[: set_size(weights, samples)])

    def _begin(self, chosen: np.ndarray) -> None:
        """A barrier on these weights, from zero."""
        self.chosen, self.steps, self.looked = np.sort(chosen[self.reach[chosen] > 0]), 0, False
        self.rounds += 1
        m, n = len(self.chosen), self.A.shape[1]
        part = self.A[self.chosen]
        M = np.zeros((n + m, m))
        M[:n] = self.unit * (part.toarray() if sp.issparse(part) else part).T
        M[n:][np.diag_indices(m)] = 1.0
        bend = np.divide(0.5, self.cost, out=np.zeros(n), where=self.cost > 0)
        price, nothing = np.full(m, self.unit), np.zeros(n + m)
        box = DualBox(
            np.append(np.ones(n), np.zeros(m)), nothing, np.append(bend, np.zeros(m)),
            np.append(np.zeros(n), -price), np.append(self.bound, price),
        )  # fmt: skip
        zero = np.zeros(m)
        self.barrier: Any = _native.Barrier(M, box, None, zero, zero, 0.0, zero, 1.0)
        self.work += 2.0 * M.size

    def step(self, target: float) -> bool:
        """One step towards a relative gap of ``target``; whether all weights are done, and w and α are the model."""
        barrier, n = self.barrier, self.A.shape[1]
        barrier.iterate()
        self.steps += 1
        rows, m = barrier.A.shape
        self.work += rows * m * (8.0 + 0.5 * m * _PRODUCT) + m**3 * _PRODUCT / 3
        ends = barrier.gap <= _SURE * target * abs(barrier.value) or barrier.stuck or self.steps >= _MOST_STEPS
        looks = not self.looked and barrier.gap <= _LOOK * abs(barrier.value)
        if not (ends or looks):
            return False
        self.looked = True
        own = barrier.beta()
        self.alpha = np.maximum(own[:n], 0.0)
        self.w[:] = self.lacks[:] = 0.0
        self.w[self.chosen] = self.unit * barrier.w
        self.lacks[self.chosen] = 1.0 - np.abs(own[n:]) / self.unit
        widened = self._widen(max(_BEYOND, target) if ends else _CLEARLY)
        return ends and not widened

    def models(self) -> Iterator[np.ndarray]:
        """The model without the weights that are zero but for the barrier, of whom there are fewer and fewer."""
        for cut in _CUTS:
            yield np.where(np.abs(self.w) * self.reach > cut * self.lacks, self.w, 0.0)

    def _widen(self, beyond_one: float) -> bool:
        """Let the weights outside come in whose slope is beyond one by more than that; whether there are any."""
        slope = np.abs(np.asarray(self.A @ self.alpha))
        self.work += float(self.A.shape[0] * self.A.shape[1])
        slope[self.chosen] = 0.0
        beyond = np.flatnonzero(slope > 1.0 + beyond_one)
        if not len(beyond) or self.rounds >= _ROUNDS:
            return False
        # Those that the barrier has found to be zero, by a wide margin, make room.
        needed = self.chosen[self.lacks[self.chosen] < _SPARE]
        worst = beyond[np.argsort(-slope[beyond], kind="stable")]
        room = max(len(needed) // 2, set_size(*self.A.shape) // 2)
        chosen = np.concatenate([needed, worst[:room]])
        if len(chosen) > _MOST_WEIGHTS or len(chosen) * (len(chosen) + self.A.shape[1]) > _MOST_ENTRIES:
            return False
        self._begin(chosen)
        return True
