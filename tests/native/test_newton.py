"""The compiled parts of Newton's methods against the same in plain NumPy, at every instruction set."""

from __future__ import annotations

import numpy as np
import pytest

from gapless import _native
from gapless.data.rows import as_rows
from gapless.losses import DualBox
from gapless.solvers.newton.weighted_gram import Samples, stays_sparse, weighted_gram
from tests.native.storages import STORAGES, stored


@pytest.fixture(params=_native.isa_levels(), autouse=True)
def level(request):
    """Each instruction set that the machine has."""
    before = _native.isa()
    _native.use_isa(request.param)
    yield request.param
    _native.use_isa(before)


def with_ones(X: np.ndarray, ones: bool) -> np.ndarray:
    return np.hstack([X, np.ones((len(X), 1))]) if ones else X


def box_of(n: int, rng: np.random.Generator, bend: float = 0.0, epsilon: float = 0.1) -> DualBox:
    """Boxes to both sides of zero, to one side, and empty ones."""
    upper, lower = rng.random(n), -rng.random(n)
    upper[::5], lower[1::5] = 0.0, 0.0
    upper[7::50] = lower[7::50] = 0.0
    return DualBox(rng.normal(size=n), np.full(n, epsilon), np.full(n, bend), lower, upper)


# --- weighted Gram matrices


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize(("n", "d"), [(3, 1), (300, 17), (40_000, 9), (900, 130)])  # the longer ones are cut in pieces
def test_a_weighted_gram_matrix(storage, ones, n, d):
    rng = np.random.default_rng(n)
    rows, X = stored(storage, n, d)
    A, weight = with_ones(X, ones), rng.normal(size=n)
    samples = Samples.of(rows, d, ones)
    np.testing.assert_allclose(
        weighted_gram(samples, weight), A.T @ (weight[:, None] * A), rtol=1e-11, atol=1e-11 * np.sqrt(n)
    )
    chosen = np.flatnonzero(rng.random(n) < 0.6)
    for sparse in (False, True):
        found = weighted_gram(samples._replace(sparse=sparse), weight[chosen], chosen)
        expected = A[chosen].T @ (weight[chosen, None] * A[chosen])
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.sqrt(n))
        np.testing.assert_array_equal(found, found.T)


def test_sums_of_float32_rows_may_be_float32():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(5000, 21)).astype(np.float32), rng.random(5000)
    found = weighted_gram(Samples.of(as_rows(X), 21, True), weight, single=True)
    A = with_ones(X.astype(np.float64), True)
    expected = A.T @ (weight[:, None] * A)
    assert 0 < np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()


def test_only_rows_with_few_entries_stay_sparse():
    few = stored("csr float64", 50, 100)[0]
    assert stays_sparse(few, 1000)
    assert not stays_sparse(few, 10)
    assert not stays_sparse(as_rows(np.ones((5, 100))), 100_000)


# --- rows, and systems


@pytest.mark.parametrize("storage", STORAGES)
def test_rows_are_gathered_and_weighed(storage):
    rows, X = stored(storage, 60, 11)
    chosen = np.array([5, 0, 59, 5])
    for columns in (11, 12):
        out = np.empty((4, columns))
        _native.gather_rows(rows, 11, chosen, out)
        np.testing.assert_array_equal(out, with_ones(X, columns == 12)[chosen])
    for step in (1, 7):
        found, sums = np.empty(60), step * (X[::step] ** 2).sum(axis=0)
        _native.leverage(rows, 11, step, found)
        seen = sums > 0
        expected = (X[:, seen] ** 2 / sums[seen]).sum(axis=1)
        expected[(X[:, ~seen] != 0).any(axis=1)] = 1.0
        np.testing.assert_allclose(found, np.minimum(expected, 1.0), rtol=1e-12)


def test_a_factored_system_and_a_singular_one():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(30, 6)) * 10.0 ** np.arange(6)
    H, rho, r = A.T @ A, np.arange(6.0), rng.normal(size=6)
    np.testing.assert_allclose(_native.Factored(H, rho).solve(r), np.linalg.solve(H + np.diag(rho), r), rtol=1e-9)
    once = np.outer(np.ones(3), np.ones(3))
    x = _native.Factored(once, np.zeros(3)).solve(np.ones(3))
    np.testing.assert_allclose(once @ x, 1.0, rtol=1e-6)
    assert np.isnan(_native.Factored(-np.eye(2), np.zeros(2)).solve(np.ones(2))).all()


