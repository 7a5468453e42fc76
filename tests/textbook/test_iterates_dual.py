"""The algorithms on the dual as the texts print them, a few lines of NumPy each, beside every iterate of the library."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import gapless as gl
from gapless.solvers import SDCA, SMO, CoordinateAscent, ProjectedGradient
from tests.textbook.by_hand import (
    GIVEN,
    STATEMENTS,
    S,
    Statement,
    assert_ends_at,
    assert_same_alpha,
    assert_same_weights,
    augmented,
    order,
    walk,
)
from tests.textbook.samples import N, X, y

KERNELS = {"linear": None, "rbf": gl.kernels.RBF(0.5)}
ORDERS = ["epochs", "uniform", "cyclic", GIVEN]


def matrix(kernel: str, intercept: str) -> np.ndarray:
    """Q = diag(y) K diag(y), plus s² of a regularised intercept in each entry of K."""
    K = X @ X.T if KERNELS[kernel] is None else KERNELS[kernel](X)
    return np.outer(y, y) * (K + (S**2 if intercept == "regularized" else 0.0))


def projected_gradient(H: np.ndarray, upper: float, epsilon: float, steps: int) -> list[np.ndarray]:
    """α ← proj(α + ε∇)."""
    iterates = [np.zeros(N)]
    for _ in range(steps):
        iterates.append(np.clip(iterates[-1] + epsilon * (1 - H @ iterates[-1]), 0, upper))
    return iterates


def coordinate_ascent(H: np.ndarray, upper: float, samples: list[int]) -> list[np.ndarray]:
    """αₖ ← clip(αₖ + (1 − (Hα)ₖ)/Hₖₖ)."""
    alpha, iterates = np.zeros(N), [np.zeros(N)]
    for k in samples:
        alpha[k] = np.clip(alpha[k] + (1 - H[k] @ alpha) / H[k, k], 0, upper)
        iterates.append(alpha.copy())
    return iterates


def sdca(at: Statement, intercept: str, samples: list[int]) -> tuple[list[np.ndarray], list[tuple[np.ndarray, float]]]:
    """δ = (1 − yᵢ⟨w,xᵢ⟩) a/‖xᵢ‖², ᾱ = clip(αᵢ + δ, 0, c), w += (ᾱ − αᵢ) yᵢxᵢ/a."""
    x, alpha, w = augmented(intercept), np.zeros(N), np.zeros(4)
    alphas, weights = [alpha.copy()], [(w[:3].copy(), 0.0)]
    for i in samples:
        new = np.clip(alpha[i] + (1 - y[i] * (w @ x[i])) * at.a / (x[i] @ x[i]), 0, at.c)
        w += (new - alpha[i]) * y[i] * x[i] / at.a
        alpha[i] = new
        alphas.append(alpha.copy())
        weights.append((w[:3].copy(), S * w[3]))
    return alphas, weights


def smo_steps(at: Statement, Q: np.ndarray, pairs: str, alpha: np.ndarray) -> list[np.ndarray]:
    """i = argmax over I_up of −yᵢ∇ᵢ; j = argmin over I_low, or the one that gains most; the pair in closed form, clipped (Fan et al. 2005).

    The two of a pair that met no bound have equal gradients from then on: a tie, which rounding decides. So every α that a tie leads to is returned.
    """
    H, reached = Q / at.a, []
    v = y * (1 - H @ alpha)  # −y∇ of ½αᵀHα − Σα
    up, low = np.where(y > 0, alpha < at.c, alpha > 0), np.where(y > 0, alpha > 0, alpha < at.c)
    for i in largest(np.where(up, v, -np.inf)):
        curvature = H[i, i] + np.diag(H) - 2 * y[i] * y * H[i]
        curvature[i] = np.inf
        gain = v[i] - v if pairs == "maximal_violation" else (v[i] - v) ** 2 / curvature
        for j in largest(np.where(low & (v < v[i]), gain, -np.inf)):
            room = [at.c - alpha[i] if y[i] > 0 else alpha[i], alpha[j] if y[j] > 0 else at.c - alpha[j]]
            step = min((v[i] - v[j]) / curvature[j], *room)
            reached.append(alpha.copy())
            reached[-1][i] += y[i] * step
            reached[-1][j] -= y[j] * step
    return reached


def largest(values: np.ndarray) -> np.ndarray:
    """The places of the largest value, more than one where these differ by rounding."""
    return np.flatnonzero(values >= values.max() - 1e-12 * max(1.0, abs(values.max())))


@pytest.mark.parametrize("share", [None, 0.5, 2.5])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["none", "regularized"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_projected_gradient(at, kernel, intercept, loss, share):
    """ε = 1/L by default; a given ε is the text's, also where it is too large."""
    H, upper = at.quadratic(loss, matrix(kernel, intercept))
    problem = at.problem(intercept=intercept, kernel=KERNELS[kernel], loss=loss)
    epsilon = (1.0 if share is None else share) / np.linalg.eigvalsh(H)[-1]
    seen, result = walk(problem, ProjectedGradient(eta=None if share is None else epsilon), 25)
    assert_same_alpha(problem, seen, projected_gradient(H, upper, epsilon, 25), H)
    assert_ends_at(result, seen[-1])


