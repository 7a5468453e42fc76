"""Arrays of other libraries under ``array_api_dispatch``: run by ``test_array_api.py`` in a process where SciPy allows it (SCIPY_ARRAY_API=1).

scikit-learn's own checks go through a pipeline of one step: they also ask that fitted attributes be arrays of X's library, and that a model refuse
to predict what comes from another one, which ours does not (docs/estimators.md). A pipeline shows them the methods alone.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import clone, config_context
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils._array_api import yield_namespace_device_dtype_combinations

import gapless as gl
from gapless import features
from gapless.estimators.relatives import KernelPCA, KernelRidge

strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
try:
    import torch
except ImportError:
    torch = None

MODELS = [getattr(gl.estimators, name)() for name in gl.estimators.__all__] + [KernelRidge()]
for model in MODELS:
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
MAPS = [
    features.Distance(random_state=0), features.NetworkFeatures(np.tanh), features.Nystroem(5, random_state=0), features.Polar(),
    features.Polynomial(), features.RandomFourier(5, random_state=0), KernelPCA(3, fit_inverse_transform=True),
]  # fmt: skip
NAMESPACES = [
    pytest.param("array_api_strict", id="strict"),
    pytest.param("torch", id="torch", marks=pytest.mark.skipif(torch is None, reason="PyTorch is not installed")),
]
LIBRARIES = [
    pytest.param(strict, id="strict"),
    pytest.param(torch, id="torch", marks=pytest.mark.skipif(torch is None, reason="PyTorch is not installed")),
]
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
TARGETS = X[:, 0] + 0.3 * rng.normal(size=40)
LABELS = np.where(TARGETS > 0, 7, np.where(TARGETS > -0.5, 3, 1))


def targets_of(model):
    return LABELS if is_classifier(model) else TARGETS if is_regressor(model) else None


def same(found, expected, library):
    """An array of the library with the values and the type of NumPy's."""
    assert type(found) is type(library.asarray(expected))
    back = np.asarray(found)
    assert back.dtype == expected.dtype
    assert_allclose(back, expected)


def test_every_estimator_and_map_is_here():
    assert {type(each).__name__ for each in MAPS} - {"KernelPCA"} == set(features.__all__)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("estimator", MODELS + MAPS, ids=lambda each: type(each).__name__)
def test_scikit_learns_check(estimator, namespace, dtype):
    estimator_checks.check_array_api_input_and_values("pipeline", make_pipeline(estimator), namespace, None, dtype)


@pytest.mark.parametrize("estimator", MODELS + MAPS, ids=lambda each: type(each).__name__)
def test_dispatch_changes_nothing_for_arrays_of_numpy(estimator):
    estimator_checks.check_array_api_input(
        type(estimator).__name__, estimator, "numpy", expect_only_array_outputs=False
    )


def test_the_namespaces_are_those_of_scikit_learn():
    assert {"array_api_strict", "torch"} <= {name for name, _, _ in yield_namespace_device_dtype_combinations()}


@pytest.mark.skipif(
    not hasattr(estimator_checks, "check_array_api_mixed_inputs"), reason="this scikit-learn has no such check"
)
@pytest.mark.parametrize("estimator", MODELS, ids=lambda each: type(each).__name__)
def test_scikit_learns_check_of_targets_from_another_library(estimator):
    from sklearn.utils._array_api import yield_mixed_namespace_input_permutations

    checked = 0
    for other, own, _ in yield_mixed_namespace_input_permutations():
        try:
            estimator_checks.check_array_api_mixed_inputs("pipeline", make_pipeline(estimator), own, other)
            checked += 1
        except estimator_checks.SkipTest:  # a library or a device that is not here
            continue
    assert checked


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("model", MODELS, ids=lambda each: type(each).__name__)
def test_weights_labels_and_intervals_are_the_callers(model, library):
    y = targets_of(model)
    weighted = "sample_weight" in inspect.signature(model.fit).parameters
    weights = {"sample_weight": np.arange(40) % 3 + 1.0} if weighted else {}
    expected = clone(model).fit(X, y, **weights)
    theirs = library.asarray(X)
    with config_context(array_api_dispatch=True):
        found = clone(model).fit(
            theirs,
            None if y is None else library.asarray(y),
            **{name: library.asarray(value) for name, value in weights.items()},
        )
        for name in ("predict", "decision_function", "decision_interval"):
            if hasattr(expected, name):
                answer, wanted = getattr(found, name)(theirs), getattr(expected, name)(X)
                pairs = zip(answer, wanted, strict=True) if isinstance(wanted, tuple) else [(answer, wanted)]
                for one, other in pairs:
                    same(one, other, library)
        assert isinstance(found.predict(X), np.ndarray)  # a model knows no library of its own
        if y is not None:
            assert found.score(theirs, library.asarray(y)) == pytest.approx(expected.score(X, y), rel=1e-12)
        same(expected.predict(theirs), expected.predict(X), library)
    arrays = [name for name, value in vars(expected).items() if isinstance(value, np.ndarray)]
    assert arrays and all(isinstance(getattr(found, name), np.ndarray) for name in arrays)
    if hasattr(found, "certificate_"):
        assert str(found.certificate_) == str(expected.certificate_)


