"""Regressions by support vectors: curves, tubes, several losses, and what comes before and after them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from tests.estimators.data import diabetes
from tests.workflows.agreement import assert_close_values, assert_same_form, other


def wave() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(0)
    X = np.sort(5 * rng.rand(60, 1), axis=0)
    y = np.sin(X).ravel()
    y[::5] += 3 * (0.5 - rng.rand(12))
    return X, y


def test_three_kernels_on_a_noisy_wave(svm: ModuleType) -> None:
    """The figure of scikit-learn's gallery: the curves, and the support vectors by their places in the training set."""
    X, y = wave()
    machines: list[dict[str, Any]] = [
        {"kernel": "rbf", "C": 100, "gamma": 0.1, "epsilon": 0.1},
        {"kernel": "linear", "C": 100, "gamma": "auto"},
        {"kernel": "poly", "C": 1, "gamma": "auto", "degree": 3, "epsilon": 0.1, "coef0": 1},
    ]
    for parameters in machines:
        model, twin = (each.SVR(**parameters).fit(X, y) for each in (svm, other(svm)))
        assert_close_values(model.predict(X), twin.predict(X))
        assert_same_form(model.support_[:5], twin.support_[:5])
        others = np.setdiff1d(np.arange(len(X)), model.support_)
        np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
        assert (
            len(others) and np.abs(model.predict(X[others]) - y[others]).max() <= model.epsilon + 2e-3
        )  # inside the tube


def test_prediction_by_hand(svm: ModuleType) -> None:
    X, y = diabetes()
    for name in ("SVR", "NuSVR"):
        model = getattr(svm, name)(C=2.0, gamma=0.05).fit(X, y)
        assert model.dual_coef_.shape == (1, len(model.support_)) and model.intercept_.shape == (1,)
        by_hand = rbf_kernel(X, model.support_vectors_, gamma=0.05) @ model.dual_coef_.ravel() + model.intercept_
        np.testing.assert_allclose(by_hand, model.predict(X), atol=1e-8)
        assert np.abs(model.dual_coef_).max() <= 2.0 + 1e-9 and model.dual_coef_.sum() == pytest.approx(0, abs=1e-8)


def test_held_out_errors_of_all_three_machines(svm: ModuleType) -> None:
    X, y = load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    makers = [
        lambda svm: svm.SVR(kernel="linear", C=10),
        lambda svm: svm.NuSVR(nu=0.4, C=10),
        lambda svm: svm.LinearSVR(C=10, epsilon=5.0, max_iter=10**6, tol=1e-6),
    ]
    for made in makers:
        model, twin = (make_pipeline(StandardScaler(), made(each)).fit(X, y) for each in (svm, other(svm)))
        for metric in (mean_absolute_error, mean_squared_error, r2_score):
            assert metric(y_test, model.predict(X_test)) == pytest.approx(
                metric(y_test, twin.predict(X_test)), rel=0.01
            )
        assert (
            model.score(X_test, y_test) == pytest.approx(r2_score(y_test, model.predict(X_test)))
            and model.score(X_test, y_test) > 0.3
        )


def test_search_over_the_tube(svm: ModuleType) -> None:
    X, y = diabetes()
    grid = {"svr__C": [0.1, 1, 10], "svr__epsilon": [0.01, 0.1, 0.5], "svr__gamma": [0.01, 0.1]}
    search, twin = (
        GridSearchCV(make_pipeline(StandardScaler(), each.SVR()), grid, scoring="neg_mean_squared_error", cv=3).fit(
            X, y
        )
        for each in (svm, other(svm))
    )
    assert search.best_params_ == twin.best_params_ and search.best_score_ == pytest.approx(twin.best_score_, rel=1e-3)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], twin.cv_results_["mean_test_score"], rtol=5e-3)


