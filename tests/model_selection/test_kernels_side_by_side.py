"""Kernels whose fits run side by side give what they give one after the other."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import FitFailedWarning

import gapless as gl
from gapless.kernels import RBF, Chi2
from gapless.model_selection import GridSearchCV, kernel_table, shared
from gapless.model_selection.kernel_table import most_tables
from gapless.model_selection.shared import SharedFits

rng = np.random.default_rng(3)
X = rng.normal(size=(450, 4))
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5, 5.0]}


@pytest.fixture
def threads_of_kernels(monkeypatch):
    """The threads on which the fits of each kernel were made, kernel by kernel, in the order in which they began."""
    found, original = [], SharedFits._fit_kernel

    def fit_kernel(self, *arguments):
        found.append(threading.get_ident())
        yield from original(self, *arguments)

    monkeypatch.setattr(SharedFits, "_fit_kernel", fit_kernel)
    return found


def searched(monkeypatch, y, threads, **options):
    monkeypatch.setattr(shared, "thread_count", lambda: threads)
    estimator = gl.SVC() if y.dtype.kind == "i" else gl.SVR()
    return GridSearchCV(estimator, GRID, cv=3, **options).fit(X, y)


@pytest.mark.parametrize("targets", ["two classes", "four classes", "numbers"])
def test_results_are_the_same_to_the_bit(monkeypatch, threads_of_kernels, targets):
    score = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=len(X))
    y = score if targets == "numbers" else np.digitize(score, [0.5] if targets == "two classes" else [0.0, 0.8, 1.6])
    alone = searched(monkeypatch, y, 1)
    assert set(threads_of_kernels) == {threading.get_ident()}
    threads_of_kernels.clear()
    beside = searched(monkeypatch, y, 3)
    assert len(threads_of_kernels) >= 3 and threading.get_ident() not in threads_of_kernels
    assert beside.best_params_ == alone.best_params_ and beside.selection_ == alone.selection_
    for key, values in alone.cv_results_.items():
        if "time" not in key:
            assert_array_equal(beside.cv_results_[key], values, err_msg=key)


def test_a_race_goes_through_one_kernel_after_the_other(monkeypatch, threads_of_kernels):
    y = (X[:, 0] > 0).astype(int)
    race = searched(monkeypatch, y, 3, racing=True)
    assert set(threads_of_kernels) == {threading.get_ident()}
    assert race.best_params_ == searched(monkeypatch, y, 3).best_params_


def test_tables_that_are_in_memory_at_a_time_share_its_budget(monkeypatch, threads_of_kernels):
    assert most_tables(1) > 1000 and most_tables(8_000) == 2 and most_tables(10_000) == most_tables(23_170) == 1
    monkeypatch.setattr(kernel_table, "FULL_BYTES", 8 * 450**2)
    searched(monkeypatch, (X[:, 0] > 0).astype(int), 3)
    assert set(threads_of_kernels) == {threading.get_ident()}


def test_an_error_of_one_kernel_ends_the_search(monkeypatch):
    original = SharedFits._fit_kernel

    def fit_kernel(self, stage, tables, kernel, fits):
        if kernel.gamma == 0.5:
            raise KeyError("wrong")
        yield from original(self, stage, tables, kernel, fits)

    monkeypatch.setattr(SharedFits, "_fit_kernel", fit_kernel)
    with pytest.raises(KeyError, match="wrong"):
        searched(monkeypatch, (X[:, 0] > 0).astype(int), 3)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_kernel_that_does_not_take_the_samples_fails_alone(monkeypatch, threads):
    monkeypatch.setattr(shared, "thread_count", lambda: threads)
    search = GridSearchCV(gl.SVC(), {"kernel": [Chi2(), RBF(0.1)]}, cv=3)
    with (
        pytest.warns(FitFailedWarning, match="Chi2 needs data without negative entries"),
        np.errstate(invalid="ignore"),
    ):
        warnings.filterwarnings("ignore", "One or more of the test scores are non-finite")
        search.fit(X, (X[:, 0] > 0).astype(int))
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False] and search.best_index_ == 1
