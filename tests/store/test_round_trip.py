"""A loaded model is the saved one: predictions to the last bit, parameters, attributes, certificate and trace."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF as GaussianProcessRBF

import gapless as gl
from gapless.errors import UnsupportedError
from gapless.kernels import RBF, FeatureMapKernel, FunctionKernel, Linear, Precomputed, Stationary
from gapless.store import describe, register
from tests.store.models import CASES, Case, data, fitted, outputs

# What a fit leaves behind and a file does not keep: the training samples of a kernel that is a function, which is not saved at all.
TRANSIENT = {"_X_fit"}


def _same(a: Any, b: Any) -> bool:
    if sp.issparse(a):
        return (
            type(a) is type(b)
            and a.shape == b.shape
            and all(_same(getattr(a, each), getattr(b, each)) for each in ("data", "indices", "indptr"))
        )
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and a.tolist() == b.tolist()
            and a.flags.f_contiguous == b.flags.f_contiguous
        )
    if is_dataclass(a) or isinstance(a, list | tuple):
        parts = [(vars(each).values() if is_dataclass(each) else each) for each in (a, b)]
        return type(a) is type(b) and all(map(_same, *parts))
    if isinstance(a, float):
        return bool(a == b) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and bool(a == b)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_loaded_model_is_the_saved_one(case: Case, path: Path) -> None:
    model, X = fitted(case)
    model.save(path)
    again = gl.load(path)
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    for ours, theirs in zip(outputs(again, X), outputs(model, X), strict=True):
        assert _same(ours, theirs)
    kept = vars(model).keys() - TRANSIENT
    assert vars(again).keys() == kept
    for name in kept:
        assert _same(getattr(again, name), getattr(model, name)), name
    for name in ("n_support_", "offset_", "coef_", "alpha_"):
        if hasattr(model, name):
            assert _same(getattr(again, name), getattr(model, name)), name


def test_every_fitted_attribute_is_either_kept_or_named_here_as_left_out() -> None:
    for case in CASES:
        model, _ = fitted(case)
        unknown = vars(model).keys() - set(model.get_params(deep=False)) - set(model._stored) - TRANSIENT
        assert not unknown, f"{case}: add to StoringMixin._stored, or to TRANSIENT"


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2],
        [-1, 1],
        [1.0, 2.0],
        [True, False],
        ["a", "bb"],
        np.array(["x", "y"], dtype=object),
        np.array([3, 4], dtype=np.uint8),
    ],
    ids=str,
)
def test_classes_keep_their_type(labels: Any, path: Path) -> None:
    X, _ = data(3)
    y = np.asarray(labels)[np.arange(len(X)) % len(labels)]
    model = gl.SVC().fit(X, y)
    model.save(path)
    assert _same(gl.load(path).classes_, model.classes_)
    assert _same(gl.load(path).predict(X), model.predict(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_precision_and_container_of_support_vectors_are_kept(dtype: Any, container: Any, path: Path) -> None:
    X, y = data(2)
    model = gl.SVC().fit(container(X.astype(dtype)), y)
    model.save(path)
    again = gl.load(path)
    assert _same(again.support_vectors_, model.support_vectors_)
    assert again.support_vectors_.dtype == dtype


def test_parameters_of_every_plain_kind_are_kept(path: Path) -> None:
    X, y = data(2)
    model = gl.SVC(
        C=np.float64(2.5),
        class_weight={"no": 2, "perhaps": np.float32(0.5)},
        random_state=3,
        gamma=np.float32(0.1),
        max_time=float("inf"),
    ).fit(X, y)
    model.save(path)
    again = gl.load(path)
    assert again.get_params() == model.get_params()
    assert again.class_weight == {"no": 2, "perhaps": 0.5}
    assert _same(again.predict(X), model.predict(X))


def test_feature_names_are_kept_and_still_checked(path: Path) -> None:
    X, y = data(2)
    frame = pd.DataFrame(X, columns=["a", "b", "ç", 'd"'])
    model = gl.LinearSVC().fit(frame, y)
    model.save(path)
    again = gl.load(path)
    assert _same(again.feature_names_in_, model.feature_names_in_)
    assert _same(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(frame.rename(columns={"a": "z"}))


def test_a_loaded_model_can_be_fitted_and_saved_again(path: Path) -> None:
    X, y = data(3)
    model = gl.SVC(warm_start=True).fit(X, y)
    model.save(path)
    again = gl.load(path)
    again.save(path)
    assert _same(gl.load(path).predict(X), model.predict(X))
    again.set_params(C=5.0).fit(X, y)
    assert _same(again.predict(X), gl.SVC(C=5.0).fit(X, y).predict(X))


def test_what_a_model_holds_twice_is_one_object_again(path: Path) -> None:
    model, _ = fitted(Case("SVC", "rbf", 3, False))
    model.save(path)
    again = gl.load(path)
    position = model.traces_.index(model.trace_)
    assert again.trace_ is again.traces_[position]
    assert path.read_bytes().count(str(model.trace_.seconds[-1]).encode()) == 1


def test_a_model_without_support_vectors_is_kept(path: Path) -> None:
    X, _ = data(0)
    model = gl.SVR(epsilon=10.0).fit(X, np.linspace(0.0, 1.0, len(X)))
    assert len(model.support_) == 0
    model.save(path)
    assert _same(gl.load(path).predict(X), model.predict(X))


def test_a_file_describes_itself(path: Path) -> None:
    model, _ = fitted(Case("SVC", "composite", 3, False))
    model.save(str(path))
    description = describe(path)
    assert description["class"] == "SVC"
    assert description["gapless"] == gl.__version__
    assert description["parameters"]["kernel"] == {"kernel": repr(model.kernel)}
    assert description["fitted"]["certificate_"]["fields"]["primal"] == model.certificate_.primal


def _function(X: Any, Z: Any) -> Any:
    return X @ Z.T


class _Inverse(Stationary):
    def profile(self, D: np.ndarray) -> np.ndarray:
        return 1 / (1 + D)


_KERNEL_REMEDY = (
    r"Compose the kernel of gapless.kernels, or give kernel='precomputed' and the matrices that it returns\."
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kernel": _function},
            r"SVC cannot be saved with kernel=<function _function at .*>, .* never code\. " + _KERNEL_REMEDY,
        ),
        ({"kernel": FunctionKernel(_function, vectorized=True)}, r"kernel=FunctionKernel\(.*" + _KERNEL_REMEDY),
        (
            {"kernel": Linear() + FeatureMapKernel(np.sin)},
            r"kernel=Linear\(\) \+ FeatureMapKernel\(.*" + _KERNEL_REMEDY,
        ),
        ({"kernel": GaussianProcessRBF()}, r"kernel=RBF\(length_scale=1\), .*" + _KERNEL_REMEDY),
        ({"kernel": 2 * _Inverse()}, r"kernel=2 \* _Inverse\(\), .*" + _KERNEL_REMEDY),
        ({"callback": lambda progress: None}, r"callback=<function .*Save it after set_params\(callback=None\)\."),
        (
            {"solver": gl.solvers.SMO()},
            r"solver=.*Save it after set_params\(solver='auto'\), or another solver's name\.",
        ),
        (
            {"random_state": np.random.RandomState(0)},
            r"random_state=.*Save it after set_params\(random_state=None\), or a whole number\.",
        ),
        ({"class_weight": {"no": np.ones(2, dtype=complex)}}, r"class_weight=.* Give it a plain value\."),
    ],
)
def test_what_is_code_is_refused_by_name(options: dict[str, Any], message: str, path: Path) -> None:
    X, y = data(2)
    model = gl.SVC().fit(X, y) if "class_weight" in options else gl.SVC(**options).fit(X, y)
    model.set_params(**options)
    with pytest.raises(UnsupportedError, match=message):
        model.save(path)
    assert not path.exists()


def test_a_kernel_object_with_a_gram_matrix_is_refused_and_its_name_is_not(path: Path) -> None:
    X, y = data(2)
    gram = X @ X.T
    with pytest.raises(
        UnsupportedError, match=r"kernel=Precomputed\(gram=<36 × 36 array>\), .*give kernel='precomputed'"
    ):
        gl.SVC(kernel=Precomputed(gram)).fit(np.arange(36.0)[:, None], y).save(path)
    gl.SVC(kernel="precomputed").fit(gram, y).save(path)
    assert gl.load(path).predict(gram).shape == (36,)


def test_the_remedy_for_a_callback_works(path: Path) -> None:
    X, y = data(2)
    model = gl.SVC(callback=lambda progress: None).fit(X, y)
    model.set_params(callback=None).save(path)
    assert _same(gl.load(path).predict(X), model.predict(X))


def test_an_unfitted_model_is_refused(path: Path) -> None:
    with pytest.raises(NotFittedError, match="This SVC instance is not fitted yet"):
        gl.SVC().save(path)
    assert not path.exists()


def test_a_class_of_ones_own_is_refused_until_registered(path: Path) -> None:
    class Own(gl.SVC):
        pass

    X, y = data(2)
    model = Own(kernel=RBF(gamma=0.5)).fit(X, y)
    with pytest.raises(
        UnsupportedError,
        match=r"Own cannot be saved, since load would not know the class; name it by gapless.store.register\(Own\)\.",
    ):
        model.save(path)
    register(Own)
    model.save(path)
    assert type(gl.load(path)) is Own


def test_import_loads_neither_onnx_nor_safetensors() -> None:
    code = (
        "import sys, gapless; print([name for name in ('onnx', 'onnxruntime', 'safetensors') if name in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
