"""Ctrl-C during a search: control comes back, and the search keeps what is decided."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import f1_score

import gapless as gl
from gapless.model_selection import GridSearchCV, SearchInterrupted
from gapless.model_selection.side_by_side import side_by_side
from tests.test_interrupt import interrupted

X, Y = load_iris(return_X_y=True)
COSTS = [0.1, 1.0, 10.0]
FITS = []


class Pressed(gl.SVC):
    """At its n-th fit, ``FITS[0]``, somebody presses Ctrl-C."""

    def fit(self, X, y, sample_weight=None):
        FITS[0] -= 1
        if FITS[0] == 0:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def accuracy(model, X, y):
    """A score without intervals, so that each candidate is fitted once a fold."""
    return model.score(X, y)


def two_metrics(model, X, y):
    return {"accuracy": model.score(X, y), "f1_macro": f1_score(y, model.predict(X), average="macro")}


def pressed(at, **options):
    """A search that is interrupted, and the interruption."""
    FITS[:] = [at]
    search = tuned(**options)
    with pytest.raises(SearchInterrupted) as caught:
        search.fit(X, Y)
    assert caught.value.search is search
    return search, str(caught.value)


def tuned(**options):
    return GridSearchCV(Pressed(), {"C": COSTS}, **{"cv": 4, "scoring": accuracy, **options})


def reference(**options):
    FITS[:] = [0]
    return tuned(**options).fit(X, Y)


def test_the_candidates_that_are_done_are_kept():
    search, words = pressed(at=12)  # in the last fold, after two candidates
    assert words == (
        "Interrupted: 11 of 12 fits are done, and 2 of 3 candidates on all folds. cv_results_ and best_params_ tell of these; nothing is "
        'refitted. With resume="a file" a search keeps its fits, and goes on from them.'
    )
    whole = reference().cv_results_
    for fold in range(4):
        scores, expected = search.cv_results_[f"split{fold}_test_score"], whole[f"split{fold}_test_score"]
        done = [True, True, fold < 3]
        assert np.array_equal(scores, np.where(done, expected, np.nan), equal_nan=True)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, False, True]
    assert list(search.cv_results_) == list(whole)
    two = reference().cv_results_["mean_test_score"][:2]
    assert search.best_score_ == two.max() and search.best_index_ == two.argmax() and search.n_splits_ == 4
    assert search.best_params_ == {"C": COSTS[search.best_index_]}
    assert not hasattr(search, "best_estimator_") and not hasattr(search, "refit_time_")


def test_no_candidate_is_done():
    search, words = pressed(at=2)
    assert words.startswith(
        "Interrupted: 1 of 12 fits is done, and no candidate on all folds. cv_results_ tells of these. "
    )
    assert np.isnan(search.cv_results_["split0_test_score"]).tolist() == [False, True, True]
    assert not hasattr(search, "best_params_")


def test_no_fit_is_done():
    search, words = pressed(at=1)
    assert words.startswith("Interrupted before the first fit was done. ")
    assert not hasattr(search, "cv_results_")


def test_an_earlier_fit_leaves_nothing_behind():
    search = reference()
    FITS[:] = [2]
    with pytest.raises(SearchInterrupted):
        search.fit(X, Y)
    assert not {"best_estimator_", "best_params_", "best_index_", "best_score_"} & set(vars(search))


@pytest.mark.parametrize("refit", ["accuracy", False, lambda results: int(results["mean_test_accuracy"].argmin())])
def test_several_metrics(refit):
    options = {"scoring": two_metrics, "refit": refit, "return_train_score": True}
    search, _ = pressed(at=12, **options)
    assert np.isnan(search.cv_results_["mean_test_f1_macro"]).tolist() == [False, False, True]
    assert np.isnan(search.cv_results_["mean_train_f1_macro"]).tolist() == [False, False, True]
    two = reference(**options).cv_results_["mean_test_accuracy"][:2]
    if refit is False:
        assert not hasattr(search, "best_index_")
    else:
        assert search.best_index_ == (two.argmin() if callable(refit) else two.argmax())


def test_an_interrupted_search_goes_on(tmp_path):
    path = tmp_path / "fits"
    _, words = pressed(at=8, resume=path)
    assert words.endswith(f"The same search with resume={str(path)!r} goes on from here.")
    search = reference(resume=path)
    assert FITS == [-(12 - 7 + 1)]
    assert np.array_equal(search.cv_results_["mean_test_score"], reference().cv_results_["mean_test_score"])
    assert search.best_estimator_.certificate_.relative_gap <= 1e-3


def test_the_last_fit_may_be_interrupted_as_well():
    FITS[:] = [13]
    search = tuned()
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    whole = reference()
    assert search.best_params_ == whole.best_params_ and not hasattr(search, "best_estimator_")
    assert np.array_equal(search.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])


def test_the_best_iterate_of_the_last_fit_is_kept():
    def press(progress):
        raise KeyboardInterrupt

    class Last(gl.SVC):
        def fit(self, X, y, sample_weight=None):
            self.callback = press if len(X) == 150 else None
            return super().fit(X, y, sample_weight)

    search = GridSearchCV(Last(), {"C": [1.0]}, cv=2)
    with pytest.raises(gl.Interrupted):
        search.fit(X, Y)
    assert search.best_estimator_.predict(X).shape == (150,) and hasattr(search, "cv_results_")


# Says "running" once the fits have begun, waits for Ctrl-C, and tells as JSON what it caught. The fits take minutes on any machine.
SCRIPT = """
import json, signal, sys, threading, time
import numpy as np
import gapless as gl
from gapless.model_selection import GridSearchCV, SearchInterrupted

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs deaf to it
jobs, kind = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
n = 3000
X, y = rng.normal(size=(n, 20)), rng.integers(2, size=n)
estimator = {
    "shared": lambda: gl.SVC(tol=1e-10, gamma=0.05),
    "regression": lambda: gl.SVR(tol=1e-12, epsilon=0.0),
}[kind]()
search = GridSearchCV(estimator, {"C": [1e3, 1e5]}, cv=2, n_jobs=jobs)
print("running", flush=True)
try:
    search.fit(X, y)
    print(json.dumps({"caught": None}))
except SearchInterrupted as stop:
    print(json.dumps({"caught": time.monotonic(), "message": str(stop)}), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize(("kind", "jobs"), [("shared", None), ("regression", 2)])
def test_control_comes_back(kind, jobs, capsys):
    told = interrupted(SCRIPT, [jobs, kind], 0.7, f"{kind}, n_jobs={jobs}", capsys)
    assert told["message"].startswith("Interrupted")


def test_threads_end_where_nobody_waits_for_them():
    begun, ended = threading.Event(), threading.Event()

    def stream(place):
        if place == 0:
            yield place
            begun.wait()
            raise ValueError("the other one is not wanted any more")
        try:
            begun.set()
            while True:  # a fit that would take for ever
                time.sleep(0.001)
        except KeyboardInterrupt:
            ended.set()
            raise
        yield place

    items = side_by_side(stream, 2, n_jobs=2)
    assert next(items) == 0
    with pytest.raises(ValueError, match="the other one"):
        next(items)
    assert ended.wait(60)
