"""Matrices whose indices lie: refused before any compiled loop, SciPy's or ours, follows one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gapless as gl
from gapless.data import check_matrix
from gapless.data.structure import check_structure
from gapless.errors import GaplessError, InvalidInputError
from tests.estimators.test_extreme_input import ESTIMATORS

X = np.round(np.random.default_rng(0).normal(size=(12, 3)), 2)
Y = np.where(X[:, 0] > 0, 1, -1)


def broken(form: str = "csr_array", **parts: Any) -> Any:
    """A sound matrix with some of its arrays replaced, or with one of their entries: ``indices=(5, 77)``."""
    matrix = getattr(sp, form)(X)
    for name, value in parts.items():
        array = np.array(getattr(matrix, name))
        if isinstance(value, tuple):
            array[value[0]] = value[1]
        else:
            array = np.asarray(value)
        setattr(matrix, name, array)
    return matrix


CASES = [
    (broken(indices=(5, 77)), "X is CSR whose indices must lie between 0 and 2; got 77."),
    (broken(indices=(5, 10**9)), "X is CSR whose indices must lie between 0 and 2; got 1,000,000,000."),
    (broken(indices=(5, -1)), "X is CSR whose indices must lie between 0 and 2; got -1."),
    (broken(indptr=(0, 1)), "X is CSR whose indptr must begin with 0; got 1."),
    (broken(indptr=(4, 2)), "X is CSR whose indptr must not fall; entry 4 is 2 after 9."),
    (broken(indptr=(12, 35)), "X is CSR whose indptr must end with the number of its entries; it ends with 35, with 36 indices and 36 values."),
    (broken(indptr=(12, 37)), "X is CSR whose indptr must end with the number of its entries; it ends with 37, with 36 indices and 36 values."),
    (broken(indptr=np.arange(0, 37, 12)), "X is CSR whose indptr must have 13 entries for its shape (12, 3); got 4."),
    (broken(data=np.ones(7)), "X is CSR whose indptr must end with the number of its entries; it ends with 36, with 36 indices and 7 values."),
    (broken(indices=np.zeros(36)), "X is CSR whose indices must be a vector of integers; got float64."),
    (broken("csc_array", indices=(5, 12)), "X is CSC whose indices must lie between 0 and 11; got 12."),
    (broken("bsr_array", indices=(0, 99)), "must lie between 0 and"),
    (broken("coo_array", coords=[np.full(36, 12), np.zeros(36, int)]), "X is COO whose rows must lie between 0 and 11; got 12."),
    (broken("coo_array", coords=[np.zeros(36, int), np.full(36, -3)]), "X is COO whose columns must lie between 0 and 2; got -3."),
]  # fmt: skip


@pytest.mark.parametrize(("matrix", "message"), CASES)
def test_a_broken_matrix_is_refused_in_words(matrix: Any, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_matrix(matrix)
    assert message in str(caught.value)
    with pytest.raises(InvalidInputError):
        gl.Problem(matrix, Y)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("column", [77, 10**9, -1])
def test_no_estimator_follows_a_wrong_index(estimator: Any, column: int) -> None:
    """An index of 10⁹ was a segmentation fault, one of 77 was fitted in silence."""
    matrix = broken(indices=(5, column))
    with pytest.raises(InvalidInputError, match="must lie between 0 and 2"):
        estimator().fit(matrix, Y)
    model = estimator().fit(sp.csr_array(X), Y)
    with pytest.raises(InvalidInputError, match="must lie between 0 and 2"):
        model.predict(matrix)


def test_kernels_and_feature_maps_refuse_it_too() -> None:
    matrix = broken(indices=(5, 10**9))
    with pytest.raises(InvalidInputError, match="must lie between"):
        gl.kernels.RBF(1.0)(matrix)
    with pytest.raises(InvalidInputError, match="must lie between"):
        gl.kernels.Panels(gl.kernels.RBF(1.0), matrix)
    with pytest.raises(InvalidInputError, match="must lie between"):
        gl.features.Nystroem(3).fit(matrix)


def test_panels_refuse_samples_of_another_width() -> None:
    panels = gl.kernels.Panels(gl.kernels.RBF(1.0), X, np.float64)
    for call in (
        panels.cross,
        lambda Z: panels.apply(Z, np.ones(12)),
        lambda Z: panels.apply_bounded(Z, np.ones((12, 1))),
    ):
        with pytest.raises(InvalidInputError, match=r"^Z must have as many columns as X, 3; got 2\.$"):
            call(X[:, :2])


def test_panels_follow_no_place_beyond_their_samples() -> None:
    """Each of these read or wrote memory that was not theirs."""
    panels = gl.kernels.Panels(gl.kernels.RBF(1.0), X, np.float64)
    out, square, places = np.zeros(12), np.zeros((2, 2)), np.array([0, 99])
    outside = "must lie in out, of the shape (2, 2), and in 12 samples."
    calls: list[tuple[Any, str]] = [
        (lambda: gl.kernels.Panels(gl.kernels.RBF(1.0), X, rows=places), "rows must lie between 0 and 11; got 0 to 99."),
        (lambda: panels.square(places), "chosen must lie between 0 and 11; got 0 to 99."),
        (lambda: panels.square(-places), "chosen must lie between 0 and 11; got -99 to 0."),
        (lambda: panels.expand(places, np.ones(2), out, slice(None)), "left must lie between 0 and 11; got 0 to 99."),
        (lambda: panels.expand(places[:1], np.ones(1), out, places), "to must lie between 0 and 11; got 0 to 99."),
        (lambda: panels.expand(places[:1], np.ones(2), out, slice(None)), "coefficients must have 1 entries; got 2."),
        (lambda: panels.expand(places[:1], np.ones(1), out[:5], slice(None)), "out must have 12 entries; got 5."),
        (lambda: panels.expand_all(np.ones(5)), "beta must have 12 entries; got 5."),
        (lambda: panels.own(np.ones(5)), "coefficients must have 12 entries; got 5."),
        (lambda: panels.apply(X, np.ones(24)), "coefficients must have 12 entries; got 24."),
        (lambda: panels.apply_bounded(X, np.ones((12, 1)), places), "rows must lie between 0 and 11; got 0 to 99."),
        (lambda: panels.extend(np.arange(3), 0, square), "out must have 3 rows and columns for the chosen samples; got the shape (2, 2)."),
        (lambda: panels.rows(np.arange(2), 0, 12, square, 0), f"rows 0 to 2 and columns 0 to 12 {outside}"),
        (lambda: panels.rows(np.arange(2), 0, 2, square, 1), f"rows 1 to 3 and columns 0 to 2 {outside}"),
    ]  # fmt: skip
    for call, message in calls:
        with pytest.raises(InvalidInputError) as caught:
            call()
        assert str(caught.value) == message


@pytest.mark.parametrize("index", [12, -1, 0.5, 1e20])
def test_no_index_into_a_given_gram_matrix_is_followed_beyond_it(index: float) -> None:
    rows = np.arange(12.0)[:, None]
    kernel = gl.kernels.Precomputed(X @ X.T)
    result = gl.solve(gl.Problem(rows, Y, kernel=kernel))
    with pytest.raises(InvalidInputError, match=r"indices|index"):
        result.decision_function([[index]])
    rows[3] = index
    with pytest.raises(InvalidInputError, match=r"indices|index"):
        gl.solve(gl.Problem(rows, Y, kernel=kernel))


@given(name=st.sampled_from(["indices", "indptr"]), place=st.integers(0, 100), value=st.integers(-(2**31), 2**31 - 1))
def test_any_change_is_refused_or_harmless(name: str, place: int, value: int) -> None:
    matrix = sp.csr_array(X)
    array = getattr(matrix, name).copy()
    array[place % len(array)] = value
    setattr(matrix, name, array)
    try:
        check_structure(matrix)
    except GaplessError:
        return
    matrix.check_format(full_check=True)


@pytest.mark.parametrize(
    "form", ["csr_array", "csc_array", "bsr_array", "coo_array", "lil_array", "dok_array", "dia_array"]
)
def test_sound_matrices_pass(form: str) -> None:
    np.testing.assert_array_equal(check_matrix(getattr(sp, form)(X)).toarray(), X)