def test_search_over_nu(svm: ModuleType) -> None:
    X, y = diabetes()
    space = {"nu": np.linspace(0.1, 0.9, 9), "C": [0.1, 1.0, 10.0]}
    search, twin = (
        RandomizedSearchCV(each.NuSVR(gamma=0.02), space, n_iter=6, cv=3, random_state=1).fit(X, y)
        for each in (svm, other(svm))
    )
    assert search.best_params_ == twin.best_params_
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], twin.cv_results_["mean_test_score"], rtol=0, atol=5e-3
    )


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_machine_and_its_attributes(svm: ModuleType, loss: str) -> None:
    X, y = diabetes()
    model, twin = (
        each.LinearSVR(loss=loss, epsilon=0.1, tol=1e-7, max_iter=10**6).fit(X, y) for each in (svm, other(svm))
    )
    for name in ("coef_", "intercept_"):
        assert_same_form(getattr(model, name), getattr(twin, name))
        np.testing.assert_allclose(getattr(model, name), getattr(twin, name), atol=5e-3)
    assert type(model.n_iter_) is type(twin.n_iter_) and model.n_iter_ >= 1
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.predict(X), atol=1e-10)
    through_zero = svm.LinearSVR(fit_intercept=False, loss=loss, max_iter=10**6).fit(X, y)
    assert through_zero.intercept_ == 0.0 and type(through_zero.intercept_) is float


def test_features_selected_by_a_regression(svm: ModuleType) -> None:
    X, y = diabetes()
    kept, expected = (
        RFE(each.SVR(kernel="linear", tol=1e-8), n_features_to_select=4).fit(X, y) for each in (svm, other(svm))
    )
    np.testing.assert_array_equal(kept.support_, expected.support_)
    chosen, expected = (
        SelectFromModel(each.LinearSVR(C=0.1, epsilon=0.1, tol=1e-7, max_iter=10**6), threshold="median").fit(X, y)
        for each in (svm, other(svm))
    )
    np.testing.assert_array_equal(chosen.get_support(), expected.get_support())
    assert chosen.get_support().sum() == 5


def test_polynomial_features_or_a_polynomial_kernel(svm: ModuleType) -> None:
    """Two ways to one model space: terms written out, and a kernel."""
    X, y = wave()
    written = make_pipeline(PolynomialFeatures(3), StandardScaler(), svm.SVR(kernel="linear", C=1.0)).fit(X, y)
    kernel = make_pipeline(StandardScaler(), svm.SVR(kernel="poly", degree=3, coef0=1, C=1.0)).fit(X, y)
    twin = make_pipeline(StandardScaler(), other(svm).SVR(kernel="poly", degree=3, coef0=1, C=1.0)).fit(X, y)
    assert np.corrcoef(written.predict(X), kernel.predict(X))[0, 1] > 0.95
    assert_close_values(kernel.predict(X), twin.predict(X))


def test_series_forecast_from_its_own_past(svm: ModuleType) -> None:
    """Lagged values as features, one step ahead, then many steps by feeding predictions back."""
    series = np.sin(np.arange(120) / 5) + 0.1 * np.random.default_rng(0).normal(size=120)
    X = np.lib.stride_tricks.sliding_window_view(series, 6)[:-1]
    y = series[6:]
    model, twin = (each.SVR(C=10, gamma=0.1, epsilon=0.05).fit(X[:90], y[:90]) for each in (svm, other(svm)))
    assert model.score(X[90:], y[90:]) > 0.9
    assert_close_values(model.predict(X[90:]), twin.predict(X[90:]))
    recent = list(X[90])
    for _ in range(5):
        recent.append(model.predict([recent[-6:]])[0])
    assert np.isfinite(recent).all() and np.abs(recent).max() < 2


def test_held_out_predictions_of_targets_in_single_precision(svm: ModuleType) -> None:
    X, y = diabetes()
    for targets in (y.astype(np.float32), np.round(100 * y).astype(int), (100 * y).tolist()):
        found, expected = (
            cross_val_predict(each.SVR(kernel="linear", C=0.1), X, targets, cv=3) for each in (svm, other(svm))
        )
        assert_close_values(found, expected)
        assert found.dtype == np.float64
