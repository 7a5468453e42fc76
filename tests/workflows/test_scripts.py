"""What scripts, tutorials and exporters do with support vector machines beyond fit and predict."""

from __future__ import annotations

import inspect
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sklearn.svm
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_linnerud, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score, top_k_accuracy_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler, label_binarize
from sklearn.utils.validation import has_fit_parameter

import gapless
from tests.estimators.data import cancer, iris
from tests.workflows.agreement import assert_same_form, other

NAMES = ("SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "OneClassSVM")


def test_first_steps_of_the_user_guide(svm: ModuleType) -> None:
    model = svm.SVC().fit([[0, 0], [1, 1]], [0, 1])
    assert model.predict([[2.0, 2.0]]).tolist() == [1]
    assert model.support_vectors_.tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert model.support_.tolist() == [0, 1] and model.n_support_.tolist() == [1, 1]
    four = svm.SVC(decision_function_shape="ovo").fit([[0], [1], [2], [3]], [0, 1, 2, 3])
    assert four.decision_function([[1]]).shape == (1, 6)
    four.decision_function_shape = "ovr"
    assert four.decision_function([[1]]).shape == (1, 4)
    assert svm.LinearSVC().fit([[0], [1], [2], [3]], [0, 1, 2, 3]).decision_function([[1]]).shape == (1, 4)
    points = np.array([[3, 4], [1, 4], [2, 3], [6, -1], [7, -1], [5, -3]])
    hard = svm.SVC(C=1e5, kernel="linear").fit(points, [-1, -1, -1, 1, 1, 1])
    np.testing.assert_allclose(hard.coef_, [[0.25, -0.25]], atol=1e-3)
    np.testing.assert_allclose(hard.intercept_, [-0.75], atol=1e-2)
    assert hard.support_.tolist() == [2, 3] and hard.n_support_.dtype == np.int32


def test_signatures_and_defaults(svm: ModuleType) -> None:
    """Every parameter of the one is a parameter of the other, with its default; calls by place or by name work alike."""
    for name in NAMES:
        cls, theirs = getattr(svm, name), getattr(sklearn.svm, name)
        defaults = cls().get_params()
        assert {key: defaults[key] for key in theirs().get_params()} == theirs().get_params()
        for method in ("fit", "predict", "decision_function", "score", "fit_predict", "score_samples"):
            if hasattr(theirs, method):
                found, expected = (inspect.signature(getattr(each, method)).parameters for each in (cls, theirs))
                assert list(found) == list(expected)
                assert [each.default for each in found.values()] == [each.default for each in expected.values()]
        assert has_fit_parameter(cls(), "sample_weight")


def test_what_exporters_to_other_languages_read(svm: ModuleType) -> None:
    """Generators of C and Java read the coefficients in LIBSVM's signs, the resolved gamma, and the counts by class."""
    X, y = iris()
    for labels in (y, (y == 2).astype(int)):
        model, twin = (each.SVC(tol=1e-6).fit(X, labels) for each in (svm, other(svm)))
        assert model._gamma == pytest.approx(twin._gamma) and model._gamma == pytest.approx(1 / (4 * X.var()))
        assert_same_form(model._intercept_, twin._intercept_)
        np.testing.assert_allclose(model._intercept_, twin._intercept_, atol=1e-3)
        np.testing.assert_array_equal(model._n_support, model.n_support_)
        sign = -1.0 if len(model.classes_) == 2 else 1.0
        np.testing.assert_array_equal(sign * model._dual_coef_, model.dual_coef_)
        np.testing.assert_array_equal(sign * model._intercept_, model.intercept_)


def test_a_model_written_as_plain_numbers(svm: ModuleType) -> None:
    """tolist of every attribute, and the decision computed in pure Python from it."""
    X, y = cancer()
    model = svm.SVC(gamma=0.02).fit(X, y)
    vectors, alphas, b = model.support_vectors_.tolist(), model.dual_coef_[0].tolist(), float(model.intercept_[0])
    for x, expected in zip(X[:5].tolist(), model.decision_function(X[:5]), strict=True):
        squares = [sum((p - q) ** 2 for p, q in zip(x, v, strict=True)) for v in vectors]
        assert sum(a * np.exp(-0.02 * s) for a, s in zip(alphas, squares, strict=True)) + b == pytest.approx(expected)
    linear = svm.LinearSVC(C=0.1).fit(X, y)
    weights, b = linear.coef_.tolist()[0], linear.intercept_.tolist()[0]
    assert sum(w * v for w, v in zip(weights, X[0], strict=True)) + b == pytest.approx(
        linear.decision_function(X[:1])[0]
    )


def test_weights_and_thresholds_changed_by_hand(svm: ModuleType) -> None:
    """Attributes of a linear machine are its own to change: rounded, shifted, or set from elsewhere."""
    X, y = cancer()
    model = svm.LinearSVC(C=0.1).fit(X, y)
    model.coef_ = np.round(model.coef_, 2)
    model.intercept_ += 0.5
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0], atol=1e-12)
    made = svm.LinearSVC()
    made.coef_, made.intercept_, made.classes_ = np.ones((1, 30)), np.array([-1.0]), np.array(["low", "high"])
    np.testing.assert_array_equal(made.predict(X), np.where(X.sum(axis=1) > 1.0, "high", "low"))
    kernel = svm.SVC(kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match="read-only"):
        kernel.coef_[0, 0] = 0.0


