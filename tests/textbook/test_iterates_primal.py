"""The algorithms on the primal as the texts print them, a few lines of NumPy each, beside every iterate of the library."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gapless.solvers import SGD, Pegasos, Subgradient
from tests.textbook.by_hand import (
    EXACT,
    GIVEN,
    LOSSES,
    STATEMENTS,
    S,
    Statement,
    assert_ends_at,
    assert_same_weights,
    augmented,
    order,
    walk,
)
from tests.textbook.samples import N, X, y

INTERCEPTS = ("none", "regularized", "free")
RULES = {
    "constant": ({"step_rule": "constant", "eta": 0.02}, lambda t: 0.02),
    "decay": ({"step_rule": "decay", "eta": 0.3, "t0": 4.0}, lambda t: 0.3 / (t + 4.0)),
    "decay from one": ({"step_rule": "decay", "eta": 0.3, "t0": 0.0}, lambda t: 0.3 / t),
    "function": ({"step_rule": lambda t: 0.1 / t**0.5}, lambda t: 0.1 / t**0.5),
    "large": ({"step_rule": "constant", "eta": 1.7}, lambda t: 1.7),
}


def subgradient(at: Statement, loss: str, intercept: str, eta: Any, steps: int) -> list[tuple[np.ndarray, float]]:
    """v = a w − c Σ over {i: yᵢ f(xᵢ) < 1} of yᵢxᵢ, w ← w − ηₜ v; a free b has no a, a regularised one is the weight of the feature s."""
    x, w, b = augmented(intercept), np.zeros(4), 0.0
    iterates = [(w[:3], b)]
    for t in range(1, steps + 1):
        g = at.c * LOSSES[loss][1](y * (x @ w + b)) * y
        w, b = w - eta(t) * (at.a * w + g @ x), b - eta(t) * (g.sum() if intercept == "free" else 0.0)
        iterates.append((w[:3], b + S * w[3]))
    return iterates


def sgd(at: Statement, loss: str, intercept: str, eta: Any, samples: list[int]) -> list[tuple[np.ndarray, float]]:
    """Shrink w by (1 − ηₜ a); where y(⟨w,x⟩ + b) < 1 also add ηₜ n c y x to w, and ηₜ n c y to a free b."""
    x, w, b = augmented(intercept), np.zeros(4), 0.0
    iterates = [(w[:3], b)]
    for t, i in enumerate(samples, start=1):
        g = N * at.c * LOSSES[loss][1](y[i] * (w @ x[i] + b)) * y[i]
        w, b = (1 - eta(t) * at.a) * w - eta(t) * g * x[i], b - (eta(t) * g if intercept == "free" else 0.0)
        iterates.append((w[:3], b + S * w[3]))
    return iterates


def pegasos(at: Statement, samples: list[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """θ ← 0; wₜ = θ/(λt); θ += yᵢxᵢ where yᵢ⟨wₜ,xᵢ⟩ < 1. (The iterates w₁, w₂, …; after each step their average so far.)"""
    lam, theta, iterates, averages = at.a / (at.c * N), np.zeros(3), [], [np.zeros(3)]
    for t, i in enumerate(samples, start=1):
        w = theta / (lam * t)
        iterates.append(w)
        averages.append(np.mean(iterates, axis=0))
        if y[i] * (w @ X[i]) < 1:
            theta = theta + y[i] * X[i]
    return [*iterates, theta / (lam * (len(samples) + 1))], averages


# --- the sub-gradient method


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_subgradient_method(at, intercept, rule):
    options, eta = RULES[rule]
    seen, result = walk(at.problem(intercept=intercept), Subgradient(**options), 30)
    expected = subgradient(at, "hinge", intercept, eta, 30)
    assert_same_weights(seen, expected, partial(at.primal, "hinge", intercept))
    values = [at.primal("hinge", intercept, w, b) for w, b in expected]
    best, b = expected[int(np.argmin(values))]  # the result is the iterate with the smallest objective, not the last
    assert_allclose([*result.w, result.b], [*best, b], **EXACT)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_subgradient_method_of_a_smooth_loss(at, intercept, loss):
    seen, _ = walk(at.problem(intercept=intercept, loss=loss), Subgradient(eta=0.02, t0=0.0), 30)
    expected = subgradient(at, loss, intercept, lambda t: 0.02 / t, 30)
    assert_same_weights(seen, expected, partial(at.primal, loss, intercept))


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_subgradient_method_with_a_trial_search(at, intercept):
    """The η of 8, 4, …, 8/2¹² whose ten iterations find the smallest objective, and then η/(t + t₀) from the start."""
    runs = {
        eta: subgradient(at, "hinge", intercept, lambda t, eta=eta: eta / (t + 1.0), 30)
        for eta in 8.0 / 2.0 ** np.arange(13)
    }
    least = {eta: min(at.primal("hinge", intercept, w, b) for w, b in run[:11]) for eta, run in runs.items()}
    seen, _ = walk(at.problem(intercept=intercept), Subgradient("search", eta=8.0, t0=1.0), 30)
    assert_same_weights(seen, runs[min(least, key=least.get)], partial(at.primal, "hinge", intercept))


# --- one sample a step


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_sgd(at, intercept, rule):
    options, eta = RULES[rule]
    seen, result = walk(at.problem(intercept=intercept), SGD(**options, averaging="none", sampling="cyclic"), 60)
    expected = sgd(at, "hinge", intercept, eta, order("cyclic", 60))
    assert_same_weights(seen, expected, partial(at.primal, "hinge", intercept))
    assert_ends_at(result, seen[-1])


@pytest.mark.parametrize("sampling", ["epochs", "uniform", "cyclic", GIVEN], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_sgd_in_every_order(intercept, loss, sampling):
    at = STATEMENTS[2]
    solver = SGD(eta=1.0, t0=10.0, averaging="none", sampling=sampling)
    seen, _ = walk(at.problem(intercept=intercept, loss=loss), solver, 100)
    expected = sgd(at, loss, intercept, lambda t: 1 / (t + 10.0), order(sampling, 100))
    assert_same_weights(seen, expected, partial(at.primal, loss, intercept))


@pytest.mark.parametrize("averaging", ["tail", 0, 7, N, 61])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_sgd_with_the_average_from_t0_on(at, intercept, averaging):
    """T₀ that the caller names; or the last power of two of epochs."""
    iterates = sgd(at, "hinge", intercept, lambda t: 0.3 / (t + 4.0), order("epochs", 100))
    expected = []
    for t in range(101):
        begin = max((N * 2**k for k in range(3) if N * 2**k < t), default=0) if averaging == "tail" else averaging
        average = iterates[begin + 1 : t + 1] if t > begin else iterates[t : t + 1]
        expected.append((np.mean([w for w, _ in average], axis=0), np.mean([b for _, b in average])))
    seen, result = walk(at.problem(intercept=intercept), SGD(eta=0.3, t0=4.0, averaging=averaging), 100)
    assert_same_weights(seen, expected, partial(at.primal, "hinge", intercept))
    assert_ends_at(result, seen[-1])


@pytest.mark.parametrize("sampling", ["uniform", "epochs", "cyclic", GIVEN], ids=str)
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("at", STATEMENTS, ids=lambda at: at.convention)
def test_pegasos(at, average, sampling):
    iterates, averages = pegasos(at, order(sampling, 90))
    seen, result = walk(at.problem(intercept="none"), Pegasos(average=average, sampling=sampling), 90)
    expected = [(w, 0.0) for w in (averages if average else iterates)]
    assert_same_weights(seen, expected, partial(at.primal, "hinge", "none"))
    assert_ends_at(result, seen[-1])
