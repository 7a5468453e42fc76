"""The certificate of short problems proves what the certificate of all others does."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
from gapless import short_proof
from gapless.kernels import RBF, Sigmoid
from gapless.proof.certificate import Point, evaluate


def _problem(seed: int, C: float = 2.0, kernel: object = None, **options: object) -> gl.Problem:
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(40, 3)), rng.uniform(0.5, 2.0, 40)
    return gl.Problem(
        X, X[:, 0] + rng.normal(size=40) > 0, kernel=kernel or RBF(0.5), C=C, sample_weight=weight, **options
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("spread", [0.0, 0.1, 3.0])
def test_both_ways_prove_the_same(seed, spread, monkeypatch):
    problem = _problem(seed)
    beta = spread * np.random.default_rng(seed).normal(size=40)
    assert short_proof.is_short(problem)
    primal, dual = evaluate(problem, Point(beta=beta))
    monkeypatch.setattr(short_proof, "_SHORT", 0)
    assert not short_proof.is_short(problem)
    same_primal, same_dual = evaluate(problem, Point(beta=beta))
    assert primal.value == pytest.approx(same_primal.value, rel=1e-12)
    assert dual.value == pytest.approx(same_dual.value, rel=1e-12, abs=1e-12)
    assert dual.kkt_violation == pytest.approx(same_dual.kkt_violation, rel=1e-10)
    assert (dual.box_violation, dual.sum_violation) == (same_dual.box_violation, same_dual.sum_violation)
    np.testing.assert_allclose(dual.beta, same_dual.beta, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(primal.offset_intervals, same_primal.offset_intervals, rtol=1e-10)
    assert primal.own and same_primal.own
    assert dual.value <= primal.value


def test_a_point_that_is_not_finite_proves_what_zero_does():
    problem = _problem(0)
    wild = evaluate(problem, Point(beta=np.full(40, np.nan)))
    zero = evaluate(problem, Point())
    assert wild[0].value == zero[0].value and wild[1].value == zero[1].value == 0.0


@pytest.mark.parametrize(
    "problem",
    [
        _problem(0, intercept="none"),
        _problem(0, loss="squared_hinge"),
        _problem(0, C=np.inf),
        _problem(0, kernel=Sigmoid()),
        gl.Problem([[0.0], [1.0]], [0, 1]),
    ],
)
def test_others_are_not_short(problem):
    assert not short_proof.is_short(problem)
