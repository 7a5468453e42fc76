"""A fit of every estimator, as a digest of all numbers that it has learned.

As a script this makes the fits where it is told to, and prints the digests: in the ``main`` thread, in another ``thread``, in ``several`` threads at
once, or in ``workers``, processes of joblib.

The data are drawn number by number: a product in BLAS would make them depend on its threads.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier, is_regressor

import gapless as gl
from gapless.model_selection import GridSearchCV

N, D = 3000, 8  # so many that BLAS would share its work among threads in most of the fits
# The matrices of these fits have n² entries, and their factorisations take n³ multiplications: fewer samples do.
_DENSE = ("KernelFisherDiscriminant", "KernelLogisticRegression", "KernelPCA", "KernelPerceptron", "KernelRidge")
_GRIDS: dict[str, dict[str, Any]] = {
    "SVCCV": {"Cs": [1.0, 10.0], "gammas": [0.01, 0.1]},
    "SVRCV": {"Cs": [1.0, 10.0], "gammas": [0.1], "epsilons": [0.1]},
    "LinearSVCCV": {"Cs": [0.1, 1.0]},
    "LinearSVRCV": {"Cs": [0.1, 1.0], "epsilons": [0.1]},
    "KernelPCA": {"n_components": 5},
}


@cache
def _data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=N)
    return X, np.digitize(score, [-0.7, 0.7]), score


@cache
def jobs() -> dict[str, Callable[[], Any]]:
    """Of each fit its name, and what makes it."""
    X, y, score = _data()
    found: dict[str, Callable[[], Any]] = {}

    def add(name: str, estimator: Any, data: Any, target: Any) -> None:
        found[name] = lambda: clone(estimator).fit(data) if target is None else clone(estimator).fit(data, target)

    for name in gl.__all__:
        if not hasattr(getattr(gl, name), "fit"):
            continue
        estimator = getattr(gl, name)(**_GRIDS.get(name, {}))
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
        n = 700 if name in _DENSE else 400 if name.endswith("CV") else N
        target = score if is_regressor(estimator) else y if is_classifier(estimator) else None
        add(name, estimator, X[:n], None if target is None else target[:n])
    sparse = sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    add("SVC of sparse rows", gl.SVC(C=10.0), sparse, y)
    add("SVR of sparse rows", gl.SVR(C=10.0), sparse, score)
    add("LinearSVC with l1", gl.LinearSVC(penalty="l1", C=10.0), X, y)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    add("GridSearchCV of SVC", GridSearchCV(gl.SVC(), grid, cv=3), X[:1200], y[:1200])
    return found


def _numbers(model: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The learned numbers of a model, by name; not the times, nor what is told by objects."""
    for name in sorted(vars(model)):
        value = getattr(model, name)
        if name.endswith("_") and name != "trace_" and not name.endswith("time_"):
            if sp.issparse(value):
                value = value.toarray()
            if name == "cv_results_":
                value = np.array([value[key] for key in sorted(value) if "score" in key and "time" not in key])
            if isinstance(value, (np.ndarray, float, int)) and np.asarray(value).dtype != object:
                yield name, np.ascontiguousarray(value)
    if hasattr(model, "best_estimator_"):
        yield from _numbers(model.best_estimator_)


def digest(model: Any) -> str:
    """One short word for all numbers of a model, and for what it says of the samples."""
    found = hashlib.sha256()
    for name, value in _numbers(model):
        found.update(name.encode())
        found.update(value.tobytes())
    X = _data()[0][:, : model.n_features_in_]
    for name in ("decision_function", "predict", "transform"):
        if hasattr(model, name):
            found.update(np.ascontiguousarray(getattr(model, name)(X)).tobytes())
    return found.hexdigest()[:16]


def digest_of(name: str) -> str:
    """The digest of a fit, by its name: what a worker process is asked for."""
    return digest(jobs()[name]())


def digests(where: str) -> dict[str, list[str]]:
    """The digests of all fits, each of them from as many places as there are."""
    names = list(jobs())
    if where == "main":
        return {name: [digest_of(name)] for name in names}
    if where == "workers":
        from tests.estimators.fits_to_compare import digest_of as task  # by a name that the workers can import

        return {
            name: [each] for name, each in zip(names, Parallel(2)(delayed(task)(name) for name in names), strict=True)
        }
    count = 1 if where == "thread" else 2
    with ThreadPoolExecutor(count) as pool:
        orders = [names, names[::-1]][:count]
        done = list(pool.map(lambda order: {name: digest_of(name) for name in order}, orders))
    return {name: [each[name] for each in done] for name in names}


if __name__ == "__main__":
    print(json.dumps(digests(sys.argv[1])))
