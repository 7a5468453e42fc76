"""Arrays of PyTorch and of the array API: read as any array-like without scikit-learn's dispatch, answered in kind with it."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context

import gapless as gl
from gapless import features

CHECKS = Path(__file__).with_name("array_api_checks.py")
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
y = (X[:, 0] > 0).astype(int)


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def test_what_goes_in_comes_out_where_dispatch_is_on():
    """In a process of its own, since SciPy reads SCIPY_ARRAY_API when it is imported."""
    library("array_api_strict")
    try:
        with config_context(array_api_dispatch=True):
            pass
    except RuntimeError:
        pass  # it asks for SCIPY_ARRAY_API, which that process has
    except ImportError as error:
        pytest.skip(f"scikit-learn does not dispatch with these versions: {error}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(CHECKS)]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=CHECKS.parents[2], check=False)
    assert done.returncode == 0, done.stdout[-10_000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 50
    for reason in re.findall(r"^SKIPPED .*: (.+)$", done.stdout, flags=re.MULTILINE):
        assert reason in ("PyTorch is not installed", "this scikit-learn has no such check"), reason


@pytest.mark.parametrize("name", ["torch", "array_api_strict"])
def test_without_dispatch_any_array_that_numpy_can_read_is_one(name):
    theirs = library(name)
    expected = gl.SVC().fit(X, y, sample_weight=np.arange(30.0))
    found = gl.SVC().fit(theirs.asarray(X), theirs.asarray(y), sample_weight=theirs.asarray(np.arange(30.0)))
    assert type(found.predict(theirs.asarray(X))) is np.ndarray
    assert_array_equal(found.predict(theirs.asarray(X)), expected.predict(X))
    assert_array_equal(found.decision_interval(theirs.asarray(X)), expected.decision_interval(X))
    assert found.score(theirs.asarray(X), theirs.asarray(y)) == expected.score(X, y)
    for phi in (features.Polynomial(), features.Polar(), features.Nystroem(5, random_state=0)):
        Z = phi.fit_transform(theirs.asarray(X))
        assert type(Z) is np.ndarray
        assert_array_equal(Z, phi.fit_transform(X))


def test_named_arguments_are_read_too():
    torch = library("torch")
    model = gl.SVC().fit(X=torch.asarray(X), y=torch.asarray(y), sample_weight=torch.ones(30))
    assert_array_equal(model.predict(X=torch.asarray(X)), gl.SVC().fit(X, y).predict(X))
    assert_array_equal(gl.SVC().fit(X, torch.asarray(y)).predict(X), gl.SVC().fit(X, y).predict(X))


@pytest.mark.parametrize(("place", "name"), [(0, "X"), (1, "y"), (2, "sample_weight")])
def test_an_array_that_numpy_cannot_read_is_refused_by_its_name(place, name):
    torch = library("torch")
    given = [X, y.astype(float), np.ones(30)]
    given[place] = torch.asarray(given[place]).requires_grad_()
    with pytest.raises(gl.errors.InvalidInputError) as caught:
        gl.SVR().fit(*given)
    assert str(caught.value) == (
        f"{name} is an array of torch on the device cpu, which NumPy cannot read (Can't call numpy() on Tensor that requires grad. Use "
        f"tensor.detach().numpy() instead.); Gapless computes on the CPU: copy {name} there first, or call under "
        "sklearn.config_context(array_api_dispatch=True), which copies it."
    )


class Unreadable:
    """An array on a device that nothing can copy from."""

    __cuda_array_interface__ = property(lambda self: {})

    def __array__(self, *args, **options):
        raise TypeError("no.")


def test_an_array_that_nothing_can_copy_is_refused_in_words():
    with pytest.raises(gl.errors.InvalidInputError) as caught:
        gl.data.namespace.as_numpy(Unreadable(), "X", copies=True)
    assert str(caught.value) == (
        f"X is an array of {__name__.partition('.')[0]}, which NumPy cannot read (no.); Gapless computes on the CPU: copy X there first."
    )


def test_a_kernel_of_the_users_gets_the_samples_as_they_came():
    torch = library("torch")
    seen = []

    def kernel(A, B):
        seen.append((type(A), type(B)))
        return (A @ B.T).numpy()

    model = gl.SVC(kernel=kernel).fit(torch.asarray(X), torch.asarray(y))
    assert_array_equal(model.predict(torch.asarray(X)), gl.SVC(kernel="linear").fit(X, y).predict(X))
    assert set(seen) == {(torch.Tensor, torch.Tensor)}


def test_methods_keep_their_faces():
    assert list(inspect.signature(gl.SVC.fit).parameters) == ["self", "X", "y", "sample_weight"]
    assert gl.SVC.decision_interval.__doc__ == gl.SVC.decision_interval.__wrapped__.__doc__
    assert not hasattr(gl.SVC(), "predict_proba")


def test_arrays_of_numpy_and_what_is_no_array_go_straight_through(monkeypatch):
    monkeypatch.setattr("gapless.data.namespace._answer", None)
    pandas = library("pandas")
    for samples in (X, X.tolist(), pandas.DataFrame(X, columns=["a", "b", "c"]), np.asfortranarray(X)):
        gl.SVC().fit(samples, pandas.Series(y)).predict(samples)
