"""The fold scores of searches over shared fits are those of scikit-learn's tight SVC, for weights, folds, labels and samples of all kinds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.model_selection as theirs
from sklearn.svm import SVC

import gapless as gl
from gapless.model_selection import GridSearchCV
from gapless.model_selection.shared import SharedFits

GRID = {"C": [5.0, 0.3, 40.0, 1.0], "gamma": [0.2, 0.05]}  # in no order
CLEAR = 1e-5  # LIBSVM's entries are float32: closer to zero a sign may not be that of the optimum


def data(classes=3, n=75, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(classes, 4))[y] + 0.9 * rng.normal(size=(n, 4)), y


X, Y = data()
TWO = data(2, 60, 1)
RNG = np.random.default_rng(7)
WEIGHT = RNG.choice([0.5, 1.0, 3.0], size=75)


def compare(X=X, y=Y, cv=4, options=None, params=None, grid=GRID, referee=SVC):
    """Search with both, and compare all folds."""
    options, params, clear = options or {}, params or {}, []

    class Noting(referee):
        """Notes how far from zero the decision values of its test rows are."""

        def score(self, X, y, sample_weight=None):
            shape = self.decision_function_shape
            self.decision_function_shape = "ovo"
            clear.append(np.abs(self.decision_function(X)).min())
            self.decision_function_shape = shape
            return super().score(X, y, sample_weight)

    ours = GridSearchCV(gl.SVC(**options), grid, cv=cv).fit(X, y, **params)
    tight = theirs.GridSearchCV(Noting(tol=1e-10, **options), grid, cv=cv, refit=False).fit(X, y, **params)
    assert min(clear) > CLEAR, "choose other data: an exact score is needed"
    low, high = (ours.cv_results_[f"mean_test_score_{end}"] for end in ("low", "high"))
    mean = ours.cv_results_["mean_test_score"]
    assert (low <= mean).all() and (mean <= high).all()
    for fold in range(ours.n_splits_):
        key = f"split{fold}_test_score"
        expected = tight.cv_results_[key]
        np.testing.assert_array_equal(ours.cv_results_[key], expected)
        assert (ours.cv_results_[f"{key}_low"] <= expected).all() and (
            expected <= ours.cv_results_[f"{key}_high"]
        ).all()
    assert ours.best_index_ == tight.best_index_
    return ours


@pytest.fixture(autouse=True)
def made(monkeypatch):
    """The number of fits that the shared engine has made."""
    places = []
    original = SharedFits._fitted

    def fitted(self, stage, members, seen, *rest):
        places.append((seen.fit.candidate, seen.fit.fold))
        return original(self, stage, members, seen, *rest)

    monkeypatch.setattr(SharedFits, "_fitted", fitted)
    return places


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"class_weight": "balanced"},
        {"class_weight": {0: 0.3, 2: 4.0}},
        {"break_ties": True, "decision_function_shape": "ovr"},
        {"decision_function_shape": "ovo"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
        {"kernel": "linear"},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_parameters_and_weights(options, weighted, made):
    params = {"sample_weight": WEIGHT} if weighted else {}
    # Weights of samples count in our "balanced" ones, as in scikit-learn's LinearSVC and not in its SVC.
    referee = gl.SVC if weighted and options.get("class_weight") == "balanced" else SVC
    compare(options=options, params=params, referee=referee)
    assert len(made) == 32


def test_two_classes(made):
    compare(*TWO)
    compare(*TWO, options={"class_weight": {1: 2.5}}, params={"sample_weight": WEIGHT[:60]})
    assert len(made) == 64


def test_samples_of_no_weight(made):
    compare(params={"sample_weight": np.where(np.arange(75) % 7 == 0, 0.0, WEIGHT)})


@pytest.mark.parametrize(
    "cv",
    [
        theirs.ShuffleSplit(4, test_size=0.2, train_size=0.5, random_state=1),
        theirs.RepeatedKFold(n_splits=3, n_repeats=2, random_state=1),
        theirs.PredefinedSplit(np.where(np.arange(75) < 30, -1, np.arange(75) % 3)),
        [(np.arange(0, 60), np.arange(40, 75)), (np.arange(75), np.arange(75))],  # rows that are trained on and scored
        [(np.arange(74, 14, -1), np.arange(14, -1, -1))],  # one fold, backwards
    ],
    ids=["ShuffleSplit", "RepeatedKFold", "PredefinedSplit", "overlapping", "backwards"],
)
def test_folds_that_are_no_partition(cv, made):
    search = compare(cv=cv)
    assert len(made) == 8 * search.n_splits_


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fold_may_have_a_row_several_times(classes):
    """As a bootstrap does: such a row counts as often as it is there, in training and in the score."""
    X, y = data(classes, 66, 4)
    rng = np.random.default_rng(3)
    drawn = [rng.choice(66, size=66) for _ in range(3)]
    cv = [(rows, np.setdiff1d(np.arange(66), rows)) for rows in drawn]
    cv.append((np.arange(40), np.repeat(np.arange(40, 66), 2)))
    compare(X, y, cv=cv)
    # Rows that are counted from the end, and one of them twice, by both of its numbers.
    compare(X, y, cv=[(np.arange(-40, 0), np.arange(26)), (np.append(np.arange(40), -66), np.arange(40, 66))])


def test_folds_that_miss_a_class(made):
    order = np.argsort(Y, kind="stable")
    X3, y3 = X[order], Y[order]
    rows = np.arange(75)
    cv = [(rows[:50], rows[20:]), (rows[rows % 5 > 0], rows[rows % 5 == 0]), (rows[25:], rows[:60])]
    compare(X3, y3, cv=cv)
    assert {fold for _, fold in made} == {1}
    # A class that only the test rows of a fold have, and one that only its training rows have.
    compare(X3, y3, cv=[(rows[:50], rows[50:]), (rows[rows % 5 > 0], rows[:5])])


def test_duplicated_rows(made):
    X2, y2 = np.repeat(X[:30], 2, axis=0), np.repeat(Y[:30], 2)
    y2[-6:] = np.roll(y2[-6:], 1)  # some of them with another label
    compare(X2, y2)
    assert len(made) == 32


def test_labels_of_all_kinds(made):
    for labels in (
        np.array(["wolf", "ape", "cat"]),
        np.array([-1.0, 10.0, 2.0]),
        np.array(["b", "a", "c"], dtype=object),
    ):
        search = compare(y=labels[Y])
        assert set(search.classes_) == set(labels)
    compare(TWO[0], TWO[1].astype(bool))
    compare(TWO[0], np.where(TWO[1] > 0, "yes", "no").tolist())
    assert len(made) == 5 * 32


def test_samples_of_all_kinds(made):
    thin = np.where(np.abs(X) > 0.6, X, 0.0)
    for samples in (
        sp.csr_array(thin),
        sp.csr_matrix(thin),
        sp.csc_array(thin),
        X.astype(np.float32),
        np.asfortranarray(X),
        X.tolist(),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compare(samples)
    assert len(made) == 6 * 32


def test_several_grids_and_weights_of_classes_share_a_table(made):
    grid = [
        {"C": [3.0, 0.5], "gamma": [0.1], "class_weight": [None, "balanced", {1: 5.0}]},
        {"C": [1.0], "kernel": ["linear", "rbf"], "gamma": [0.1], "tol": [1e-10]},
        {"C": [2.0, 2.0, 2.0], "gamma": [0.1, 0.1]},  # the same candidate several times
    ]
    compare(grid=grid)
    assert len(made) == 4 * (6 + 2 + 6)


def test_tables_in_float32_give_the_same_scores(monkeypatch, made):
    monkeypatch.setattr("gapless.model_selection.kernel_table.FULL_BYTES", 0)
    compare()
    compare(*TWO, params={"sample_weight": WEIGHT[:60]})
    compare(options={"kernel": "linear"}, grid={"C": [1.0, 0.1]})
    assert len(made) == 2 * 32 + 8
