"""KernelPerceptron: the textbook's loop, its mistake bound, averaging, voting, streams and budgets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_circles, make_moons

import gapless as gl
from gapless import KernelPerceptron
from gapless.errors import InvalidInputError
from gapless.kernels import RBF, Linear, Polynomial
from tests.estimators.data import iris

QUIET = "ignore::sklearn.exceptions.ConvergenceWarning"


def naive(K: np.ndarray, y: np.ndarray, epochs: int) -> list[np.ndarray]:
    """The coefficients after each sample, in order: the textbook's loop without any cleverness."""
    beta, history = np.zeros(len(y)), []
    for _ in range(epochs):
        for i in range(len(y)):
            if y[i] * sum(beta[j] * K[j, i] for j in range(len(y))) <= 0:
                beta[i] += y[i]
            history.append(beta.copy())
    return history


@pytest.mark.filterwarnings(QUIET)
@given(seed=st.integers(0, 2**32 - 1), epochs=st.integers(1, 3), fit_intercept=st.booleans())
def test_all_three_forms_are_the_textbooks_loop(seed, epochs, fit_intercept):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    y = np.where(rng.random(12) < 0.5, 1, -1)
    y[:2] = 1, -1
    kernel = RBF(gamma=0.5)
    K = kernel(X) + float(fit_intercept)
    history = naive(K, y, epochs)
    options = {"kernel": kernel, "fit_intercept": fit_intercept, "shuffle": False, "max_iter": epochs}
    plain, averaged, voted = (
        KernelPerceptron(form=form, **options).fit(X, y) for form in ("plain", "averaged", "voted")
    )
    # An epoch without mistakes ends the training: the history after it repeats the last state.
    history = history[: plain.n_iter_ * 12]
    np.testing.assert_allclose(plain.decision_function(X), K @ history[-1], atol=1e-10)
    np.testing.assert_allclose(averaged.decision_function(X), K @ np.mean(history, axis=0), atol=1e-10)
    votes = np.mean([np.sign(np.round(K @ state, 12)) for state in history], axis=0)
    np.testing.assert_allclose(voted.decision_function(X), votes, atol=1e-10)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=2), RBF(gamma=1.0)], ids=repr)
@given(seed=st.integers(0, 2**32 - 1))
def test_mistakes_are_at_most_the_square_of_radius_over_margin(kernel, seed):
    """Novikoff's bound, with the largest margin there is: that of the hard-margin machine, in the same features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    w = rng.normal(size=2)
    distance = X @ w / np.linalg.norm(w)
    X, y = X[np.abs(distance) > 0.3], np.where(distance > 0, 1, -1)[np.abs(distance) > 0.3]
    if len(np.unique(y)) < 2:
        return
    machine = gl.solve(gl.Problem(X, y, kernel=kernel, C=np.inf, intercept="none"), tol=1e-8)
    assert machine.status is gl.Status.CONVERGED
    margin = 1.0 / np.sqrt(2.0 * machine.certificate.primal)  # of a w of length one; ½‖w‖² is the primal value
    radius = np.sqrt(kernel.diag(X).max())
    model = KernelPerceptron(kernel=kernel, fit_intercept=False, max_iter=10_000, random_state=seed % 1000).fit(X, y)
    assert model.separated_ and model.score(X, y) == 1.0
    assert 1 <= model.n_mistakes_[0] <= (radius / margin) ** 2 * (1 + 1e-6)


@pytest.mark.filterwarnings(QUIET)
def test_a_stream_in_parts_is_one_epoch():
    X, y = make_moons(200, noise=0.2, random_state=0)
    for form in ("plain", "averaged", "voted"):
        options = {"form": form, "gamma": 2.0, "shuffle": False, "max_iter": 1}
        whole = KernelPerceptron(**options).fit(X, y)
        parts = KernelPerceptron(**options)
        for part in np.array_split(np.arange(200), 7):
            parts.partial_fit(X[part], y[part], classes=[0, 1])
        np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
        np.testing.assert_array_equal(parts.n_mistakes_, whole.n_mistakes_)


def test_partial_fit_refuses_unknown_labels():
    model = KernelPerceptron(kernel="linear").partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    with pytest.raises(InvalidInputError) as caught:
        model.partial_fit([[2.0]], [7])
    assert str(caught.value) == "y must hold labels of classes=[0, 1] alone."


@pytest.mark.filterwarnings(QUIET)
def test_classes_one_against_the_rest():
    X, y = iris()
    model = KernelPerceptron(form="averaged", gamma=0.5, shuffle=False, max_iter=5).fit(X, y)
    assert model.decision_function(X).shape == (150, 3) and model.dual_coef_.shape[0] == 3
    assert model.score(X, y) > 0.95
    for m in range(3):
        options = {"form": "averaged", "kernel": RBF(gamma=0.5), "shuffle": False, "max_iter": 5}
        alone = KernelPerceptron(**options).fit(X, y == m)
        if alone.n_iter_ == model.n_iter_:
            np.testing.assert_allclose(model.decision_function(X)[:, m], alone.decision_function(X), atol=1e-9)


@pytest.mark.filterwarnings(QUIET)
@pytest.mark.parametrize("form", ["plain", "averaged"])
def test_a_budget_bounds_what_is_stored(form):
    X, y = make_moons(400, noise=0.3, random_state=0)
    options = {"form": form, "gamma": 2.0, "max_iter": 5, "random_state": 0}
    model = KernelPerceptron(budget=40, **options).fit(X, y)
    assert model.support_vectors_.shape[0] == 40 < model.n_mistakes_[0]
    assert model.score(X, y) > 0.8
    for part in np.array_split(np.arange(400), 5):
        model.partial_fit(X[part], y[part])
        assert model.support_vectors_.shape[0] == 40
    unbounded = KernelPerceptron(**options).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(KernelPerceptron(budget=400, **options).fit(X, y).decision_function(X), unbounded)


@pytest.mark.filterwarnings(QUIET)
def test_where_the_stored_samples_span_all_a_budget_changes_nothing():
    X, y = make_moons(100, noise=0.3, random_state=0)
    options = {"kernel": Polynomial(degree=2), "fit_intercept": False, "max_iter": 3, "random_state": 0}
    bounded = KernelPerceptron(budget=6, **options).fit(X, y)  # six monomials in two variables
    assert bounded.support_vectors_.shape[0] == 6
    np.testing.assert_allclose(
        bounded.decision_function(X), KernelPerceptron(**options).fit(X, y).decision_function(X), atol=1e-7
    )


@pytest.mark.filterwarnings(QUIET)
def test_the_mean_is_steadier_than_the_last_iterate():
    X, y = make_moons(600, noise=0.35, random_state=0)
    score = {
        form: [
            KernelPerceptron(form=form, gamma=2.0, max_iter=2, random_state=seed)
            .fit(X[:300], y[:300])
            .score(X[300:], y[300:])
            for seed in range(8)
        ]
        for form in ("plain", "averaged", "voted")
    }
    assert np.mean(score["averaged"]) > np.mean(score["plain"]) < np.mean(score["voted"])
    assert np.std(score["averaged"]) < np.std(score["plain"])


def test_rings_are_separated_by_a_kernel_and_not_without():
    X, y = make_circles(100, noise=0.05, factor=0.4, random_state=0)
    assert KernelPerceptron(kernel=Polynomial(degree=2), random_state=0).fit(X, y).separated_
    with pytest.warns(Warning, match="still made mistakes"):
        assert KernelPerceptron(kernel="linear", random_state=0).fit(X, y).score(X, y) < 0.75
