"""Looking into fitted support vector machines: weights, support vectors, figures."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    DetCurveDisplay,
    PrecisionRecallDisplay,
    PredictionErrorDisplay,
    RocCurveDisplay,
    hinge_loss,
)
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import LearningCurveDisplay, ValidationCurveDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from tests.estimators.data import cancer, diabetes, iris
from tests.workflows.agreement import assert_close_values, assert_same_form, other


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def test_decision_by_hand_from_the_support_vectors(svm: ModuleType) -> None:
    X, y = cancer()
    for kernel, values in (("rbf", rbf_kernel), ("poly", polynomial_kernel)):
        model, twin = (each.SVC(kernel=kernel, gamma=0.02, coef0=1.0, tol=1e-6) for each in (svm, other(svm)))
        model.fit(X, y), twin.fit(X, y)
        options = {"gamma": 0.02} if kernel == "rbf" else {"gamma": 0.02, "coef0": 1.0, "degree": 3}
        by_hand = values(X, model.support_vectors_, **options) @ model.dual_coef_[0] + model.intercept_
        np.testing.assert_allclose(by_hand, model.decision_function(X), atol=1e-8)
        np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
        for name in ("support_vectors_", "dual_coef_", "intercept_", "n_support_", "support_"):
            assert type(getattr(model, name)) is np.ndarray and getattr(model, name).flags.c_contiguous
            assert getattr(model, name).dtype == getattr(twin, name).dtype
        assert model.n_support_.sum() == len(model.support_) == model.dual_coef_.shape[1]
        assert (np.sort(y[model.support_]) == y[model.support_]).all()  # by class, as LIBSVM has them


def test_pairs_of_classes_by_hand(svm: ModuleType) -> None:
    """The layout of dual_coef_ for three classes: row by row the coefficients against the other classes."""
    X, y = iris()
    model = svm.SVC(gamma=0.5, decision_function_shape="ovo").fit(X, y)
    ends = np.r_[0, np.cumsum(model.n_support_)]
    K = rbf_kernel(X, model.support_vectors_, gamma=0.5)
    columns = []
    for i in range(3):
        for j in range(i + 1, 3):
            of_i, of_j = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
            columns.append(K[:, of_i] @ model.dual_coef_[j - 1, of_i] + K[:, of_j] @ model.dual_coef_[i, of_j])
    by_hand = np.column_stack(columns) + model.intercept_
    np.testing.assert_allclose(by_hand, model.decision_function(X), atol=1e-8)
    assert_same_form(model.dual_coef_, np.empty((2, len(model.support_))))
    assert model.dual_coef_.flags.c_contiguous  # code that hands the array to C relies on it


def test_weights_by_the_names_of_features(svm: ModuleType) -> None:
    X, y = cancer()
    frame = pd.DataFrame(X[:, :6], columns=["radius", "texture", "perimeter", "area", "smoothness", "compactness"])
    tables = []
    for each in (svm, other(svm)):
        model = each.LinearSVC(C=0.1, tol=1e-8, max_iter=10**6).fit(frame, y)
        tables.append(pd.Series(model.coef_[0], index=model.feature_names_in_).sort_values(key=np.abs, ascending=False))
    assert tables[0].index.tolist() == tables[1].index.tolist()
    np.testing.assert_allclose(tables[0], tables[1], atol=1e-3)


def test_margin_and_plane_of_a_linear_machine(svm: ModuleType) -> None:
    """The figure of every lecture: the line w·x + b = 0, its margins, and the support vectors on them."""
    rng = np.random.RandomState(0)
    X = np.vstack([rng.randn(20, 2) - 2, rng.randn(20, 2) + 2])
    y = [0] * 20 + [1] * 20
    model, twin = (each.SVC(kernel="linear", C=1000).fit(X, y) for each in (svm, other(svm)))
    w, b = model.coef_[0], model.intercept_[0]
    slope, margin = -w[0] / w[1], 1 / np.sqrt(np.sum(model.coef_**2))
    assert slope == pytest.approx(-twin.coef_[0][0] / twin.coef_[0][1], rel=1e-2)
    assert margin == pytest.approx(1 / np.linalg.norm(twin.coef_), rel=1e-2)
    np.testing.assert_allclose(np.abs(model.support_vectors_ @ w + b), 1.0, atol=2e-3)
    xx, yy = np.meshgrid(np.linspace(-5, 5, 10), np.linspace(-5, 5, 10))
    Z = model.decision_function(np.c_[xx.ravel(), yy.ravel()]).reshape(xx.shape)
    lines = plt.contour(xx, yy, Z, levels=[-1, 0, 1])
    plt.scatter(model.support_vectors_[:, 0], model.support_vectors_[:, 1], facecolors="none", edgecolors="k")
    assert len(lines.get_paths()) == 3 and all(len(path.vertices) for path in lines.get_paths())


def test_support_vectors_of_a_linear_machine_by_its_margins(svm: ModuleType) -> None:
    X, y = cancer()
    model, twin = (each.LinearSVC(C=1, loss="hinge", tol=1e-8, max_iter=10**6).fit(X, y) for each in (svm, other(svm)))
    inside = [np.flatnonzero((2 * y - 1) * each.decision_function(X) <= 1 + 1e-3) for each in (model, twin)]
    np.testing.assert_array_equal(*inside)
    loss = hinge_loss(y, model.decision_function(X))
    assert loss == pytest.approx(np.maximum(0, 1 - (2 * y - 1) * (X @ model.coef_[0] + model.intercept_[0])).mean())
    objective = [
        0.5 * np.sum(each.coef_**2) + 0.5 * each.intercept_[0] ** 2 + len(y) * hinge_loss(y, each.decision_function(X))
        for each in (model, twin)
    ]
    assert objective[0] == pytest.approx(objective[1], rel=1e-4)


def test_importances_by_permutation(svm: ModuleType) -> None:
    X, y = cancer()
    frame = pd.DataFrame(X[:, :5], columns=list("abcde"))
    found, expected = (
        permutation_importance(each.SVC().fit(frame, y), frame, y, n_repeats=5, random_state=0)
        for each in (svm, other(svm))
    )
    assert found.importances.shape == (5, 5)
    np.testing.assert_allclose(found.importances_mean, expected.importances_mean, rtol=0, atol=2.1 / len(y))


def test_partial_dependence(svm: ModuleType) -> None:
    X, y = diabetes()
    model, twin = (each.SVR().fit(X, y) for each in (svm, other(svm)))
    found, expected = (partial_dependence(each, X, [2], grid_resolution=10) for each in (model, twin))
    assert_close_values(found["average"], expected["average"])
    assert found["average"][0, -1] > found["average"][0, 0]  # of the body mass
    shown = PartialDependenceDisplay.from_estimator(model, X, [2, (2, 8)], grid_resolution=5)
    assert shown.axes_.shape == (1, 2)
    classes = partial_dependence(
        svm.SVC().fit(*cancer()), cancer()[0], [0], grid_resolution=5, response_method="decision_function"
    )
    assert classes["average"].shape == (1, 5)


@pytest.mark.parametrize("response", ["predict", "decision_function"])
def test_decision_boundary(svm: ModuleType, response: str) -> None:
    X, y = cancer()
    frame = pd.DataFrame(X[:, :2], columns=["radius", "texture"])
    shown, expected = (
        DecisionBoundaryDisplay.from_estimator(
            each.SVC().fit(frame, y), frame, response_method=response, grid_resolution=20
        )
        for each in (svm, other(svm))
    )
    assert shown.ax_.get_xlabel() == "radius"
    assert_same_form(shown.response, expected.response)
    if response == "decision_function":
        assert_close_values(shown.response, expected.response)
    else:
        assert (shown.response == expected.response).mean() > 0.98


def test_boundaries_of_three_classes(svm: ModuleType) -> None:
    X, y = iris()
    model = make_pipeline(StandardScaler(), svm.SVC(gamma=0.7)).fit(X[:, :2], y)
    shown = DecisionBoundaryDisplay.from_estimator(model, X[:, :2], response_method="predict", grid_resolution=20)
    assert set(np.unique(shown.response)) == {0, 1, 2}
    one = DecisionBoundaryDisplay.from_estimator(
        model, X[:, :2], response_method="decision_function", class_of_interest=1, grid_resolution=20
    )
    assert one.response.shape == (20, 20)


def test_curves_of_decisions(svm: ModuleType) -> None:
    X, y = cancer()
    model, twin = (each.SVC(tol=1e-6).fit(X[:100], y[:100]) for each in (svm, other(svm)))
    roc, expected = (RocCurveDisplay.from_estimator(each, X[100:], y[100:]) for each in (model, twin))
    assert roc.roc_auc == pytest.approx(expected.roc_auc) and roc.line_.get_label().startswith("SVC (AUC")
    np.testing.assert_allclose(roc.tpr, expected.tpr)
    recall, expected = (PrecisionRecallDisplay.from_estimator(each, X[100:], y[100:]) for each in (model, twin))
    assert recall.average_precision == pytest.approx(expected.average_precision)
    det = DetCurveDisplay.from_estimator(model, X[100:], y[100:])
    assert det.fpr.shape == det.fnr.shape


def test_confusion_matrix(svm: ModuleType) -> None:
    X, y = iris()
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    shown, expected = (
        ConfusionMatrixDisplay.from_estimator(each.SVC(tol=1e-6).fit(X[::2], names[::2]), X[1::2], names[1::2])
        for each in (svm, other(svm))
    )
    np.testing.assert_array_equal(shown.confusion_matrix, expected.confusion_matrix)
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == ["setosa", "versicolor", "virginica"]


def test_displays_that_fit_by_themselves(svm: ModuleType) -> None:
    X, y = cancer()
    learned = LearningCurveDisplay.from_estimator(svm.SVC(), X, y, train_sizes=[0.3, 1.0], cv=3)
    assert learned.test_scores.shape == (2, 3) and learned.test_scores.min() > 0.8
    varied = ValidationCurveDisplay.from_estimator(svm.SVC(), X, y, param_name="C", param_range=[0.1, 1, 10], cv=3)
    assert varied.train_scores.mean(axis=1).argmax() == 2
    error = PredictionErrorDisplay.from_estimator(svm.SVR().fit(*diabetes()), *diabetes(), kind="residual_vs_predicted")
    assert len(error.y_pred) == 200


def test_a_notebooks_view_of_the_estimator(svm: ModuleType) -> None:
    model = make_pipeline(StandardScaler(), svm.SVC(C=3.5, gamma="auto"))
    assert "SVC" in estimator_html_repr(model) and "not fitted" in estimator_html_repr(model).lower()
    model.fit(*iris())
    shown = model._repr_html_()
    assert "3.5" in shown and "auto" in shown and "<span>Fitted</span>" in shown
    assert repr(model[-1]) == "SVC(C=3.5, gamma='auto')"
