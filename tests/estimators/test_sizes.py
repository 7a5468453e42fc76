"""Every estimator at real sizes keeps its promises: bounds within tol, no warning, no rounding among the support vectors, a score as scikit-learn's.

The rows are of the same make as those of ``benchmarks/sizes.py``, whose seconds are not asked for here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.svm

import gapless
from benchmarks._promises import ROUNDING, Fitted, fitted, losses, quietly, score_holds
from benchmarks._size_data import GENERATED, STORED, Samples, samples
from benchmarks._size_rows import KINDS, NO_PROBLEM, OPTIONS, SIZES, WITH_MATRIX, Row, rows

# Estimator, options, kind of data, number of samples: what scikit-learn solves in a few seconds at most, and where small sizes have hidden failures.
SLICE: tuple[tuple[str, dict[str, Any], str, int], ...] = (
    ("SVC", {}, "noisy", 6000),
    ("SVC", {"C": 100.0}, "discrete", 2500),
    ("SVC", {}, "heavy", 2500),
    ("SVC", {}, "classes", 2500),
    ("SVC", {"kernel": "linear"}, "wide", 500),
    ("SVC", {"kernel": "poly"}, "easy", 6000),
    ("SVC", {"C": 10.0, "class_weight": "balanced"}, "noisy", 2500),
    ("SVC", {"weighted": True}, "easy", 6000),
    ("NuSVC", {"nu": 0.1}, "easy", 6000),
    ("NuSVC", {"kernel": "poly"}, "noisy", 2500),
    ("NuSVC", {"nu": 0.6, "kernel": "linear"}, "discrete", 2500),
    ("SVR", {}, "friedman", 6000),
    ("SVR", {}, "heavy targets", 2500),
    ("SVR", {"kernel": "linear"}, "wide targets", 500),
    ("SVR", {"C": 10.0, "weighted": True}, "discrete targets", 2500),
    ("NuSVR", {}, "friedman", 6000),
    ("NuSVR", {}, "heavy targets", 2500),
    ("NuSVR", {"C": 100.0, "nu": 0.2}, "discrete targets", 2500),
    ("NuSVR", {"kernel": "linear"}, "friedman", 2500),
    ("OneClassSVM", {"nu": 0.3}, "noisy", 6000),
    ("OneClassSVM", {"nu": 0.1}, "discrete", 2500),
    ("OneClassSVM", {"nu": 0.3}, "heavy", 2500),
    ("LinearSVC", {}, "noisy", 6000),
    ("LinearSVC", {"loss": "hinge"}, "discrete", 2500),
    ("LinearSVC", {"penalty": "l1"}, "easy", 6000),
    ("LinearSVC", {"multi_class": "crammer_singer"}, "classes", 2500),
    ("LinearSVC", {"fit_intercept": False, "weighted": True}, "easy", 6000),
    ("LinearSVR", {}, "friedman", 6000),
    ("LinearSVR", {"loss": "squared_epsilon_insensitive"}, "heavy targets", 2500),
    ("KernelLogisticRegression", {}, "noisy", 2500),
    ("KernelPerceptron", {"form": "averaged", "max_iter": 10}, "noisy", 2500),
    ("KernelFisherDiscriminant", {}, "classes", 2500),
)  # fmt: skip
ROWS = tuple(Row(name, tuple(options.items()), kind, n) for name, options, kind, n in SLICE)


def fit(module: Any, row: Row, given: Samples) -> tuple[Any, tuple[str, ...]]:
    """(the model of a library, the warnings that it gave)."""
    model = getattr(module, row.estimator)(**row.parameters)
    weight = (given.weight,) if row.weighted else ()
    return quietly(lambda: model.fit(given.X, given.y, *weight))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_fit_keeps_its_promises(row):
    given = samples(row.kind, row.n)
    outcome = fitted(*fit(gapless, row, given), given.X_test, given.y_test)
    assert outcome.broken == []
    if hasattr(sklearn.svm, row.estimator):
        theirs = losses(fit(sklearn.svm, row, given)[0], given.X_test, given.y_test)
        assert score_holds(outcome.losses, theirs, both_sides=row.estimator == "OneClassSVM")
    else:  # no such estimator: better than always naming the most frequent class
        assert outcome.losses.mean() < 0.8 * (
            1 - np.unique(given.y_test, return_counts=True)[1].max() / len(given.y_test)
        )


def test_the_slice_names_every_estimator_and_rows_of_the_benchmark():
    assert {row.estimator for row in ROWS} == set(OPTIONS)
    for row in ROWS:
        assert dict(row.options) in OPTIONS[row.estimator] and row.kind in KINDS[row.estimator] and row.n in SIZES


def test_each_option_meets_each_kind_once_and_every_size():
    found = rows({})
    assert len(found) == len(set(found))
    for name, options in OPTIONS.items():
        sizes = {n for n in SIZES if n <= 6000 or name not in WITH_MATRIX}
        for given in options:
            mine = [row for row in found if (row.estimator, dict(row.options)) == (name, given)]
            kinds = [kind for kind in KINDS[name] if (name, given, kind) not in NO_PROBLEM]
            assert [row.kind for row in mine] == kinds
            assert {row.n for row in mine} == sizes or len(kinds) < len(KINDS[name])
    stored = {row.kind: row.n for row in rows(STORED) if row.kind in STORED}
    assert all(n <= STORED[kind] for kind, n in stored.items())


def test_each_kind_is_there_at_every_size():
    found = rows({})
    for kind in GENERATED:
        assert {row.n for row in found if row.kind == kind} == set(SIZES)


def outcome(**changes: Any) -> Fitted:
    """A fit that keeps its promises, but for the changes."""
    return Fitted((), 1e-4, 1e-3, 10, 0, np.zeros(4))._replace(**changes)


def test_a_promise_that_is_broken_is_named():
    assert outcome().broken == []
    assert outcome(gap=2e-3).broken == ["gap 2.0e-03"]
    assert outcome(gap=float("nan")).broken == ["gap nan"]
    assert outcome(rounding=3).broken == ["3 support vectors of rounding size"]
    assert outcome(warned=("ConvergenceWarning: early",)).broken == ["warns: ConvergenceWarning: early"]


def test_coefficients_of_rounding_size_are_counted():
    model = gapless.SVC(kernel="linear").fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert fitted(model, (), [[3.0]], np.array([1])).rounding == 0
    model.dual_coef_ = np.array([[-0.5, ROUNDING / 4]])
    assert fitted(model, (), [[3.0]], np.array([1])).rounding == 1


def test_a_score_is_compared_sample_by_sample():
    rng = np.random.default_rng(0)
    theirs = (rng.random(1000) < 0.3).astype(float)
    few = theirs.copy()
    few[np.flatnonzero(theirs == 0)[:3]] = 1.0
    many = theirs.copy()
    many[np.flatnonzero(theirs == 0)[:60]] = 1.0
    assert score_holds(theirs, theirs, both_sides=True) and score_holds(few, theirs)
    assert (
        not score_holds(many, theirs) and score_holds(theirs, many) and not score_holds(theirs, many, both_sides=True)
    )
