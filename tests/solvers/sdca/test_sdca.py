from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import gapless as gl
from gapless import _native
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.solvers import SDCA
from gapless.solvers.base import Budget, Outcome, Targets
from gapless.solvers.newton.proximal_newton import ProximalNewton
from tests.sample_problems import CATALOGUE, classes, line
from tests.solvers.driving import assert_rises, drive, run, visits

BOXES = [
    entry
    for entry in CATALOGUE.values()
    if entry.easy and entry.problem().is_linear and entry.problem().intercept != "free" and not entry.problem().is_hard
]


@pytest.mark.parametrize("sampling", ["epochs", "uniform", "cyclic", [7, 1, 10]])
@pytest.mark.parametrize("entry", BOXES, ids=lambda entry: entry.name)
def test_the_dual_rises_at_every_step(entry, sampling):
    reference = entry.reference()
    assert_rises([reference.dual(state.beta) for state in drive(SDCA(sampling=sampling), entry.problem(), 100)])


@pytest.mark.parametrize("intercept", ["regularized", "none"])
def test_the_step_of_the_textbook(intercept):
    """δ = (1 − yᵢ⟨w,xᵢ⟩)/‖xᵢ‖², ᾱ = clip(αᵢ + δ, 0, C), w += (ᾱ − αᵢ) yᵢ xᵢ on x̃ = (x, s)."""
    rng = np.random.default_rng(0)
    X, y, C, s = rng.normal(size=(12, 3)), np.where(np.arange(12) % 2 == 0, 1.0, -1.0), 0.3, 2.0
    augmented = np.hstack([X, np.full((12, 1), s if intercept == "regularized" else 0.0)])
    alpha, w = np.zeros(12), np.zeros(4)
    problem = gl.Problem(X, y, C=C, intercept=intercept, intercept_scale=s)
    states = drive(SDCA(shrinking=False), problem, 40, seed=5)
    next(states)
    for i, state in zip(visits(12, "epochs", 40, seed=5), states, strict=True):
        x = augmented[i]
        new = min(max(alpha[i] + (1 - y[i] * w @ x) / (x @ x), 0.0), C)
        w += (new - alpha[i]) * y[i] * x
        alpha[i] = new
        np.testing.assert_allclose(state.beta, y * alpha, atol=1e-13)
        np.testing.assert_allclose(state.w, w[:3], atol=1e-13)
        np.testing.assert_allclose(state.b, s * w[3], atol=1e-13)


@pytest.mark.parametrize("name", ["hinge_none_C_mean", "hinge_free_C", "squared_hinge_free_lam_sum"])
def test_every_order_reaches_the_optimum(name):
    """A free intercept's multiplier moves after each pass, whatever the order."""
    problem = CATALOGUE[name].problem()
    backwards = list(range(problem.n_samples))[::-1]
    results = [gl.solve(problem, SDCA(sampling=sampling)) for sampling in ("epochs", "uniform", "cyclic", backwards)]
    assert all(result.status is gl.Status.CONVERGED for result in results)
    for result in results:
        assert result.certificate.primal == pytest.approx(results[0].certificate.primal, rel=2e-6)


def test_an_order_without_chance_is_the_textbooks_method():
    """Nothing is left out, nothing is halved, and no second-order step follows, whatever the options say."""
    X, y = sparse_rows(300, 40)
    problem = gl.Problem(X, y, C=30.0, intercept="none")
    for sampling in ("cyclic", list(range(0, 300, 2))):
        state = run(SDCA(sampling=sampling), problem, 30, targets=Targets(1e-9))
        assert state.newton is None and state.epochs.active.size == 300 and not state.judges


def test_options_and_problems_that_it_refuses():
    with pytest.raises(InvalidInputError) as caught:
        SDCA(sampling="shuffled")
    assert str(caught.value) == (
        "sampling must be one of epochs, uniform, cyclic, or indices of samples; got 'shuffled'."
    )
    X, y = np.eye(2), [0, 1]
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(X, y, C=np.inf), "sdca")
    assert str(caught.value) == (
        "sdca finds a free intercept as a multiplier, which may grow without bound under a hard margin; "
        "use solver='smo' or 'qp', or intercept='regularized' or 'none'."
    )
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.nu.one_class(X), "sdca")
    assert str(caught.value) == (
        "sdca has one offset, which costs nothing, but a ν-form has offsets with a price; use solver='smo' or 'qp'."
    )
    with pytest.raises(UnsupportedError) as caught:
        gl.solve(gl.Problem(X, y, kernel=gl.kernels.RBF(), intercept="none"), "sdca")
    assert str(caught.value) == (
        "sdca keeps w as a vector, which a kernel does not have; use solver='smo' or 'coordinate_ascent', or map the features."
    )


