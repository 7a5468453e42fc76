from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.solvers import SOLVERS
from gapless.solvers.choose import choose, expected_costs
from tests.sample_problems import CATALOGUE

RNG = np.random.default_rng(0)
TALL, LABELS = RNG.normal(size=(50_000, 20)), RNG.random(50_000) < 0.5
TEXT = sp.random_array((2000, 50_000), density=1e-3, format="csr", rng=RNG)


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda entry: entry.name)
def test_the_choice_covers_the_problem(entry):
    problem = entry.problem()
    assert SOLVERS[choose(problem)]().unsupported(problem) is None
    for name, cost in expected_costs(problem).items():
        assert 0 < cost < np.inf, name


@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize(("loss", "name"), [("hinge", "smoothed_newton"), ("squared_hinge", "newton")])
def test_many_dense_samples_get_a_method_of_second_order(loss, name, intercept):
    assert choose(gl.Problem(TALL, LABELS, loss=loss, C=1.0, intercept=intercept)) == name
    assert gl.solve(gl.Problem(TALL[:9000], LABELS[:9000], loss=loss, intercept=intercept), max_iter=1).solver == name


def test_few_samples_of_few_features_get_a_method_of_second_order():
    problem = gl.Problem(TALL[:600, :8], LABELS[:600], C=1.0, intercept="regularized")
    assert choose(problem, 1e-4) == "smoothed_newton"


def test_text_gets_coordinate_ascent():
    assert choose(gl.Problem(TEXT, LABELS[:2000], C=1.0, intercept="none")) == "sdca"
    assert choose(gl.Problem(TEXT, LABELS[:2000], loss="logistic", C=1.0, intercept="regularized")) == "sdca"


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_far_fewer_samples_than_features_get_coordinate_ascent_for_any_C(loss, C):
    """Newton's method in the space of the features took 1,000 steps of 70 samples with 300 of them."""
    X = np.random.default_rng(1).normal(size=(70, 300))
    problem = gl.Problem(X, X[:, 0] > 0, loss=loss, C=C, intercept="regularized")
    assert choose(problem) == "sdca"
    result = gl.solve(problem, tol=1e-4)
    assert result.status is gl.Status.CONVERGED and result.iterations < 200


def test_kernels_get_smo():
    assert choose(gl.Problem(TALL[:50], LABELS[:50], kernel=gl.kernels.RBF())) == "smo"
    assert expected_costs(gl.Problem(TALL[:50], LABELS[:50], kernel=gl.kernels.RBF())) == {}


def test_a_larger_C_or_more_digits_never_make_coordinate_ascent_look_cheaper():
    costs = [expected_costs(gl.Problem(TALL, LABELS, C=C, intercept="none"))["sdca"] for C in (1e-4, 1e-2, 1.0, 100.0)]
    assert costs == sorted(costs)
    problem = gl.Problem(TALL, LABELS, intercept="none")
    for name, cost in expected_costs(problem, 1e-2).items():
        assert cost <= expected_costs(problem, 1e-8)[name]
