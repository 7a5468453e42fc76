"""The interior point behind the passes of Crammer and Singer's machine."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.problems.crammer_singer import CrammerSingerProblem
from gapless.solvers import CrammerSingerDual
from gapless.solvers.base import Budget, Outcome, Targets
from gapless.solvers.crammer_singer.barrier import CrammerSingerBarrier, expected_work

SCALES = np.logspace(-3, 4, 8)


def heavy_tails(n, k, seed=0):
    """Features whose scales are seven orders of magnitude apart, with tails so heavy that they have no variance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.5, size=(n, 8)) * SCALES
    scores = (X / SCALES) @ rng.standard_normal((8, k)) + rng.standard_normal((n, k))
    return X, scores.argmax(axis=1)


def driven(problem, gap):
    """The barrier's engine at its end, with the steps that it took."""
    engine, steps, outcome = CrammerSingerBarrier(problem), 0.0, Outcome.RUNNING
    while outcome is Outcome.RUNNING:
        advance = engine.step(Budget(), Targets(gap))
        steps, outcome = steps + advance.iterations, advance.outcome
    return engine, outcome, steps


@pytest.mark.parametrize(("n", "k"), [(500, 3), (2500, 3), (6000, 5)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_unscaled_heavy_tails_end_within_tol(n, k, C):
    X, y = heavy_tails(n, k)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = gl.LinearSVC(multi_class="crammer_singer", C=C).fit(X, y)
    assert model.certificate_.relative_gap <= model.tol
    assert model.score(X, y) > 1.5 / k


def test_passes_alone_do_not_get_there():
    X, y = heavy_tails(500, 3)
    result = gl.solve(CrammerSingerProblem(X, y), CrammerSingerDual(second_order=False), tol=1e-4, max_iter=1000)
    assert result.certificate.relative_gap > 0.1


@pytest.mark.parametrize("intercept", ["regularized", "none"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_it_finds_the_optimum_of_the_passes(C, storage, intercept):
    rng = np.random.default_rng(1)
    y = np.arange(90) % 4
    X = rng.normal(size=(90, 3)) + 1.5 * rng.normal(size=(4, 3))[y]
    X[:2] = 0.0
    weight = (np.arange(90) % 3).astype(float)
    problem = CrammerSingerProblem(
        storage(X), y, 5, C=C, intercept=intercept, intercept_scale=2.0, sample_weight=weight
    )
    engine, outcome, steps = driven(problem, 1e-8)
    assert outcome is Outcome.READY and steps < 60
    certificate = gl.certify(problem, engine.point())
    assert certificate.relative_gap <= 1e-8
    passes = gl.solve(problem, CrammerSingerDual(second_order=False), tol=1e-6, max_iter=100_000).certificate
    assert passes.dual <= certificate.primal * (1 + 1e-12) and certificate.dual <= passes.primal * (1 + 1e-12)
    assert not engine.point().beta[weight == 0].any()


def test_rounding_ends_it():
    X, y = heavy_tails(300, 3)
    problem = CrammerSingerProblem(X, y, C=100.0)
    result = gl.solve(problem, tol=1e-11)
    assert result.status in (gl.Status.STALLED, gl.Status.ROUNDING)
    assert result.certificate.relative_gap <= 1e-4


def test_large_systems_are_left_to_the_passes():
    wide = CrammerSingerProblem(np.eye(30, 400), np.arange(30) % 3)
    assert expected_work(wide) is None
    assert gl.solve(wide, tol=1e-6).status is gl.Status.CONVERGED


def test_a_budget_of_one_step_is_kept():
    engine = CrammerSingerBarrier(CrammerSingerProblem(*heavy_tails(100, 3)))
    assert engine.step(Budget(work=1.0), Targets(1e-6)).iterations == 1
    assert engine.step(Budget(iterations=2.0), Targets(1e-6)).iterations <= 2
