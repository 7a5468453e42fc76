"""A search of ours and scikit-learn's, over the same estimator and candidates, agree in everything but the times."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
import sklearn.model_selection as theirs
from scipy.sparse import coo_array
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, TransformerMixin, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import gapless as gl
from gapless import model_selection as ours
from gapless.kernels import RBF, Linear, Polynomial

IRIS = load_iris(return_X_y=True)
DIABETES = tuple(part[:120] for part in load_diabetes(return_X_y=True))
RNG = np.random.default_rng(0)
WEIGHT = RNG.uniform(0.5, 2.0, size=150)
GROUPS = RNG.integers(0, 6, size=150)


def both(name, estimator, candidates, data, fit_params=None, **settings):
    """Fit our search and theirs; return both."""
    X, y = data
    return [
        getattr(module, name)(estimator, candidates, **settings).fit(X, y, **(fit_params or {}))
        for module in (ours, theirs)
    ]


def public_attributes(search):
    return {name for name in vars(search) if not name.startswith("_")}


def assert_same(mine, other):
    added = [key for key in mine.cv_results_ if key.endswith(("_low", "_high"))]
    assert [key for key in mine.cv_results_ if key not in added] == list(other.cv_results_)
    for key, expected in other.cv_results_.items():
        found = mine.cv_results_[key]
        assert type(found) is type(expected)
        if isinstance(expected, np.ndarray):
            assert found.dtype == expected.dtype and found.shape == expected.shape
        if "time" in key:
            assert (found >= 0).all()
        elif key == "params":
            assert found == expected
        else:
            np.testing.assert_array_equal(found, expected, err_msg=key)
            np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
    assert public_attributes(mine) == public_attributes(other) | {"racing", "resume", "prove", "selection_"}
    for name in ("best_index_", "best_params_", "best_score_", "multimetric_", "n_splits_"):
        assert getattr(mine, name, None) == getattr(other, name, None)
    assert repr(getattr(mine, "best_estimator_", None)) == repr(getattr(other, "best_estimator_", None))


@pytest.mark.parametrize(
    ("estimator", "grid", "data"),
    [
        (gl.SVC(), {"C": [0.1, 10], "gamma": [0.1, "scale"], "kernel": ["rbf", "linear"]}, IRIS),
        (gl.SVC(kernel="linear"), {"C": [0.1, 10], "class_weight": [None, "balanced", {0: 3.0}]}, IRIS),
        (gl.SVC(), [{"kernel": ["linear"], "C": [1, 10]}, {"kernel": ["poly"], "degree": [2, 3]}], IRIS),
        (gl.SVC(kernel=RBF() + Linear()), {"kernel__left__gamma": [0.01, 1.0], "C": [1, 10]}, IRIS),
        (gl.SVC(), {"kernel": [RBF(0.1), 0.5 * RBF(0.5) + Polynomial(2)], "C": [1, 10]}, IRIS),
        (gl.NuSVC(), {"nu": [0.1, 0.3], "gamma": [0.1, 1.0]}, IRIS),
        (gl.LinearSVC(random_state=0), {"C": [0.01, 1], "loss": ["hinge", "squared_hinge"]}, IRIS),
        # Fits of a linear machine that differ in C go on from each other, and so do those of a ν-form that differ in ν or C: they agree with fits one
        # by one as far as both are proven (test_shared_linear.py, test_shared_nu.py).
        (gl.NuSVR(C=100), {"kernel": ["poly", "rbf"], "gamma": [0.1, 1.0]}, DIABETES),
        (gl.LinearSVR(random_state=0), {"epsilon": [0.0, 10.0]}, DIABETES),
        (gl.KernelPerceptron(form="averaged", random_state=0), {"kernel": ["linear", "rbf"]}, IRIS),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseEstimator) else "",
)
def test_grids(estimator, grid, data):
    # Regressions that are close to each other are trained on, unless their metric has no intervals.
    scoring = "explained_variance" if is_regressor(estimator) else None
    mine, other = both("GridSearchCV", estimator, grid, data, cv=3, return_train_score=True, scoring=scoring)
    assert_same(mine, other)
    np.testing.assert_array_equal(mine.predict(data[0]), other.predict(data[0]))


def test_random_draws():
    drawn = {"C": loguniform(1e-2, 1e2), "kernel": ["rbf", "linear"]}
    assert_same(*both("RandomizedSearchCV", gl.SVC(), drawn, IRIS, n_iter=6, random_state=3))


@pytest.mark.parametrize(
    "grid",
    [
        {"svm__C": [0.1, 10], "svm__gamma": [0.1, 1]},
        {"scale__with_mean": [True, False], "svm__C": [0.1, 10]},
        {"scale": [StandardScaler(), MinMaxScaler(), "passthrough", None], "svm__C": [0.1, 10]},
        {"svm": [gl.SVC(), gl.LinearSVC(random_state=0), RidgeClassifier()], "scale__with_std": [True, False]},
        [{"svm": [gl.SVC()], "svm__C": [1, 10]}, {"svm__gamma": [0.1, 1]}, {"reduce__n_components": [2]}],
        {"steps": [[("svm", gl.SVC())], [("svm", gl.LinearSVC(random_state=0))]]},
        {"memory": [None], "svm__kernel": [RBF(0.1), RBF(1.0)]},
    ],
    ids=str,
)
def test_pipelines(grid):
    pipeline = Pipeline([("scale", StandardScaler()), ("reduce", PCA(3)), ("svm", gl.SVC())])
    mine, other = both("GridSearchCV", pipeline, grid, IRIS, cv=3, return_train_score=True)
    assert_same(mine, other)


# joblib's own word where a disk is slow: what the test asserts does not depend on it.
@pytest.mark.filterwarnings("ignore:Persisting input arguments took:UserWarning")
def test_a_pipeline_whose_steps_are_cached(tmp_path):
    pipeline = make_pipeline(StandardScaler(), gl.SVC(), memory=str(tmp_path))
    assert_same(*both("GridSearchCV", pipeline, {"svc__C": [1, 10], "standardscaler__with_mean": [True, False]}, IRIS))


def test_a_pipeline_of_one_step_and_a_precomputed_kernel():
    X, y = IRIS
    data = X @ X.T, y
    assert_same(*both("GridSearchCV", gl.SVC(), {"kernel": ["precomputed", "linear"]}, data))
    assert_same(*both("GridSearchCV", make_pipeline(gl.SVC()), {"svc__kernel": ["precomputed", "linear"]}, data))


def test_sparse_samples_from_a_step():
    class Sparse(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.fitted_ = True
            return self

        def transform(self, X):
            return coo_array(X)

    assert_same(
        *both("GridSearchCV", make_pipeline(Sparse(), gl.LinearSVC(random_state=0)), {"linearsvc__C": [0.1, 1]}, IRIS)
    )


@pytest.mark.parametrize("prefix", ["", "svc__"])
def test_sample_weight_and_groups(prefix):
    estimator = make_pipeline(StandardScaler(), gl.SVC()) if prefix else gl.SVC()
    weight = {f"{prefix}sample_weight": WEIGHT, "groups": GROUPS}
    mine, other = both(
        "GridSearchCV", estimator, {f"{prefix}C": [0.1, 10]}, IRIS, weight, cv=theirs.GroupKFold(3), scoring="accuracy"
    )
    assert_same(mine, other)
    unweighted = ours.GridSearchCV(estimator, {f"{prefix}C": [0.1, 10]}, cv=theirs.GroupKFold(3)).fit(
        *IRIS, groups=GROUPS
    )
    assert (unweighted.cv_results_["mean_test_score"] != mine.cv_results_["mean_test_score"]).any()


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        asks = gl.SVC().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), asks)
        scorer = make_scorer(lambda y, z, sample_weight=None: np.average(y == z, weights=sample_weight))
        scorer.set_score_request(sample_weight=True)
        silent = gl.SVC(kernel="linear").set_fit_request(sample_weight=False)
        mine, other = both(
            "GridSearchCV",
            pipeline,
            {"svc__C": [0.1, 10], "svc": [asks, silent]},
            IRIS,
            {"sample_weight": WEIGHT, "groups": GROUPS},
            cv=theirs.GroupKFold(3),
            scoring=scorer,
        )
    assert_same(mine, other)


def _simplest(results):
    return int(np.flatnonzero(results["mean_test_accuracy"] >= 0.9)[0])


@pytest.mark.parametrize("refit", ["accuracy", False, _simplest])
@pytest.mark.parametrize(
    "scoring",
    [
        ["accuracy", "f1_macro"],
        {"accuracy": "accuracy", "error": make_scorer(mean_absolute_error, greater_is_better=False)},
        lambda estimator, X, y: {"accuracy": estimator.score(X, y), "size": len(y)},
    ],
    ids=["names", "dict", "function"],
)
def test_several_metrics_and_refits(scoring, refit):
    mine, other = both("GridSearchCV", gl.SVC(), {"C": [0.01, 1, 10]}, IRIS, scoring=scoring, refit=refit)
    assert_same(mine, other)


def test_folds_side_by_side():
    pipeline = make_pipeline(StandardScaler(), gl.SVC())
    grid = {"svc__C": [0.1, 1, 10], "standardscaler__with_mean": [True, False]}
    mine = ours.GridSearchCV(pipeline, grid, n_jobs=2).fit(*IRIS)
    assert_same(mine, theirs.GridSearchCV(pipeline, grid).fit(*IRIS))


def test_frames_keep_their_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), gl.SVC())
    mine, other = both("GridSearchCV", pipeline, {"svc__C": [1, 10]}, (X, y))
    assert_same(mine, other)
    assert list(mine.feature_names_in_) == list(X.columns)
    assert list(mine.best_estimator_[-1].feature_names_in_) == list(X.columns)


def test_no_targets():
    X, _ = IRIS
    grid = {"nu": [0.1, 0.5]}

    def inside(estimator, X, y=None):
        return float((estimator.predict(X) == 1).mean())

    results = [m.GridSearchCV(gl.OneClassSVM(), grid, scoring=inside).fit(X) for m in (ours, theirs)]
    assert_same(*results)
