"""Dual points of some samples are dual points of all."""

from __future__ import annotations

import numpy as np
import pytest

import gapless as gl
import gapless.estimators.dual_bound as module
from gapless.estimators.dual_bound import dual_bound, sub_problem
from gapless.kernels import RBF
from gapless.proof.certificate import Point, evaluate
from tests.estimators.data import large


def problem(**options):
    X, y = large()
    return gl.Problem(X, y, kernel=RBF(gamma=0.02), C=2.0, **options)


@pytest.mark.parametrize("poor", [False, True], ids=["own", "few"])
def test_the_value_is_that_of_the_point_in_the_whole_problem(poor, monkeypatch):
    monkeypatch.setattr(module, "_FEW", 100)
    exact = problem()
    beta = gl.solve(exact, tol=1e-2).beta.copy()
    if poor:
        beta[10:] = 0.0
    point = dual_bound(exact, beta)
    assert evaluate(exact, Point(beta=point.beta))[1].value == pytest.approx(point.value, rel=1e-12)
    assert (10 < np.count_nonzero(point.beta) <= 100) == poor
    assert 0 < point.value <= gl.solve(exact, tol=1e-6).certificate.primal


def test_weights_of_zero_are_left_out():
    X, _ = large()
    weight = np.where(np.arange(len(X)) % 2, 1.0, 0.0)
    exact = problem(sample_weight=weight)
    assert not dual_bound(exact, np.zeros(len(X))).beta[weight == 0].any()


def test_samples_of_one_class_prove_nothing():
    exact = problem()
    assert sub_problem(exact, np.flatnonzero(exact.y > 0)) is None
    assert sub_problem(exact, np.array([], dtype=int)) is None
    X = np.arange(20.0)[:, None]
    rare = gl.Problem(X, [1] + [0] * 19, kernel=RBF(gamma=0.1), C=1.0)
    assert dual_bound(rare, np.zeros(20)).value == 0.0
