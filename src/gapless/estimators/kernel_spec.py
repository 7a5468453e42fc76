"""From scikit-learn's way of naming a kernel to a kernel object, and from the input to samples that the kernel takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.gaussian_process.kernels import Kernel as GaussianProcessKernel

from gapless.data import require_memory
from gapless.data.rows import kept_matrix
from gapless.errors import InvalidInputError
from gapless.estimators.report import NOT_FINITE
from gapless.kernels import (
    RBF,
    Constant,
    FunctionKernel,
    Kernel,
    Linear,
    Panels,
    Polynomial,
    Precomputed,
    Sigmoid,
    Validity,
)
from gapless.kernels.custom import call_unchanged
from gapless.kernels.rounding import UNIT, Magnitudes, magnitudes
from gapless.solvers.smo.samples import FEW


@dataclass(frozen=True)
class KernelSpec:
    """A kernel and its γ as a number. ``pairwise`` says that samples are rows of a Gram matrix, which is given or computed by a function."""

    kernel: Kernel | None
    gamma: float
    pairwise: bool


# A sparse matrix of up to so many entries, zeros included (8 MB), is worked on as a dense one: this is as fast, and the model is equal, to the last
# bit, to that of the dense data.
_SMALL = 2**20
# A small matrix of at least so many columns is kept sparse, or made sparse, for linear machines where at most this share of its entries is not zero:
# passes then take less time, down to a fifth of it for text.
_LEAST_COLUMNS, _SPARSE_SHARE = 64, 1 / 8
# The Gram matrix is computed at once where this takes up to so many operations, some 20 ms, and where smo would compute all entries anyway. Of more
# samples smo computes few entries, in float32, and one row for equal samples: fits of 1,400 to 2,500 samples take 0.3 to 0.9 times as long.
_SMALL_GRAM = 1e8


class Table(Precomputed):
    """The Gram matrix of a kernel on given samples; it remembers kernel and samples, so that a proof can go back to the formula."""

    def __init__(self, gram: np.ndarray, kernel: Kernel, samples: Any, magnitudes: Magnitudes) -> None:
        self.gram = gram  # computed by Gapless, so that nothing has to be checked
        self.samples = samples
        self.magnitudes = magnitudes  # those of the kernel, as the entries are the kernel's except for rounding
        self.kernel = kernel
        self.asymmetry = 0.0
        self._diagonal = gram.diagonal()
        self._last: tuple[Any, np.ndarray] = (None, np.empty(0, np.int64))

    def diag(self, X: Any) -> np.ndarray:
        return self._diagonal[self.indices(X)]

    def indices(self, X: Any) -> np.ndarray:
        seen, places = self._last
        if seen is not X:  # the samples of a pair of classes are asked for several times in a row
            places = X[:, 0].astype(np.int64)
            self._last = X, places
        return places

    def formula(self, X: Any) -> tuple[Kernel, Any]:
        return self.kernel, self.samples[self.indices(X)]

    @property
    def validity(self) -> Validity:
        return self.kernel.validity


@magnitudes.register
def _(kernel: Table, X: Any, unit: float = UNIT) -> Magnitudes:
    places = kernel.indices(X)
    if unit != UNIT:  # entries with twice the digits come from the kernel's formula, not from the table
        return magnitudes(kernel.kernel, kernel.samples[places], unit)
    g, r = kernel.magnitudes
    return g[places], r[places]


def takes_anything(kernel: Any) -> bool:
    """Whether samples may be anything: the kernel is a function that the user gives, and not a kernel object, which takes matrices."""
    return callable(kernel) and not isinstance(kernel, GaussianProcessKernel)


def dense_if_small(X: Any) -> Any:
    """X as a dense array where it is small; otherwise X itself."""
    return _dense(X) if sp.issparse(X) and X.shape[0] * X.shape[1] <= _SMALL else X


def _dense(X: Any) -> np.ndarray:
    """A sparse X as a dense array; indices of CSR, which another thread may write to, are copied and checked first, since SciPy trusts them."""
    return (kept_matrix(X, "X") if X.format == "csr" else X).toarray()


def stored_by_zeros(X: Any) -> Any:
    """A small X as a CSR matrix without stored zeros where few of its entries are not zero, otherwise as a dense array; a large X itself.

    A linear machine's model of small data then does not depend, to the last bit, on how the data were stored.
    """
    n, d = X.shape
    if n * d > _SMALL:
        return X
    few = _SPARSE_SHARE * n * d
    if sp.issparse(X):
        stored = X.data
        if d >= _LEAST_COLUMNS and X.nnz <= few and X.has_canonical_format and np.count_nonzero(stored) == len(stored):
            return X
        X = _dense(X)
    if d < _LEAST_COLUMNS or np.count_nonzero(X[: n // 4]) > few or np.count_nonzero(X) > few:
        return X
    return sp.csr_array(X)


def sparse_as_configured(X: Any) -> Any:
    """X, where it is sparse as the CSR matrix or the CSR array that scikit-learn's ``sparse_interface`` asks for; before 1.9 a matrix."""
    if not sp.issparse(X):
        return X
    return sp.csr_array(X) if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix(X)


def stored_like(fitted: Any, X: Any) -> Any:
    """X, sparse or dense as the samples of the fit were: a kernel that is a function then sees one kind of storage alone."""
    if sp.issparse(X) and isinstance(fitted, np.ndarray):
        return _dense(X)
    return sp.csr_array(X) if isinstance(X, np.ndarray) and X.ndim == 2 and sp.issparse(fitted) else X