@pytest.mark.parametrize("sampling", ORDERS, ids=str)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["none", "regularized"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_coordinate_ascent(at, kernel, intercept, loss, sampling):
    H, upper = at.quadratic(loss, matrix(kernel, intercept))
    problem = at.problem(intercept=intercept, kernel=KERNELS[kernel], loss=loss)
    seen, result = walk(problem, CoordinateAscent(sampling=sampling), 90)
    assert_same_alpha(problem, seen, coordinate_ascent(H, upper, order(sampling, 90)), H)
    assert_ends_at(result, seen[-1])


@pytest.mark.parametrize("sampling", ORDERS, ids=str)
@pytest.mark.parametrize("intercept", ["none", "regularized"])
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_sdca(at, intercept, sampling):
    problem = at.problem(intercept=intercept)
    alphas, weights = sdca(at, intercept, order(sampling, 90))
    seen, result = walk(problem, SDCA(sampling=sampling, shrinking=False, second_order=False), 90)
    assert_same_alpha(problem, seen, alphas, matrix("linear", intercept) / at.a)
    assert_same_weights(seen, weights, partial(at.primal, "hinge", intercept))
    assert_ends_at(result, seen[-1])


@pytest.mark.parametrize("sampling", ORDERS, ids=str)
@pytest.mark.parametrize("intercept", ["none", "regularized"])
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_sdca_of_the_squared_hinge(at, intercept, sampling):
    """The same steps as on the explicit matrix."""
    H, upper = at.quadratic("squared_hinge", matrix("linear", intercept))
    problem = at.problem(intercept=intercept, loss="squared_hinge")
    seen, _ = walk(problem, SDCA(sampling=sampling, shrinking=False, second_order=False), 90)
    assert_same_alpha(problem, seen, coordinate_ascent(H, upper, order(sampling, 90)), H)


@pytest.mark.parametrize("pairs", ["second_order", "maximal_violation"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_smo_pair_by_pair(at, kernel, pairs):
    problem, Q = at.problem(kernel=KERNELS[kernel]), matrix(kernel, "free")
    seen, result = walk(problem, SMO(pairs=pairs), 40)
    alphas = [problem.scale * y * each.beta for each in seen]
    assert not alphas[0].any()
    several = 0
    for before, after in pairwise(alphas):
        reached = smo_steps(at, Q, pairs, before)
        several += len(reached) > 1
        assert min(np.abs(after - alpha).max() for alpha in reached) <= 1e-12
    assert several < 20  # of 40 steps: the first ones, from α = 0, and a few ties later
    assert_same_alpha(problem, seen, alphas, Q / at.a)
    assert_ends_at(result, seen[-1])
