"""What the docstrings of the estimators list is what the estimators have: no parameter and no fitted attribute is missing, and none is made up."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import gapless as gl
from gapless.estimators.documented import documented

_rng = np.random.default_rng(0)
Y = np.arange(30) % 3
X = _rng.normal(size=(30, 2)) + 3.0 * (1 + Y)[:, None]  # no ν-form's optimum is zero

SHARED = [
    gl.SVC(kernel="linear"), gl.NuSVC(kernel="linear", nu=0.2), gl.LinearSVC(), gl.SVR(kernel="linear"), gl.NuSVR(kernel="linear"), gl.LinearSVR(),
    gl.OneClassSVM(kernel="linear"),
]  # fmt: skip
OWN = [
    gl.KernelPerceptron(form="averaged"),
    gl.KernelLogisticRegression(),
    gl.KernelFisherDiscriminant(),
    gl.KernelRidge(),
    gl.KernelPCA(),
]


def listed(cls, title):
    """{name: the rest of its line} of a section of a docstring."""
    lines = inspect.getdoc(cls).splitlines()
    begin = next(k for k in range(len(lines) - 1) if lines[k] == title and set(lines[k + 1]) == {"-"}) + 2
    end = next((k for k in range(begin, len(lines) - 1) if lines[k] and set(lines[k + 1]) == {"-"}), len(lines))
    found = {}
    for line in lines[begin:end]:
        if line and not line.startswith(" "):
            names, _, rest = line.partition(" : ")
            found.update(dict.fromkeys(re.split(r", *", names), rest))
    return found


@pytest.mark.parametrize("model", SHARED + OWN, ids=lambda model: type(model).__name__)
def test_every_parameter_is_explained(model):
    parameters = inspect.signature(type(model)).parameters
    assert list(listed(type(model), "Parameters")) and set(listed(type(model), "Parameters")) == set(parameters)


@pytest.mark.parametrize("model", SHARED, ids=lambda model: type(model).__name__)
def test_defaults_are_those_of_the_constructor(model):
    lines = listed(type(model), "Parameters")
    for name, parameter in inspect.signature(type(model)).parameters.items():
        assert lines[name].endswith(f", default {parameter.default!r}")


@pytest.mark.filterwarnings("ignore:Attribute `prob:FutureWarning")
@pytest.mark.parametrize("model", SHARED, ids=lambda model: type(model).__name__)
def test_attributes_are_those_that_a_fit_sets(model):
    model.fit(X, Y)
    names = set(listed(type(model), "Attributes"))
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public <= names
    assert all(hasattr(model, name) for name in names - {"feature_names_in_"})


def test_a_parameter_without_an_explanation_is_an_error():
    class Model:
        """A model."""

        def __init__(self, *, unheard_of: int = 1) -> None: ...

    with pytest.raises(KeyError, match="unheard_of"):
        documented("")(Model)


def test_a_class_without_a_docstring_stays_so():
    class Model:
        def __init__(self, *, tol: float = 1.0) -> None: ...

    assert documented("")(Model).__doc__ is None
