"""skops.io: a file of a fitted estimator, read back with nothing trusted but the estimator's class and the kernels that were given to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.kernels import RBF, Linear
from tests.packages.installed import Package
from tests.store.models import CASES, Case, data, fitted
from tests.store.test_state import assert_same

skops_io = Package("skops.io")


def round_trip(model: Any, expected: set[str]) -> Any:
    """The model read back, where ``expected`` are the only types of ours that skops asks about. It asks about SciPy's and scikit-learn's too."""
    stored = skops_io.dumps(model)
    untrusted = skops_io.get_untrusted_types(data=stored)
    assert {each for each in untrusted if not each.startswith(("scipy.", "sklearn."))} == expected
    return skops_io.loads(stored, trusted=untrusted)


def name_of(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


@pytest.mark.parametrize("case", [case for case in CASES if case.kernel not in ("composite", "nested")], ids=str)
def test_only_the_class_is_to_be_trusted(case: Case) -> None:
    model, X = fitted(case)
    again = round_trip(model, {name_of(type(model))})
    assert_same(again, model, X)
    assert again.get_params() == model.get_params()


def test_a_kernel_that_was_given_is_to_be_trusted_too() -> None:
    X, y = data(3)
    model = gl.SVC(kernel=RBF(0.5) + Linear()).fit(X, y)
    kernels = {name_of(type(each)) for each in (model.kernel, model.kernel.left, model.kernel.right)}
    assert_same(round_trip(model, {name_of(gl.SVC), *kernels}), model, X)


def test_a_search_over_a_pipeline() -> None:
    X, y = data(2)
    search = GridSearchCV(make_pipeline(StandardScaler(), gl.SVC()), {"svc__C": [1, 10]}).fit(X, y)
    again = round_trip(search, {name_of(gl.SVC)})
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))
    assert again.best_estimator_[-1].certificate_ == search.best_estimator_[-1].certificate_
