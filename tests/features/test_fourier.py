"""RandomFourier: the expectation of its inner products is the kernel, for each spectrum."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

import gapless.data.memory
from gapless.errors import InvalidInputError, TooLargeError
from gapless.features import RandomFourier
from gapless.kernels import RBF, Laplacian, Linear, Matern

KERNELS = [RBF(gamma=0.4), Laplacian(gamma=0.3), *(Matern(length_scale=1.5, nu=nu) for nu in (0.5, 1.5, 2.5, math.inf))]
EUCLIDEAN = [kernel for kernel in KERNELS if not isinstance(kernel, Laplacian)]
X = np.random.default_rng(0).normal(size=(40, 3))


def error(kernel, count, seed, **options) -> float:
    Z = RandomFourier(count, kernel=kernel, random_state=seed, **options).fit_transform(X)
    return float(np.sqrt(np.mean((Z @ Z.T - kernel(X)) ** 2)))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_inner_products_tend_to_the_kernel(kernel):
    few, many = (np.mean([error(kernel, m, seed) for seed in range(4)]) for m in (100, 10_000))
    assert many < 0.01 < 4 * many < few  # a hundred times the columns, a tenth of the error


@pytest.mark.parametrize("kernel", EUCLIDEAN, ids=repr)
def test_orthogonal_frequencies_keep_the_expectation(kernel):
    assert error(kernel, 10_000, 0, orthogonal=True) < 0.01


def test_orthogonal_frequencies_have_right_angles_and_a_smaller_error():
    kernel = RBF(gamma=0.1)
    W = RandomFourier(3, kernel=kernel, orthogonal=True, random_state=0).fit(X).frequencies_
    np.testing.assert_allclose(W.T @ W, np.diag(np.square(W).sum(axis=0)), atol=1e-12)
    plain, better = (
        np.mean([error(kernel, 30, seed, orthogonal=orthogonal) for seed in range(20)]) for orthogonal in (False, True)
    )
    assert better < 0.8 * plain


def test_every_sample_has_norm_one_and_csr_is_the_same():
    phi = RandomFourier(25, random_state=1).fit(X)
    Z = phi.transform(X)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(phi.transform(sp.csr_array(X)), Z, rtol=1e-10, atol=1e-12)
    assert phi.get_feature_names_out()[:2].tolist() == ["randomfourier0", "randomfourier1"]
    halves = np.concatenate([np.cos(X @ phi.frequencies_), np.sin(X @ phi.frequencies_)], axis=1) / 5
    np.testing.assert_allclose(Z, halves, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_frequencies": 0}, "n_frequencies must be a natural number of at least 1; got 0."),
        ({"orthogonal": 1}, "orthogonal must be True or False; got 1."),
        (
            {"kernel": Linear()},
            "kernel must be RBF, Laplacian or Matern, whose spectra are known; got Linear(). Nystroem takes any kernel.",
        ),
        (
            {"kernel": Laplacian(), "orthogonal": True},
            "orthogonal=True needs a kernel of the Euclidean distance, RBF or Matern; "
            "the spectrum of Laplacian has preferred directions.",
        ),
    ],
)
def test_errors_name_the_parameter(parameters, message):
    with pytest.raises(InvalidInputError) as caught:
        RandomFourier(**parameters).fit(X)
    assert str(caught.value) == message


def test_an_output_that_does_not_fit_into_memory_is_refused_in_words(monkeypatch):
    phi = RandomFourier(2).fit(X)
    monkeypatch.setattr(gapless.data.memory, "available_bytes", lambda: 40 * 4 * 8 - 1)
    with pytest.raises(TooLargeError) as caught:
        phi.transform(X)
    assert str(caught.value) == (
        "RandomFourier with 2 frequencies makes 4 columns: its output for 40 rows needs 0.00 GiB, "
        "but only 0.00 GiB of memory is available."
    )
