"""Probabilities come from CalibratedClassifierCV, and the messages say so."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV

import gapless as gl
from gapless.errors import InvalidInputError
from tests.estimators.data import cancer, iris

REMEDY = "For calibrated probabilities wrap the estimator: sklearn.calibration.CalibratedClassifierCV(SVC(), ensemble=False)."


@pytest.mark.parametrize("data", [cancer, iris])
@pytest.mark.parametrize("cls", [gl.SVC, gl.NuSVC])
def test_the_remedy_works(cls, data):
    X, y = data()
    model = CalibratedClassifierCV(cls(), ensemble=False).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (model.classes_[probabilities.argmax(axis=1)] == y).mean() > 0.9


@pytest.mark.parametrize("cls", [gl.SVC, gl.NuSVC])
def test_probability_is_refused(cls):
    with pytest.raises(InvalidInputError) as caught:
        cls(probability=True).fit(*cancer())
    assert str(caught.value) == f"probability=True is not offered. {REMEDY}"


@pytest.mark.parametrize("cls", [gl.SVC, gl.NuSVC])
def test_probability_false_is_superfluous(cls):
    with pytest.warns(FutureWarning) as caught:
        cls(probability=False).fit(*cancer())
    assert str(caught[0].message) == (
        f"The `probability` parameter is deprecated in scikit-learn and not offered here; leave it out. {REMEDY}"
    )
    assert caught[0].filename == __file__


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_methods_are_absent_with_a_word(method):
    model = gl.SVC().fit(*cancer())
    assert not hasattr(model, method)
    with pytest.raises(AttributeError) as caught:
        getattr(model, method)
    assert str(caught.value) == f"SVC has no {method}. {REMEDY}"
