"""Models fitted to the last digits, over estimators, libraries and options: certify states the very problem that each was fitted to."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

import gapless as gl

LIBRARIES: list[Any] = [gl, svm]
if importlib.util.find_spec("sklearnex"):
    from sklearnex import svm as intel

    LIBRARIES.append(intel)
every_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.__name__.partition(".")[0])
every_weight = pytest.mark.parametrize("weights", ["ones", "whole", "real"])
every_storage = pytest.mark.parametrize("storage", ["dense", "csr", "matrix", "function"])
every_class_weight = pytest.mark.parametrize("class_weight", [None, "balanced", "given"])
every_count = pytest.mark.parametrize("classes", [2, 3])
TOL, MOST = 1e-10, 1e-5  # LIBLINEAR's tol is not a gap, and the dual point of a model without one is found to 1e-5

N = 36
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 3))
SCORE = X @ [1.0, -1.0, 0.5] + 0.7 * RNG.normal(size=N)
LABELS = {2: np.digitize(SCORE, np.quantile(SCORE, [0.35])), 3: np.digitize(SCORE, np.quantile(SCORE, [0.25, 0.6]))}
TARGETS = SCORE + 0.3 * RNG.normal(size=N)
WEIGHTS = {"ones": None, "whole": RNG.integers(0, 4, N).astype(float), "real": RNG.uniform(0.3, 2.0, N)}
GIVEN = {2: {0: 1.0, 1: 3.0}, 3: {0: 1.0, 1: 2.0, 2: 0.5}}


def gaussian(A: Any, B: Any) -> np.ndarray:
    return np.exp(-0.3 * ((np.asarray(A)[:, None] - np.asarray(B)[None]) ** 2).sum(axis=2))


STORED: dict[str, tuple[Any, Any]] = {
    "dense": (X, "rbf"), "csr": (sp.csr_array(X), "linear"), "matrix": (gaussian(X, X), "precomputed"), "function": (X, gaussian)
}  # fmt: skip


def hold(make: Callable[[], Any], samples: Any, y: Any, weight: Any, most: float = MOST) -> None:
    """The fitted model has a small gap, by the compiled proof and by the one in NumPy; the zero optimum of a ν-form has a small absolute one."""
    model = make()
    given = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(samples, *([] if y is None else [y]), **given)
    for independent in (False, True):
        found = gl.certify(model, samples, y, independent=independent, **given)
        for part in found.parts or (found,):
            assert part.relative_gap <= most or part.gap <= 1e-9, (independent, part)


def options_of(storage: str, class_weight: Any, classes: int) -> dict[str, Any]:
    return {
        "kernel": STORED[storage][1], "tol": TOL, "class_weight": GIVEN[classes] if class_weight == "given" else class_weight
    }  # fmt: skip


@every_library
@every_count
@every_class_weight
@every_weight
@every_storage
def test_classifiers_by_pairs(library: Any, classes: int, class_weight: Any, weights: str, storage: str):
    options = options_of(storage, class_weight, classes)
    samples, y, weight = STORED[storage][0], LABELS[classes], WEIGHTS[weights]
    hold(lambda: library.SVC(**options), samples, y, weight)
    if (
        storage != "csr"
    ):  # where the classes overlap under a linear kernel, the optimum is zero, and LIBSVM's model anything
        hold(lambda: library.NuSVC(nu=0.15, **options), samples, y, weight)


@every_library
@every_weight
@every_storage
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 100.0])
def test_regressions(library: Any, weights: str, storage: str, epsilon: float):
    """Also without any support vector, where the tube holds all samples."""
    samples, kernel = STORED[storage]

    def run() -> None:
        hold(lambda: library.SVR(kernel=kernel, tol=TOL, epsilon=epsilon), samples, TARGETS, WEIGHTS[weights])

    # oneDAL keeps no intercept of a model without support vectors.
    if epsilon == 100.0 and library in LIBRARIES[2:] and storage in ("dense", "csr"):
        with pytest.raises(gl.errors.InvalidInputError, match="the model has no intercept"):
            run()
    else:
        run()


@every_library
@every_weight
@every_storage
@pytest.mark.parametrize(("nu", "C"), [(0.5, 1.0), (0.9, 0.01), (1.0, 0.1)])
def test_nu_regressions_with_open_and_closed_tubes(library: Any, weights: str, storage: str, nu: float, C: float):
    samples, kernel = STORED[storage]
    hold(lambda: library.NuSVR(kernel=kernel, tol=TOL, nu=nu, C=C), samples, TARGETS, WEIGHTS[weights])


@every_library
@every_weight
@every_storage
def test_novelty_detectors(library: Any, weights: str, storage: str):
    if not hasattr(library, "OneClassSVM"):
        pytest.skip("the library has none")
    samples, kernel = STORED[storage]
    if (
        storage == "csr"
    ):  # the origin is not to be within the data: the optimum would be zero, and LIBSVM's model anything
        samples = sp.csr_array(X + 2.0)
    hold(lambda: library.OneClassSVM(kernel=kernel, tol=TOL, nu=0.3), samples, None, WEIGHTS[weights])


@pytest.mark.parametrize("library", LIBRARIES[:2], ids=["gapless", "sklearn"])
@every_count
@every_class_weight
@every_weight
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["regularized", "far", "none", "free"])
def test_linear_classifiers(library: Any, classes: int, class_weight: Any, weights: str, loss: str, intercept: str):
    options: dict[str, Any] = {
        "loss": loss, "tol": 1e-9, "C": 0.3, "max_iter": 100_000, "fit_intercept": intercept != "none",
        "class_weight": GIVEN[classes] if class_weight == "given" else class_weight,
    }  # fmt: skip
    if intercept == "far":
        options["intercept_scaling"] = 4.0
    if intercept == "free":
        if library is svm:
            pytest.skip("scikit-learn's intercept is regularised")
        options["intercept"] = "free"
    for samples in (X, sp.csr_array(X)):
        hold(lambda: library.LinearSVC(**options), samples, LABELS[classes], WEIGHTS[weights], 1e-4)


@pytest.mark.parametrize("library", LIBRARIES[:2], ids=["gapless", "sklearn"])
@every_weight
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linear_regressions(library: Any, weights: str, loss: str, fit_intercept: bool):
    options = {"loss": loss, "tol": 1e-9, "C": 0.3, "max_iter": 100_000, "epsilon": 0.1, "fit_intercept": fit_intercept}
    for samples in (X, sp.csr_array(X)):
        hold(lambda: library.LinearSVR(**options), samples, TARGETS, WEIGHTS[weights], 1e-4)


def test_the_intercept_of_a_nu_regression_counts():
    model = gl.NuSVR(tol=1e-8).fit(X, TARGETS)
    honest = gl.certify(model, X, TARGETS)
    model.intercept_ = model.intercept_ + 0.5
    tampered = gl.certify(model, X, TARGETS)
    assert honest.relative_gap < 1e-6 and tampered.primal > 1.01 * honest.primal and tampered.dual == honest.dual


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("independent", [False, True])
def test_weights_alone_are_judged_with_the_best_intercept(loss: str, intercept: Any, independent: bool):
    problem = gl.Problem(X + 1.0, LABELS[2], loss=loss, intercept=intercept)
    best = gl.solve(problem, tol=1e-12).certified
    found = gl.certify(problem, gl.Point(w=best.w), independent=independent)
    assert found.primal == pytest.approx(best.certificate.primal, rel=1e-9)
    with_b = gl.certify(problem, gl.Point(w=best.w, b=found.point.b), independent=independent)
    assert (found.primal, found.dual) == pytest.approx((with_b.primal, with_b.dual), rel=1e-9)
    if loss != "hinge":  # a smooth loss has one β at w and b, the optimum's
        assert found.relative_gap < 1e-6
