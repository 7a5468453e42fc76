"""scikit-learn's callback API (1.9 and later): a fit, its subproblems and their certificates are tasks."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.model_selection import GridSearchCV

import gapless as gl
from tests.estimators.data import cancer, diabetes, iris

callback = pytest.importorskip("sklearn.callback")

ESTIMATORS = [gl.SVC(), gl.NuSVC(), gl.SVR(), gl.NuSVR(), gl.OneClassSVM(), gl.LinearSVC(), gl.LinearSVR(C=0.1)]


class Recorder:
    """Keeps the names of all tasks, and may stop at the nth certificate."""

    def __init__(self, stop_at=None):
        self.begun, self.ended, self.fitted, self.events = [], [], None, []
        self.stop_at = stop_at

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.begun.append((context.task_name, context.task_id))
        if context.parent is None:
            self.data = X, y, metadata

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended.append((context.task_name, context.task_id))
        if context.parent is None:
            self.fitted = fitted_estimator
        return (
            self.stop_at is not None and len([name for name, _ in self.ended if name == "certificate"]) >= self.stop_at
        )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_every_estimator_tells_its_tasks(estimator):
    X, y = diabetes() if is_regressor(estimator) else cancer()
    recorder = Recorder()
    weight = np.ones(len(y))
    model = type(estimator)(**estimator.get_params()).set_callbacks(recorder).fit(X, y, sample_weight=weight)
    assert recorder.events == ["setup", "teardown"]
    assert recorder.begun[0] == ("fit", 0) and recorder.ended[-1] == ("fit", 0)
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert ("solve", 0) in recorder.begun and ("certificate", 0) in recorder.begun
    assert recorder.data[0].shape == X.shape and recorder.data[2]["sample_weight"] is weight
    np.testing.assert_array_equal(recorder.fitted.predict(X), model.predict(X))


def test_each_subproblem_is_a_task():
    recorder = Recorder()
    gl.SVC(n_jobs=2).set_callbacks(recorder).fit(*iris())
    assert sorted(task for name, task in recorder.begun if name == "solve") == [0, 1, 2]


def test_a_callback_may_stop_the_fit():
    X, y = cancer()
    recorder = Recorder(stop_at=2)
    with pytest.warns(Warning, match="Stopped by the callback"):
        model = gl.SVC(tol=1e-12).set_callbacks(recorder).fit(X, y)
    assert recorder.ended.count(("certificate", 1)) == 1 and ("certificate", 2) not in recorder.ended
    assert np.isfinite(model.certificate_.gap)


def test_teardown_comes_after_an_error_too():
    recorder = Recorder()
    with pytest.raises(ValueError, match="not separable"):
        gl.SVC(kernel="linear", C=np.inf).set_callbacks(recorder).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert recorder.events == ["setup", "teardown"]


def test_the_progress_bar_of_scikit_learn(capsys):
    gl.SVC().set_callbacks(callback.ProgressBar()).fit(*iris())
    assert "SVC" in capsys.readouterr().out


def test_the_progress_bar_reaches_us_through_a_grid_search(capsys):
    search = GridSearchCV(gl.SVC(), {"C": [1.0, 2.0]}, cv=2).set_callbacks(
        callback.ProgressBar(max_propagation_depth=None)
    )
    assert search.fit(*cancer()).best_score_ > 0.8
    assert "SVC" in capsys.readouterr().out


def test_older_scikit_learn_has_no_callbacks(monkeypatch):
    from gapless.estimators import callbacks

    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "sklearn.callback", None)
        importlib.reload(callbacks)
        assert not hasattr(callbacks.CallbackSupport, "set_callbacks")
        assert callbacks.with_callbacks(len) is len
        hooks = callbacks.FitHooks(gl.SVC(), 1, (None, None, None))
        assert hooks.check(0) is False and hooks.end() is None
    importlib.reload(callbacks)