def in_storage_of(vectors: Any, X: Any) -> Iterator[tuple[slice, Any]]:
    """Parts of X, each with its slice, sparse or dense as the support vectors are: a sample then gives the same bits alone and in any batch."""
    n, d = X.shape
    if sp.issparse(X) == sp.issparse(vectors):
        yield slice(0, n), X
    elif sp.issparse(vectors):
        yield slice(0, n), sp.csr_array(X)
    else:
        step, X = max(1, _SMALL // d), kept_matrix(X, "X")
        for begin in range(0, n, step):
            part = slice(begin, min(n, begin + step))
            yield part, X[part].toarray()


def small_gram(
    kernel: Kernel, X: Any, order: np.ndarray | None = None, room: Callable[[], float] = float
) -> Table | None:
    """The Gram matrix of X, its rows in the given order; None where it is neither small nor at most ``room()`` bytes."""
    n = X.shape[0]
    entries = X.nnz / n if sp.issparse(X) else X.shape[1]
    if (n > FEW or n * n * (entries + 10) > _SMALL_GRAM) and 8 * n * n > room():
        return None
    X = X if order is None else X[order]
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused in words
        gram = Panels(kernel, X, np.float64).square(np.arange(n))
        finite = math.isfinite(gram.sum()) or np.isfinite(gram).all()
    if not finite:
        raise InvalidInputError(NOT_FINITE)
    return Table(gram, kernel, X, magnitudes(kernel, X))


def resolve_kernel(estimator: Any, X: Any, weight: np.ndarray) -> KernelSpec:
    """The kernel that an estimator's parameters name; its ``kernel`` is None for a Gram matrix, which becomes a kernel with the samples.

    An estimator that has tuned a kernel object has the tuned one as ``kernel_``.
    """
    kernel = getattr(estimator, "kernel_", estimator.kernel)
    if kernel == "precomputed":
        return KernelSpec(None, 0.0, True)
    if isinstance(kernel, Kernel):
        return KernelSpec(kernel, 0.0, False)
    if isinstance(kernel, GaussianProcessKernel):
        return KernelSpec(FunctionKernel(kernel, vectorized=True, valid=True), 0.0, False)
    if callable(kernel):
        return KernelSpec(None, 0.0, True)
    gamma = resolve_gamma(estimator.gamma, X, weight)
    return KernelSpec(_named(kernel, gamma, estimator.degree, float(estimator.coef0)), gamma, False)


def depends_on_samples(estimator: Any) -> bool:
    """Whether the kernel that an estimator's parameters name is another one on other samples with as many features."""
    return isinstance(estimator.kernel, str) and isinstance(estimator.gamma, str) and estimator.gamma == "scale"


def _named(name: str, gamma: float, degree: int, coef0: float) -> Kernel:
    if name == "linear":
        return Linear()
    if name == "rbf":
        return RBF(gamma=gamma)
    if name == "sigmoid":
        return Sigmoid(gamma=gamma, coef0=coef0)
    return Constant(1.0) if degree == 0 else Polynomial(degree=degree, gamma=gamma, coef0=coef0)


def resolve_gamma(gamma: str | float, X: Any, weight: np.ndarray) -> float:
    """γ as a number. ``"scale"`` is 1/(d · var X), where the variance counts sample weights, so that weight 2 equals the row twice."""
    if not isinstance(gamma, str):
        return float(gamma)
    d = X.shape[1]
    if gamma == "auto":
        return 1.0 / d
    share = weight / weight.sum()
    X = dense_if_small(X)
    # Entries near the largest float make γ 0 or NaN, which the fit refuses with a sentence.
    with np.errstate(over="ignore", invalid="ignore"):
        if sp.issparse(X):
            first, second = share @ X.sum(axis=1, dtype=np.float64), share @ X.power(2).sum(axis=1, dtype=np.float64)
            variance = float(np.asarray(second).item()) / d - (float(np.asarray(first).item()) / d) ** 2
        else:
            mean = float(share @ X.sum(axis=1, dtype=np.float64)) / d
            apart = X - mean
            variance = float(share @ np.einsum("ij,ij->i", apart, apart, dtype=np.float64)) / d
        largest = max(-float(X.min()), float(X.max()))
        rounding = (16 * UNIT * largest) ** 2  # the variance that rounding gives to constant features
    return 1.0 / (d * variance) if variance > rounding else 1.0


def gram_samples(gram: Any, n: int | None = None) -> tuple[np.ndarray, Precomputed]:
    """(column of indices that stand for the samples, kernel) of a Gram matrix of n samples; n is the number of rows if None."""
    gram = np.asarray(gram, dtype=np.float64)
    n = gram.shape[0] if n is None else n
    if gram.shape != (n, n):
        shape = "x".join(map(str, gram.shape))
        raise InvalidInputError(
            f"Precomputed matrix must be a square matrix, {n}x{n} for {n} samples. Input is a {shape} matrix."
        )
    return np.arange(n, dtype=np.float64)[:, None], Precomputed(gram)


def call_kernel(kernel: Any, X: Any, Z: Any) -> np.ndarray:
    """The Gram matrix that a function of two sets of samples returns, as a dense array."""
    n, m = _count(X), _count(Z)
    require_memory(8 * n * m, f"a kernel that is a function returns the whole matrix: {n:,} x {m:,} in float64, which")
    K = call_unchanged(kernel, X, Z, "kernel")
    try:
        if getattr(getattr(K, "dtype", None), "kind", "") == "c":
            raise TypeError("it has returned complex ones")
        return np.ascontiguousarray(K.toarray() if sp.issparse(K) else K, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"kernel must return a matrix of real numbers; {error}.") from None


def _count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
