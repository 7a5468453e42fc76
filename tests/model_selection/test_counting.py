"""Accuracy by counting is scikit-learn's accuracy, to the last bit, and a search that counts knows what one that does not count knows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.model_selection
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, make_scorer, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

import gapless as gl
from gapless.model_selection import GridSearchCV, scoring
from gapless.model_selection.counting import determination, fewest_rows, is_plain_weight, share
from gapless.model_selection.race import ROUNDING, Race

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
RNG = np.random.default_rng(0)
WEIGHTS = [None, RNG.uniform(0.1, 3.0, 60), RNG.uniform(0.1, 3.0, 60).astype(np.float32), RNG.integers(1, 5, 60)]
LABELS = [np.arange(3), np.arange(3.0), np.array([False, True]), NAMES, NAMES.astype(object)]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: str(labels.dtype))
@pytest.mark.parametrize("weight", WEIGHTS, ids=["equal", "float64", "float32", "int"])
def test_the_share_of_right_labels_is_the_accuracy(labels, weight):
    assert is_plain_weight(weight, 60)
    for _ in range(20):
        y, predicted = RNG.choice(labels, 60), RNG.choice(labels, 60)
        assert fewest_rows(y) == 2 * len(labels)
        found, expected = share(predicted == y, weight), accuracy_score(y, predicted, sample_weight=weight)
        assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize("n", [2, 3, 100, 2500])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_two_sums_are_r2(n, scale):
    for _ in range(20):
        y = scale * (RNG.normal(size=n) + 10 * RNG.normal())
        predicted = y + scale * RNG.normal() * RNG.normal(size=n)
        found, expected = determination(y, predicted), r2_score(y, predicted)
        assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    "y",
    [
        np.linspace(0.0, 1.0, 30).round(1),
        [0.0, 1.0, np.nan] * 10,
        [0.0, 1e30] * 10,
        np.array([1, "a"] * 10, dtype=object),
        np.array([1, 2] * 10, dtype=object),
        np.array([b"a", b"b"] * 10),
        np.arange(10) // 2 * 2 + [0, 1] * 5,
        np.eye(2, dtype=int).repeat(5, axis=0),
        [["a"], ["b", "c"]] * 5,
    ],
    ids=["continuous", "nan", "large", "mixed", "objects", "bytes", "many", "multilabel", "ragged"],
)
def test_labels_that_may_be_refused_are_not_counted(y):
    assert fewest_rows(y) == np.inf


@pytest.mark.parametrize(
    "weight", [2.0, [1.0] * 60, np.ones((60, 1)), np.ones(59), np.full(60, np.nan), pd.Series(np.ones(60))]
)
def test_weights_that_may_be_refused_are_not_counted(weight):
    assert not is_plain_weight(weight, 60)


def known_by(search):
    columns = {name: values for name, values in search.cv_results_.items() if "time" not in name and name != "params"}
    return columns, search.best_index_, search.best_score_, search.selection_


@pytest.mark.parametrize("racing", [False, True])
@pytest.mark.parametrize("scorer", [None, "accuracy", make_scorer(accuracy_score)])
@pytest.mark.parametrize("y", [Y, Y.tolist(), NAMES[Y], pd.Series(NAMES[Y])], ids=["array", "list", "str", "Series"])
def test_a_search_that_counts_knows_the_same(monkeypatch, racing, scorer, y):
    grid, folds = {"C": [0.01, 1.0, 100.0], "gamma": ["scale", 0.01]}, StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(gl.SVC(), grid, cv=folds, scoring=scorer, refit=False, racing=racing)
    counted, asked = known_by(search.fit(X, y)), []

    def slowly(y):
        asked.append(y)
        return np.inf

    monkeypatch.setattr(scoring, "fewest_rows", slowly)
    columns, *others = known_by(search.fit(X, y))
    assert len(asked) == 1 and counted[1:] == tuple(others) and counted[0].keys() == columns.keys()
    for name, values in columns.items():
        np.testing.assert_array_equal(counted[0][name], values, err_msg=name)


@pytest.mark.parametrize("kind", ["int", "float", "zero and one", "one label", "frame", "not a number"])
@pytest.mark.parametrize("scorer", ["accuracy", make_scorer(accuracy_score, normalize=False), "roc_auc"], ids=str)
@pytest.mark.filterwarnings("ignore")  # of scores that are not defined
def test_one_class_machines_score_as_in_scikit_learn(kind, scorer):
    rows, y = X.copy(), np.where(RNG.random(len(Y)) < 0.8, 1, -1)
    if kind == "float":
        y = y.astype(float)
    elif kind == "zero and one":
        y = (y > 0).astype(int)
    elif kind == "one label":
        y = np.ones(len(y), dtype=int)
    elif kind == "frame":
        rows, y = pd.DataFrame(rows, columns=list("abcd")), pd.Series(y)
    elif kind == "not a number":
        rows[-1, 0] = np.nan
    settings = {"estimator": gl.OneClassSVM(), "param_grid": {"gamma": [0.1, 1.0]}, "scoring": scorer, "cv": KFold(3)}
    mine, other = (
        kind(**settings, refit=False).fit(rows, y) for kind in (GridSearchCV, sklearn.model_selection.GridSearchCV)
    )
    for key in other.cv_results_:
        if "score" in key and "time" not in key:
            np.testing.assert_array_equal(mine.cv_results_[key], other.cv_results_[key], err_msg=key)


def test_the_order_by_promise_follows_the_scores():
    rng = np.random.default_rng(0)
    race = Race(np.zeros((9, 4)), np.ones((9, 4)))
    for candidate, fold in rng.permutation([(k, j) for k in range(9) for j in range(4)]):
        low, score, high = np.sort(rng.uniform(size=3) * (candidate + 1) / 9)
        race.put(candidate, fold, score, low, high)
        order = race.by_promise()
        assert sorted(order) == [k for k in range(9) if not race.is_out(k)]
        least = race.means()[0].max()
        assert all(race.means()[1][order] >= least - ROUNDING)
        assert race.by_promise() == order