def test_sparse_weights(svm: ModuleType) -> None:
    X, y = cancer()
    model = svm.LinearSVC(penalty="l1", dual=False, C=0.05).fit(X, y)
    before = model.decision_function(X)
    assert model.sparsify() is model and type(model.coef_).__name__.startswith("csr")
    np.testing.assert_allclose(model.decision_function(X), before, atol=1e-12)
    assert type(model.densify().coef_) is np.ndarray


def test_votes_ties_and_shapes(svm: ModuleType) -> None:
    X, y = make_blobs(random_state=27, n_samples=100)
    broken, plain = (svm.SVC(kernel="linear", C=1, break_ties=ties, tol=1e-6).fit(X, y) for ties in (True, False))
    xs = np.linspace(X[:, 0].min() - 1, X[:, 0].max() + 1, 40)
    ys = np.linspace(X[:, 1].min() - 1, X[:, 1].max() + 1, 40)
    grid = np.array(np.meshgrid(xs, ys)).reshape(2, -1).T
    decisions = broken.decision_function(grid)
    np.testing.assert_array_equal(broken.predict(grid), decisions.argmax(axis=1))
    assert (broken.predict(grid) != plain.predict(grid)).any()  # where each class has one vote
    np.testing.assert_array_equal(decisions, plain.decision_function(grid))
    pairs = plain.set_params(decision_function_shape="ovo").decision_function(grid)
    assert pairs.shape == (1600, 3)


def test_curves_of_three_classes(svm: ModuleType) -> None:
    X, y = iris()
    targets = label_binarize(y, classes=[0, 1, 2])
    areas = []
    for each in (svm, other(svm)):
        model = OneVsRestClassifier(each.SVC(kernel="linear", tol=1e-6)).fit(X[::2], targets[::2])
        areas.append(roc_auc_score(targets[1::2], model.decision_function(X[1::2]), average="micro"))
    assert areas[0] == pytest.approx(areas[1], abs=1e-3)
    scores = svm.SVC().fit(X[::2], y[::2]).decision_function(X[1::2])
    assert top_k_accuracy_score(y[1::2], scores, k=2) > 0.98


def test_fits_and_predictions_on_threads(svm: ModuleType) -> None:
    X, y = iris()
    model = svm.SVC().fit(X, y)
    parts = Parallel(2, backend="threading")(delayed(model.predict)(part) for part in np.array_split(X, 5))
    np.testing.assert_array_equal(np.concatenate(parts), model.predict(X))
    fitted = Parallel(2, backend="threading")(delayed(svm.SVC(C=c).fit)(X, y) for c in (0.1, 1, 10))
    for each, c in zip(fitted, (0.1, 1, 10), strict=True):
        np.testing.assert_array_equal(each.dual_coef_, svm.SVC(C=c).fit(X, y).dual_coef_)


