"""What pickle, copies and skops keep of a fitted estimator: everything, with our own types as text and arrays."""

from __future__ import annotations

import copy
import pickle
import zlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import gapless as gl
from gapless.kernels import RBF, FunctionKernel, Linear
from gapless.store.state import from_plain, to_plain
from tests.store.models import CASES, Case, fitted


def assert_same(again: Any, model: Any, X: Any) -> None:
    """Equal attributes of equal types, equal predictions and proofs."""
    assert vars(again).keys() == vars(model).keys()
    for key, value in vars(model).items():
        assert type(getattr(again, key)) is type(value), key
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if hasattr(model, "certificate_"):
        assert again.certificate_ == model.certificate_ and again.certificates_ == model.certificates_
        assert again.trace_ == model.trace_ and again.traces_ == model.traces_
        assert any(again.certificate_ is each for each in again.certificates_)
        for solved, other in zip(again._solved, model._solved, strict=True):
            assert solved.status is other.status and solved.solver == other.solver
            np.testing.assert_array_equal(solved.beta, other.beta, strict=True)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    "copied", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy], ids=["pickle", "copy"]
)
def test_every_estimator_is_the_same_afterwards(case: Case, copied: Any) -> None:
    model, X = fitted(case)
    assert_same(copied(model), model, X)


def test_an_estimator_that_is_not_fitted() -> None:
    model = pickle.loads(pickle.dumps(gl.SVC(C=3.0, kernel=RBF(0.5))))
    assert model.get_params()["C"] == 3.0 and model.kernel == RBF(0.5)


def test_a_kernel_with_code_stays_an_object() -> None:
    X, y = np.array([[-1.0], [1.0], [2.0]]), [0, 1, 1]
    model = gl.SVC(kernel=FunctionKernel(_inner, vectorized=True)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert isinstance(again._kernel_object, FunctionKernel)
    assert_same(again, model, X)


def _inner(a: Any, b: Any) -> Any:
    return a @ b.T


def test_a_state_without_a_proof_is_left_alone() -> None:
    state = {"C": 1.0, "kernel": RBF()}
    assert to_plain(state, ("_solved",)) is state and from_plain(state) is state


def test_parameters_stay_what_the_user_gave() -> None:
    model = gl.SVC(kernel=RBF(0.5) + Linear()).fit([[-1.0], [1.0]], [0, 1])
    state = model.__getstate__()
    assert state["kernel"] is model.kernel and "_kernel_object" not in state and "_solved" not in state
    text = zlib.decompress(state["_as_text"]["text"].tobytes()).decode()
    assert "RBF(gamma=0.5) + Linear()" in text
    assert vars(model)["_solved"][0].status is gl.Status.CONVERGED, "the model itself is as before"


def test_a_pickle_of_sparse_data() -> None:
    X = sp.random_array((60, 30_000), density=0.01, format="csr", random_state=0)
    y = np.arange(60) % 3
    model = gl.SVC(kernel="linear").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert sp.issparse(again.support_vectors_)
    assert_same(again, model, X)
