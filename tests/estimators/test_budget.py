"""Bounds, interruption, warm starts, threads: whatever stops a fit leaves a fitted model with its proof."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import gapless as gl
from gapless.errors import Interrupted
from gapless.estimators import one_vs_one
from gapless.result import Status
from tests.estimators.data import cancer, diabetes, iris, large


class Interrupt:
    """A callback that presses Ctrl-C at its nth call."""

    def __init__(self, at):
        self.left = at

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("bound", [1, 2, 7])
def test_max_iter_is_exact(bound):
    X, y = cancer()
    with pytest.warns(ConvergenceWarning, match=rf"Solver terminated early \(max_iter={bound}\)\."):
        model = gl.SVC(max_iter=bound, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(model.n_iter_, [bound])
    assert model.fit_status_ == 1 and model.certificate_.relative_gap > 1e-8
    with pytest.warns(ConvergenceWarning, match="Liblinear failed to converge, increase the number of iterations."):
        assert gl.LinearSVC(max_iter=bound, tol=1e-12, solver="sdca").fit(X, y).n_iter_ == bound


def test_max_time():
    X, y = large()
    with pytest.warns(ConvergenceWarning, match="Stopped at max_time before tol was reached"):
        model = gl.SVC(C=100.0, tol=1e-9, max_time=1e-6).fit(X, y)
    assert model._solved[0].status is Status.MAX_TIME
    assert 0 < model.certificate_.relative_gap < np.inf and set(model.predict(X)) <= {"yes", "no"}


@pytest.mark.parametrize(
    "cls, data", [(gl.SVC, cancer), (gl.NuSVC, iris), (gl.SVR, diabetes), (gl.OneClassSVM, cancer)]
)
def test_warm_start_goes_on_after_max_iter(cls, data):
    X, y = data()
    cold = cls(tol=1e-6).fit(X, y)
    model = cls(tol=1e-6, warm_start=True, max_iter=int(np.max(cold.n_iter_)) // 10)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    first = model.certificate_.relative_gap
    model.set_params(max_iter=-1).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6 < first
    assert np.max(model.n_iter_) < np.max(cold.n_iter_)
    predict = "decision_function" if hasattr(model, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(model, predict)(X), getattr(cold, predict)(X), atol=1e-3)


@pytest.mark.parametrize(
    "estimator", [gl.SVC(), gl.SVC(kernel="linear"), gl.LinearSVC(), gl.LinearSVC(penalty="l1")], ids=str
)
def test_warm_start_with_a_new_C(estimator):
    X, y = cancer()
    estimator.set_params(tol=1e-6, max_iter=100_000, C=0.5, warm_start=True).fit(X, y)
    estimator.set_params(C=0.55).fit(X, y)
    cold = type(estimator)(**{**estimator.get_params(), "warm_start": False}).fit(X, y)
    assert estimator.trace_.relative_gap[0] < cold.trace_.relative_gap[0]
    np.testing.assert_allclose(estimator.decision_function(X), cold.decision_function(X), atol=2e-2)


def test_warm_start_survives_new_data():
    X, y = cancer()
    model = gl.SVC(warm_start=True).fit(X, y)
    np.testing.assert_array_equal(model.fit(X[:90], y[:90]).predict(X), gl.SVC().fit(X[:90], y[:90]).predict(X))
    model = gl.SVC(kernel="linear", warm_start=True).fit(X, y).set_params(kernel="rbf").fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3
    model = gl.LinearSVC(warm_start=True).fit(X, y)
    assert model.fit(X[:, :5], y).coef_.shape == (1, 5)


def test_a_callback_sees_progress_and_stops():
    X, y = cancer()
    seen = []
    model = gl.SVC(tol=1e-10, callback=lambda progress: seen.append(progress) or len(seen) == 3)
    with pytest.warns(
        ConvergenceWarning, match="Stopped by the callback.*Another fit with warm_start=True goes on from here."
    ):
        model.fit(X, y)
    assert len(seen) == 3 and seen[-1].certificate.relative_gap <= seen[0].certificate.relative_gap
    assert model._solved[0].status is Status.CALLBACK and model.fit_status_ == 1


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize("cls", [gl.SVC, gl.NuSVC, gl.LinearSVC])
def test_ctrl_c_keeps_what_there_is(cls, at, n_jobs):
    """Three subproblems; those that did not start have the trivial model, certified like the others."""
    X, y = iris()
    model = cls(tol=1e-10, callback=Interrupt(at), n_jobs=n_jobs)
    with pytest.raises(Interrupted) as caught:
        model.fit(X, y)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.result.certificate.relative_gap >= max(c.relative_gap for c in model.certificates_) - 1e-12
    assert model.predict(X).shape == (150,) and len(model.certificates_) == len(model.traces_) == 3
    assert all(np.isfinite(c.primal) and np.isfinite(c.dual) for c in model.certificates_)
    assert Status.INTERRUPTED in {solved.status for solved in model._solved}
    assert all(solved.proven or solved.status is Status.INTERRUPTED for solved in model._solved)
    resumed = model.set_params(callback=None, warm_start=True, tol=1e-4, max_iter=100_000).fit(X, y)
    assert resumed.certificate_.relative_gap <= 1e-4


@pytest.mark.parametrize("estimator", [gl.SVR(), gl.NuSVR(), gl.OneClassSVM(), gl.LinearSVR()], ids=str)
def test_ctrl_c_with_one_subproblem(estimator):
    X, y = diabetes()
    with pytest.raises(Interrupted):
        estimator.set_params(callback=Interrupt(1), tol=1e-10).fit(X, y)
    assert np.isfinite(estimator.predict(X)).all() and np.isfinite(estimator.certificate_.gap)
    assert estimator._solved[0].status is Status.INTERRUPTED


def test_ctrl_c_between_subproblems(monkeypatch):
    """While a problem is being built there is no iterate yet; the fit ends all the same."""
    monkeypatch.setattr(one_vs_one, "every_pair", lambda *_: None)  # one subproblem after the other
    X, y = iris()
    built = []
    original = gl.SVC._problem

    def build(self, *arguments):
        built.append(1)
        if len(built) == 2:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(gl.SVC, "_problem", build)
    model = gl.SVC()
    with pytest.raises(Interrupted):
        model.fit(X, y)
    assert [solved.proven for solved in model._solved] == [True, False, False]
    assert model.predict(X).shape == (150,)


def test_ctrl_c_while_threads_work(monkeypatch):
    """The signal reaches the waiting thread, and not those that solve."""
    from gapless.estimators import solving

    X, y = iris()
    waits = []
    original = solving.wait

    def wait(futures):
        waits.append(1)
        if len(waits) == 1:
            raise KeyboardInterrupt
        return original(futures)

    monkeypatch.setattr(solving, "wait", wait)
    with pytest.raises(Interrupted):
        gl.SVC(n_jobs=2, tol=1e-12).fit(X, y)
    assert len(waits) == 2


@pytest.mark.parametrize(
    "estimator", [gl.SVC(), gl.NuSVC(nu=0.2), gl.LinearSVC(), gl.SVC(kernel="linear", solver="smo")], ids=str
)
def test_jobs_change_nothing(estimator):
    X, y = iris()
    alone = estimator.set_params(n_jobs=None).fit(X, y).decision_function(X)
    for jobs in (2, -1):
        np.testing.assert_array_equal(estimator.set_params(n_jobs=jobs).fit(X, y).decision_function(X), alone)


def test_two_fits_at_once_are_two_fits_in_a_row():
    tasks = [(gl.SVC(), *iris()), (gl.SVC(C=7.0), *cancer()), (gl.LinearSVC(), *iris()), (gl.SVR(), *diabetes())]

    def fit(task):
        model, X, y = task
        return model.fit(X, y).predict(X), model.certificate_

    in_a_row = [fit(task) for task in tasks]
    with ThreadPoolExecutor(len(tasks)) as pool:
        at_once = list(pool.map(fit, tasks))
    for (a, b), (c, d) in zip(in_a_row, at_once, strict=True):
        np.testing.assert_array_equal(a, c)
        assert b == d


def test_the_same_seed_gives_the_same_model():
    X, y = cancer()
    a, b = (gl.LinearSVC(random_state=3).fit(X, y).coef_ for _ in range(2))
    np.testing.assert_array_equal(a, b)