def test_a_bound_on_iterations_warns(svm: ModuleType) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for machine, words in (
        (svm.SVC(max_iter=3), r"Solver terminated early \(max_iter=3\).  Consider pre-processing your data"),
        (svm.LinearSVC(max_iter=2), "Liblinear failed to converge, increase the number of iterations"),
        (svm.LinearSVC(max_iter=2, penalty="l1", dual=False), "Liblinear failed to converge"),
    ):
        with pytest.warns(ConvergenceWarning, match=words):
            model = machine.fit(X, y)
        assert np.max(model.n_iter_) == machine.max_iter
        assert model.predict(X).shape == y.shape
    assert svm.SVC(max_iter=-1).fit(*cancer()).fit_status_ == 0


def test_verbose_changes_nothing_but_what_is_told(svm: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    """LIBSVM prints wherever it runs, Gapless on a terminal alone: the model is the same, and without ``verbose`` both are silent."""
    X, y = cancer()
    for name, loud, quiet in (("SVC", True, False), ("LinearSVC", 1, 0)):
        told = getattr(svm, name)(C=0.1, verbose=loud).fit(X, y)
        capfd.readouterr()
        silent = getattr(svm, name)(C=0.1, verbose=quiet).fit(X, y)
        assert capfd.readouterr() == ("", "")
        np.testing.assert_array_equal(told.decision_function(X), silent.decision_function(X))


def test_masked_arrays_of_which_nothing_is_masked(svm: ModuleType) -> None:
    """What readers of NetCDF and FITS files return."""
    X, y = iris()
    for machine in (svm.SVC(), svm.LinearSVC(C=0.1)):
        model = machine.fit(np.ma.masked_array(X), np.ma.masked_array(y))
        assert type(model.predict(np.ma.masked_array(X))) is np.ndarray and type(model.classes_) is np.ndarray
        assert model.score(X, y) > 0.9


DATA: dict[str, Any] = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("scaled", [False, True], ids=["as it is", "scaled"])
def test_without_a_bound_every_fit_of_a_small_data_set_converges(name: str, scaled: bool) -> None:
    """``max_iter=-1`` on real data, scaled or not: no warning of a bound, and each certificate within tol. scikit-learn's would take minutes here."""
    X, y = DATA[name](return_X_y=True)
    X = StandardScaler().fit_transform(X) if scaled else X
    machines: list[Any] = [
        *(gapless.SVC(kernel=kernel, C=C) for kernel in ("linear", "rbf", "poly", "sigmoid") for C in (1.0, 1e4)),
        *(gapless.SVC(kernel="poly", gamma="auto", C=C) for C in (1.0, 1e4)),
        *(gapless.NuSVC(kernel=kernel, nu=0.1) for kernel in ("linear", "rbf", "poly")),
        *(gapless.OneClassSVM(kernel=kernel, nu=nu) for kernel in ("linear", "rbf", "poly") for nu in (0.1, 0.5)),
    ]
    for machine in machines:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if scaled:  # the origin is the mean of the samples, so that a linear one-class machine learns nothing
                warnings.filterwarnings("ignore", r"The optimum of OneClassSVM with nu=0\.\d is zero", UserWarning)
            machine.fit(X, y)
        assert machine.fit_status_ == 0, machine
        assert max(each.kkt_violation for each in machine.certificates_) <= machine.tol, machine


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("load", [load_diabetes, lambda: load_linnerud()], ids=["diabetes", "linnerud"])
def test_without_a_bound_every_regression_converges(load: Any, kernel: str) -> None:
    data = load()
    X, y = data.data, data.target if data.target.ndim == 1 else data.target[:, 0]
    for machine in (cls(kernel=kernel, C=C) for cls in (gapless.SVR, gapless.NuSVR) for C in (1.0, 1e4)):
        machine.fit(X, y)
        assert machine.fit_status_ == 0 and machine.certificate_.relative_gap <= machine.tol, machine