@pytest.mark.parametrize("library", LIBRARIES)
def test_labels_that_are_texts_stay_numpys(library):
    names = np.array(["low", "middle", "high"])[(TARGETS > -0.5).astype(int) + (TARGETS > 0)]
    with config_context(array_api_dispatch=True):
        model = gl.SVC().fit(library.asarray(X), names)
        found = model.predict(library.asarray(X))
        assert isinstance(found, np.ndarray) and found.dtype.kind == "U"
        assert model.score(library.asarray(X), names) == (found == names).mean()
        assert type(model.decision_function(library.asarray(X))) is type(library.asarray(X))


def test_answers_are_on_the_device_of_the_samples():
    device = strict.Device("device1")
    there = strict.asarray(X, device=device)
    with config_context(array_api_dispatch=True):
        model = gl.SVC().fit(there, strict.asarray(LABELS, device=device))
        assert model.predict(there).device == device
        assert {each.device for each in model.decision_interval(there)} == {device}
        assert features.Polynomial().fit_transform(there).device == device
    with pytest.raises(gl.errors.InvalidInputError) as caught:
        gl.SVC().fit(there, LABELS)
    assert (
        "X is an array of array_api_strict on the device array_api_strict.Device('device1'), which NumPy cannot read"
        in str(caught.value)
    )
    assert str(caught.value).endswith(
        "; Gapless computes on the CPU: copy X there first, or call under sklearn.config_context(array_api_dispatch=True), which copies it."
    )


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_a_tensor_that_records_gradients_is_read_without_them():
    theirs = torch.asarray(X).requires_grad_()
    with config_context(array_api_dispatch=True):
        found = gl.SVR().fit(theirs, torch.asarray(TARGETS)).predict(theirs)
    assert not found.requires_grad
    assert_allclose(found.numpy(), gl.SVR().fit(X, TARGETS).predict(X))


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_a_class_derived_from_tensor_is_answered_by_pytorch():
    class Named(torch.Tensor):
        pass

    with config_context(array_api_dispatch=True):
        assert isinstance(gl.SVR().fit(X, TARGETS).predict(torch.asarray(X).as_subclass(Named)), torch.Tensor)


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_searches_and_scores_take_tensors():
    theirs, labels = torch.asarray(X), torch.asarray(LABELS)
    search = GridSearchCV(gl.SVC(), {"C": [0.1, 10.0]}, cv=3)
    expected = clone(search).fit(X, LABELS)
    with config_context(array_api_dispatch=True):
        assert search.fit(theirs, labels).best_params_ == expected.best_params_
        assert isinstance(search.predict(theirs), torch.Tensor)
        assert_allclose(
            cross_val_score(gl.LinearSVR(), theirs, torch.asarray(TARGETS)), cross_val_score(gl.LinearSVR(), X, TARGETS)
        )


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_the_example_of_the_page():
    page = (Path(__file__).resolve().parents[2] / "docs" / "estimators.md").read_text(encoding="utf-8")
    section = page.partition("## Arrays of other libraries\n")[2].partition("\n## ")[0]
    names = {"SVC": gl.SVC, "X": X, "y": LABELS}
    exec(re.search(r"```python\n(.+?)```", section, flags=re.DOTALL)[1], names)
    same(names["labels"], gl.SVC().fit(X, LABELS).predict(X), torch)


class OnADevice:
    """An array as CuPy's: NumPy may not read it, ``get`` copies it, and ``asarray`` makes arrays on the current device."""

    def __init__(self, values, device="gpu:0"):
        self.values, self.device = values, device

    __cuda_array_interface__ = property(lambda self: {})

    def __array__(self, *args, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_namespace__(self, api_version=None):
        return Library

    def get(self):
        return self.values


class Library:
    asarray = staticmethod(lambda values: OnADevice(values))


def test_arrays_like_cupys_are_copied_there_and_back():
    with config_context(array_api_dispatch=True):
        model = gl.SVC().fit(OnADevice(X), OnADevice(LABELS))
        found = model.predict(OnADevice(X))
    assert type(found) is OnADevice
    assert_allclose(found.get(), gl.SVC().fit(X, LABELS).predict(X))