# --- the piecewise quadratic objective


def smooth_of(box: DualBox, width: float, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(p, d) of the rounded loss."""
    reach = np.maximum(box.upper, -box.lower)
    r = np.zeros_like(reach) if width == 0 else np.where(reach > 0, width / np.where(reach > 0, reach, 1.0), 1.0)
    return box.p + r * centre, box.d + r


def answer(box: DualBox, p: np.ndarray, d: np.ndarray, f: np.ndarray) -> np.ndarray:
    e = p - f
    soft = np.sign(e) * np.maximum(np.abs(e) - box.epsilon, 0.0)
    return np.clip(soft / d, box.lower, box.upper)


def term(box: DualBox, p: np.ndarray, d: np.ndarray, f: np.ndarray, beta: np.ndarray) -> np.ndarray:
    return beta * (p - f) - box.epsilon * np.abs(beta) - 0.5 * d * beta**2


def best_term(box: DualBox, f: np.ndarray) -> np.ndarray:
    """φ(f), as the largest of the terms at all corners of the box and, where d > 0, at the best β inside."""
    corners = [box.lower, box.upper, np.zeros_like(f)]
    if box.d.all():
        corners.append(answer(box, box.p, box.d, f))
    return np.max([term(box, box.p, box.d, f, beta) for beta in corners], axis=0)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n", [40, 30_000])  # the longer is cut in pieces
@pytest.mark.parametrize(("bend", "width"), [(0.0, 0.5), (0.7, 0.0), (0.7, 0.5)])
def test_the_objective_at_a_model(storage, n, bend, width):
    rng = np.random.default_rng(3)
    rows, X = stored(storage, n, 6)
    A, box, rho = with_ones(X, True), box_of(n, rng, bend), np.append(np.ones(6), 0.0)
    w, centre = rng.normal(size=7), rng.uniform(box.lower, box.upper)
    q = _native.Piecewise(*Samples.of(rows, 6, True), box, rho, w, width, centre)
    f, (p, d) = A @ w, smooth_of(box, width, centre)
    beta = answer(box, p, d, f)
    np.testing.assert_allclose(q.f, f, atol=1e-12)
    np.testing.assert_allclose(q.beta, beta, atol=1e-11)
    np.testing.assert_allclose(q.slope, rho * w - A.T @ beta, atol=1e-11 * n)
    phi = best_term(box, f)
    assert q.value == pytest.approx(0.5 * rho @ w**2 + phi.sum(), rel=1e-11)
    assert q.lacking == pytest.approx((phi - term(box, box.p, box.d, f, beta)).sum(), rel=1e-9, abs=1e-12)
    assert q.moved == pytest.approx(0.5 * ((d - box.d) * (beta - centre) ** 2).sum(), rel=1e-9, abs=1e-12)
    assert q.residual == pytest.approx(0.5 * (q.slope[:6] ** 2).sum(), rel=1e-12)
    assert q.free_slope == q.slope[6]
    inside = (beta != 0) & (box.lower < beta) & (beta < box.upper)
    assert q.inside_count == inside.sum()
    H = A[inside].T @ (A[inside] / d[inside, None])
    np.testing.assert_allclose(q.hessian().reshape(7, 7), H, rtol=1e-10, atol=1e-10 * np.abs(H).max())


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("scale", [1.0, 0.05, 30.0])  # t = 1 does, is too short, or is too far
def test_a_step_ends_where_the_slope_is_almost_zero(storage, scale):
    rng = np.random.default_rng(4)
    rows, _ = stored(storage, 500, 6)
    box, rho = box_of(500, rng, 0.7), np.ones(7)
    w = rng.normal(size=7)
    samples = Samples.of(rows, 6, True)
    q = _native.Piecewise(*samples, box, rho, w, 0.0, None)
    for _ in range(4):
        before, dw = q.w.copy(), scale * q.newton()
        first = q.falls(dw)
        assert first == pytest.approx(-q.slope @ dw)
        t = q.step(dw)
        np.testing.assert_allclose(q.w, before + t * dw, rtol=1e-13)
        assert abs(q.slope @ dw) <= 0.0101 * first
        fresh = _native.Piecewise(*samples, box, rho, q.w.copy(), 0.0, None)
        for name in ("f", "beta", "slope"):
            np.testing.assert_allclose(getattr(q, name), getattr(fresh, name), atol=1e-10)
        assert q.value == pytest.approx(fresh.value, rel=1e-12)
        np.testing.assert_allclose(q.hessian(), fresh.hessian(), atol=1e-9)
    assert q.step(np.zeros(7)) == 0.0 and q.step(q.slope.copy()) == 0.0


@pytest.mark.parametrize("storage", STORAGES)
def test_a_descent_is_a_step_along_newtons_direction(storage):
    rng = np.random.default_rng(6)
    rows, _ = stored(storage, 200, 5)
    box, rho, w = box_of(200, rng, 0.3), np.ones(6), rng.normal(size=6)
    q, twin = (_native.Piecewise(*Samples.of(rows, 5, True), box, rho, w, 0.0, None) for _ in range(2))
    for _ in range(3):
        dw = twin.newton()
        decrement = twin.falls(dw)
        assert q.descend() == (decrement, twin.step(dw))
        np.testing.assert_array_equal(q.w, twin.w)
        np.testing.assert_array_equal(q.beta, twin.beta)


@pytest.mark.parametrize("storage", STORAGES)
def test_conjugate_gradients_solve_the_same_system(storage):
    rng = np.random.default_rng(5)
    rows, _ = stored(storage, 300, 8)
    box, rho = box_of(300, rng, 0.7), np.append(np.ones(8), 0.2)
    q = _native.Piecewise(*Samples.of(rows, 8, True), box, rho, 0.01 * rng.normal(size=9), 0.0, None)
    for _ in range(3):
        q.step(q.newton())
    q.step(1e-3 * q.w)  # a small slope asks for many digits
    dw, multiplied = q.conjugate()
    H = q.hessian().reshape(9, 9) + np.diag(rho)
    residual, metric = H @ dw + q.slope, 1.0 / np.diag(H)
    start = q.slope @ (metric * q.slope)
    assert residual @ (metric * residual) <= max(1e-25, start * min(0.01, np.sqrt(start / q.value))) * 1.01
    assert multiplied % q.inside_count == 0 and multiplied > 0


def test_a_free_intercept_that_nothing_holds_has_a_direction():
    box = DualBox(np.full(4, 5.0), np.zeros(4), np.zeros(4), np.zeros(4), np.ones(4))
    q = _native.Piecewise(
        *Samples.of(as_rows(np.ones((4, 1))), 1, True), box, np.array([1.0, 0.0]), np.zeros(2), 0.1, None
    )
    assert q.inside_count == 0
    for dw in (q.newton(), q.conjugate()[0]):
        assert np.isfinite(dw).all() and q.falls(dw) > 0


@pytest.mark.parametrize("storage", STORAGES)
def test_the_number_of_threads_changes_nothing(storage):
    rng = np.random.default_rng(6)
    rows, _ = stored(storage, 30_000, 12)
    box, rho = box_of(30_000, rng, 0.7), np.ones(13)
    found = []
    for threads in (1, 2):
        _native.limit_threads(threads)
        q = _native.Piecewise(*Samples.of(rows, 12, True), box, rho, np.zeros(13), 0.0, None)
        q.step(q.newton())
        found.append((q.w.copy(), q.slope.copy(), q.hessian(), q.value))
    _native.limit_threads(0)
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_step_along_a_level_objective_ends_near_its_kinks():
    """Where no sample is near a kink, Q′ is level along b but for rounding in w: a step went to b = 1e15, where decisions have no digits left."""
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(30, 3)), 30
    y = np.where(np.arange(n) < 14, 1.0, -1.0)
    box = DualBox(y, np.zeros(n), np.zeros(n), np.minimum(y, 0.0), np.maximum(y, 0.0))
    rho, w = np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 0.1])
    made = _native.Piecewise(as_rows(X), 3, True, False, box, rho, w, 0.1, np.zeros(n))
    assert made.inside_count == 0
    before = made.value
    for tiny in (0.0, 1e-18, 1e-12):
        dw = np.array([tiny, 0.0, 0.0, -0.05])
        assert made.falls(dw) > 0
        assert 0 < made.step(dw) < 1e3 and made.value <= before
        np.testing.assert_allclose(made.f, with_ones(X, True) @ made.w, atol=1e-12)
        made = _native.Piecewise(as_rows(X), 3, True, False, box, rho, w, 0.1, np.zeros(n))


# --- arrays of one call


def calls(n: int = 12, d: int = 3):
    """Calls of the core with arrays of n samples and d columns, by name: each takes a size of some arrays, and is right at its own."""
    rng = np.random.default_rng(0)
    rows, box, v = as_rows(rng.normal(size=(n, d))), box_of(n, rng), np.ones
    made = _native.Piecewise(rows, d, False, False, box, v(d), v(d), 0.0, None)
    return {
        "rows of a model": (n, lambda k: _native.Piecewise(as_rows(v((k, d))), d, False, False, box, v(d), v(d), 0.0, None)),
        "columns of a model": (d, lambda k: _native.Piecewise(as_rows(v((n, k))), d, False, False, box, v(d), v(d), 0.0, None)),
        "ρ": (d, lambda k: _native.Piecewise(rows, d, False, False, box, v(k), v(d), 0.0, None)),
        "ρ with an intercept": (d + 1, lambda k: _native.Piecewise(rows, d, True, False, box, v(k), v(d + 1), 0.0, None)),
        "w": (d, lambda k: _native.Piecewise(rows, d, False, False, box, v(d), v(k), 0.0, None)),
        "centre": (n, lambda k: _native.Piecewise(rows, d, False, False, box, v(d), v(d), 0.1, v(k))),
        "centre of a round": (n, lambda k: made.round(0.1, v(k))),
        "step": (d, lambda k: made.step(v(k))),
        "falls": (d, lambda k: made.falls(v(k))),
        "rows of H": (d, lambda k: _native.Factored(v((k, d)), v(d))),
        "columns of H": (d, lambda k: _native.Factored(v((d, k)), v(d))),
        "right-hand side": (d, lambda k: _native.Factored(np.eye(d), v(d)).solve(v(k))),
        "weights": (n, lambda k: _native.weighted_gram(rows, d, None, v(k), False, False, False, np.empty((d, d)))),
        "weights of chosen rows": (2, lambda k: _native.weighted_gram(rows, d, np.array([0, n - 1]), v(k), False, False, False, np.empty((d, d)))),
        "chosen rows": (n, lambda k: _native.weighted_gram(rows, d, np.array([k - 1]), v(1), False, False, False, np.empty((d, d)))),
        "out of a Gram matrix": (d + 1, lambda k: _native.weighted_gram(rows, d, None, v(n), True, False, False, np.empty((k, k)))),
        "bounds": (n, lambda k: _native.any_bounded(v(k), v(n), v(n))),
        "places to gather": (n, lambda k: _native.gather_rows(rows, d, np.array([k - 1]), np.empty((1, d)))),
        "rows to gather": (2, lambda k: _native.gather_rows(rows, d, np.array([0, 1]), np.empty((k, d)))),
        "leverage": (n, lambda k: _native.leverage(rows, d, 1, v(k))),
    }  # fmt: skip


@pytest.mark.parametrize("which", calls())
def test_arrays_of_one_call_fit_together(which):
    """X may get another shape after a problem was stated: nothing is read or written outside of an array then."""
    size, call = calls()[which]
    call(size)
    too_long_is_wrong = which not in ("chosen rows", "places to gather")
    for wrong in (size + 1, size - 1) if too_long_is_wrong else (size + 1, 0):
        with pytest.raises(ValueError, match=r"there must be|there is no sample"):
            call(wrong)


def test_a_matrix_to_write_to_is_of_rows_that_follow_each_other():
    rows = as_rows(np.ones((4, 3)))
    with pytest.raises(ValueError, match="must follow each other"):
        _native.gather_rows(rows, 3, np.array([0, 1]), np.empty((2, 6))[:, ::2])