def sparse_rows(n: int, d: int, seed: int = 0, noise: float = 0.5) -> tuple[sp.csr_array, np.ndarray]:
    """Rows of few ones, with a label that a linear rule mostly tells."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.1, format="csr", rng=rng)
    return X, X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0


def epochs(problem: gl.Problem, solver: SDCA, count: int):
    """An engine after so many epochs, with nothing aimed at."""
    return run(solver, problem, count)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("n", [300, 9000])
def test_shrinking_leaves_out_rows_and_ends_at_the_optimum_of_all(loss, n):
    """9000 rows are visited in buckets, 300 one by one."""
    X, y = sparse_rows(n, 40)
    y = y if loss != "epsilon_insensitive" else np.where(y, 1.0, -0.5)
    problem = gl.Problem(X, y, loss=loss, C=0.1, intercept="none")
    fewest = [
        min(epochs(problem, SDCA(shrinking=on), k).epochs.active.size for k in range(1, 15)) for on in (True, False)
    ]
    assert fewest[0] < 0.95 * n and fewest[1] == n
    results = [gl.solve(problem, SDCA(shrinking=on, second_order=False), tol=1e-8) for on in (True, False)]
    for result in results:
        assert result.status is gl.Status.CONVERGED
    a, b = (result.certificate for result in results)
    assert abs(a.primal - b.primal) <= a.gap + b.gap + 1e-12 * a.primal


def test_a_start_at_the_wrong_bounds_is_no_obstacle():
    """From the optimum of another C almost every row is at a bound, and at the wrong one."""
    X, y = sparse_rows(400, 30)
    small, large = (gl.Problem(X, y, C=C, intercept="none") for C in (1e-4, 3.0))
    start = gl.solve(small, "sdca", tol=1e-8)
    result = gl.solve(large, SDCA(second_order=False), tol=1e-8, start=start)
    assert result.status is gl.Status.CONVERGED


def test_rows_that_were_left_out_wrongly_come_back():
    """Of a few rows each epoch is wrong about some: their β at the end is another than when they were left out."""
    wrong = 0
    for seed in range(4):
        X, y = sparse_rows(200, 100, seed)
        problem = gl.Problem(X, y, C=3.0, intercept="none")
        engine = SDCA(second_order=False).init(problem, None, np.random.default_rng(0))
        seen, outcome = [], Outcome.RUNNING
        while outcome is Outcome.RUNNING and len(seen) < 3000:
            outcome = engine.step(Budget(iterations=1.0), Targets(gap=1e-8)).outcome
            out = np.setdiff1d(np.arange(200), engine.epochs.active)
            seen.append((out, engine.beta[out]))
        assert outcome is Outcome.READY
        assert gl.certify(problem, engine.point()).relative_gap <= 1e-7
        wrong += max(np.count_nonzero(engine.beta[out] != then) for out, then in seen)
    assert wrong > 0


@pytest.mark.parametrize(
    "loss", ["hinge", "squared_hinge", "smoothed_hinge", "logistic", "squared_epsilon_insensitive"]
)
@pytest.mark.parametrize("second_order", [True, False])
def test_a_free_intercept_is_the_one_of_smo(loss, second_order):
    X, y = line(n=80) if loss == "squared_epsilon_insensitive" else classes(n=80)
    problem = gl.Problem(X + 1.5, y, loss=loss, C=0.5)
    ours, pairs = gl.solve(problem, SDCA(second_order=second_order), tol=1e-7), gl.solve(problem, "smo", tol=1e-7)
    assert ours.status is pairs.status is gl.Status.CONVERGED
    a, b = ours.certificate, pairs.certificate
    assert abs(a.primal - b.primal) <= a.gap + b.gap + 1e-12 * a.primal
    assert abs(ours.certified.beta.sum()) <= 1e-9 * np.abs(ours.beta).sum()


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive"])
def test_a_large_C_ends_by_newton_steps(loss, intercept):
    X, y = sparse_rows(600, 20, noise=1.0)
    y = y if loss != "epsilon_insensitive" else X @ np.arange(20.0) + np.where(y, 0.5, -0.5)
    problem = gl.Problem(X, y, loss=loss, C=1e4, intercept=intercept)
    result = gl.solve(problem, "sdca", tol=1e-7)
    assert result.status is gl.Status.CONVERGED
    assert gl.certify(problem, result).relative_gap <= 1e-7


def newton_alone(problem: gl.Problem) -> gl.Certificate:
    """What Newton steps from zero prove."""
    newton = ProximalNewton(problem, problem.rows, np.zeros(problem.n_samples), np.zeros(problem.n_features), 0.0)
    newton.step(1e-9)
    while not newton.stuck and newton.gap > 1e-9 * newton.primal:
        newton.step(1e-9)
    return gl.certify(problem, gl.Point(beta=newton.beta, w=newton.w, b=newton.b))


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.integers(1, 8),
    st.floats(-3, 4),
    st.sampled_from(["hinge", "squared_hinge", "smoothed_hinge"]),
    st.sampled_from(["none", "regularized", "free"]),
)
def test_newton_steps_alone_solve_small_problems(seed, n, d, exponent, loss, intercept):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.arange(n) % 2
    problem = gl.Problem(X, y, loss=loss, C=10.0**exponent, intercept=intercept)
    assert newton_alone(problem).relative_gap <= 1e-6


def test_conjugate_gradients_take_the_same_steps(monkeypatch):
    X, y = sparse_rows(200, 30)
    results = []
    for most in (1500, 5):
        monkeypatch.setattr("gapless.solvers.newton.descent.DENSE_COLUMNS", most)
        problem = gl.Problem(X, y, C=10.0)
        results.append(newton_alone(problem))
    a, b = results
    assert max(a.relative_gap, b.relative_gap) <= 1e-6
    assert abs(a.primal - b.primal) <= a.gap + b.gap


@pytest.mark.parametrize("values", ["ones", "single", "double"])
def test_compact_rows_change_nothing(values):
    X, y = sparse_rows(200, 30)
    X.data[:] = {"ones": np.ones_like, "single": lambda v: np.round(8 * v) / 8, "double": np.array}[values](X.data)
    result = gl.solve(gl.Problem(X, y, C=1.0, intercept="none"), "sdca", tol=1e-8)
    dense = gl.solve(gl.Problem(X.toarray(), y, C=1.0, intercept="none"), "sdca", tol=1e-8)
    assert result.status is dense.status is gl.Status.CONVERGED
    assert result.certificate.primal == pytest.approx(dense.certificate.primal, rel=2e-8)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive"])
def test_two_threads_raise_the_dual_and_give_what_one_gives(monkeypatch, loss, intercept):
    """The halves are always the same two: run one after the other, or at once, they give the same bits."""
    monkeypatch.setattr("gapless.solvers.sdca.solver.LEAST_ENTRIES", 0.0)
    X, y = sparse_rows(3000, 40)
    y = y if loss != "epsilon_insensitive" else np.where(y, 1.0, -0.5)
    problem = gl.Problem(X, y, loss=loss, C=0.3, intercept=intercept)
    solver = SDCA(second_order=False)

    at_once = epochs(problem, solver, 6)
    result = gl.solve(problem, solver, tol=1e-6)
    assert result.status is gl.Status.CONVERGED
    _native.limit_threads(1)
    try:
        in_turn = epochs(problem, solver, 6)
    finally:
        _native.limit_threads(0)
    assert np.array_equal(at_once.beta, in_turn.beta) and np.array_equal(at_once.w, in_turn.w)
    np.testing.assert_allclose(at_once.w, problem.weights(at_once.beta), atol=1e-10)
    if intercept != "free":  # whose multiplier moves between epochs
        values = [gl.certify(problem, gl.Point(beta=epochs(problem, solver, k).beta)).dual for k in range(1, 7)]
        assert_rises([0.0, *values])
        assert at_once.epochs.dual_value <= values[-1] * (1 + 1e-9)
