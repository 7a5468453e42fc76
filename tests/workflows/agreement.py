"""What it means that two fitted models agree, and where the other one comes from."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import sklearn.svm

import gapless

NAMESPACES: dict[str, ModuleType] = {"sklearn": sklearn.svm, "gapless": gapless}


def other(svm: ModuleType) -> ModuleType:
    """The namespace that ``svm`` is compared with."""
    return gapless if svm is sklearn.svm else sklearn.svm


def assert_same_form(result: Any, expected: Any) -> None:
    """The two arrays have one type, shape and kind of numbers; code that goes on with them sees no difference."""
    assert type(result) is type(expected)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype


def assert_same_labels(model: Any, twin: Any, X: Any, *, near: float = 0.02) -> None:
    """Labels are equal wherever a decision is not near zero; of more than two classes, wherever the best two are not near each other.

    Default tolerances leave decisions known to about 1e-3 times the largest coefficients, so that ``near`` is several of that.
    """
    labels, expected = model.predict(X), twin.predict(X)
    assert_same_form(labels, expected)
    np.testing.assert_array_equal(model.classes_, twin.classes_)
    decisions = twin.decision_function(X)
    assert_same_form(model.decision_function(X), decisions)
    if decisions.ndim == 1:
        clear = np.abs(decisions) > near
    else:
        second, first = np.sort(decisions, axis=1)[:, -2:].T
        clear = first - second > near
    assert clear.mean() > 0.8  # else there would be little to compare
    np.testing.assert_array_equal(labels[clear], expected[clear])


def assert_close_values(values: np.ndarray, expected: np.ndarray, *, share: float = 0.01) -> None:
    """Predicted numbers differ by no more than a share of their spread."""
    assert_same_form(values, expected)
    np.testing.assert_allclose(values, expected, rtol=0, atol=share * float(np.ptp(expected)))
