"""Kernels that the user brings: a Gram matrix, a feature map, or a function of two points."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gapless.errors import InvalidInputError
from gapless.kernels.base import Kernel, Validity
from gapless.kernels.pairwise import Matrix, as_dense, as_float64, inner_products, squared_norms
from gapless.kernels.refuted import entry_rounding, refutation

# How far, relative to the largest entry, a Gram matrix may be from symmetric: about the root of float64's precision, so that a matrix whose two
# halves were computed in another order of summation passes. The asymmetry that passes counts as an error of the entries in every proof (rounding.py).
_SYMMETRY_TOLERANCE = 1e-8
_CHECK_ENTRIES = 2**20  # entries of the Gram matrix compared with their mirror images at a time


class Precomputed(Kernel):
    r""":math:`k(i, j) = G_{ij}` for a given Gram matrix G: each sample is an index into G, in a matrix with a single column.

    The matrix is taken to be positive semi-definite, unless its own numbers refute it (``certificate.refutation`` then says how); ``check_valid``
    tests whether it is. Clones share the matrix.

    Parameters
    ----------
    gram : array of shape (n, n)
        G, symmetric and finite.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.kernels import Precomputed
    >>> k = Precomputed(np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 2.0], [0.0, 2.0, 5.0]]))
    >>> k([[0], [2]], [[1], [2]])
    array([[1., 0.],
           [2., 5.]])
    >>> k
    Precomputed(gram=<3 × 3 array>)
    """

    _judged: tuple[np.ndarray, str] | None = None  # a matrix, and what refutes that it is positive semi-definite

    def __init__(self, gram: np.ndarray) -> None:
        self.asymmetry = _check_gram(gram)
        self.gram = gram

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        return self.gram[np.ix_(self.indices(X), self.indices(Z))].astype(np.float64, copy=False)

    def diag(self, X: Matrix) -> np.ndarray:
        i = self.indices(X)
        return self.gram[i, i].astype(np.float64, copy=False)

    @property
    def entry_rounding(self) -> float:
        return entry_rounding(self.gram)

    def refutation(self, X: Matrix) -> str:
        """The sentence of :meth:`Kernel.refutation`, by all entries: what the whole matrix does not refute, no part of it does."""
        if self.validity is not Validity.ASSUMED:
            return ""
        if self._judged is None or self._judged[0] is not self.gram:
            self._judged = self.gram, refutation(self.gram)
        if not self._judged[1]:
            return ""
        used = np.unique(self.indices(X))
        return self._judged[1] if len(used) == len(self.gram) else refutation(self.gram[np.ix_(used, used)])

    def indices(self, X: Matrix) -> np.ndarray:
        """The one column of X as indices into the Gram matrix."""
        n = len(self.gram)
        if X.shape[1] != 1:
            raise InvalidInputError(
                f"Precomputed takes samples as one column of indices into its Gram matrix; got {X.shape[1]} columns."
            )
        column = as_dense(X)[:, 0]
        # The check stands before the cast to int64, which would warn of numbers that are too large for it.
        wrong = ~((column >= 0) & (column < n) & (np.floor(column) == column))
        if wrong.any():
            raise InvalidInputError(
                f"Precomputed takes indices, whole numbers from 0 to {n - 1}; got {column[np.argmax(wrong)]:g}."
            )
        return column.astype(np.int64)

    def __sklearn_clone__(self) -> Self:
        return copy.copy(self)

    def __repr__(self) -> str:
        return f"Precomputed(gram=<{len(self.gram)} × {len(self.gram)} array>)"


class FeatureMapKernel(Kernel):
    r""":math:`k(x, z) = \langle\varphi(x), \varphi(z)\rangle` for a given feature map φ.

    Clones of the kernel share the map, and the map's parameters are not the kernel's.

    Parameters
    ----------
    map : transformer or callable
        φ: a fitted object with ``transform``, or a function. It takes a matrix of samples and returns a matrix of features, dense or sparse, with
        one row for each sample.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.kernels import FeatureMapKernel
    >>> k = FeatureMapKernel(lambda X: np.hstack([X, X**2]))
    >>> k([[1.0], [2.0]])
    array([[ 2.,  6.],
           [ 6., 20.]])
    """

    validity = Validity.BY_CONSTRUCTION

    def __init__(self, map: Any) -> None:
        if not (hasattr(map, "transform") or callable(map)):
            raise InvalidInputError(f"map must be callable or have a method transform; got {map!r}.")
        self.map = map

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        features = self.features(X)
        return inner_products(features, features if Z is X else self.features(Z))

    def diag(self, X: Matrix) -> np.ndarray:
        return squared_norms(self.features(X))

    def features(self, X: Matrix) -> Matrix:
        """φ(x) for every row of X, as the map returns it, in float64."""
        X = X.copy()  # a map may work in place, as StandardScaler(copy=False) does
        features = self.map.transform(X) if hasattr(self.map, "transform") else self.map(X)
        features = features.tocsr() if sp.issparse(features) else np.asarray(features)
        if features.ndim != 2 or features.shape[0] != X.shape[0]:
            raise InvalidInputError(
                f"map must return a matrix with one row for each of the {X.shape[0]} samples; "
                f"got the shape {features.shape}."
            )
        return as_float64(features)

    def __sklearn_clone__(self) -> Self:
        return copy.copy(self)


class FunctionKernel(Kernel):
    r""":math:`k(x, z) = f(x, z)` for a given function of two vectors, or of two matrices when ``vectorized``.

    A kernel that is to be pickled or sent to other processes needs a function that can be pickled: one defined in a module,
    not a lambda.

    Parameters
    ----------
    function : callable
        f, called with two dense float64 vectors, of which it returns a number; with ``vectorized=True`` it is called with two matrices and returns
        the array of all :math:`f(x_i, z_j)`.
    vectorized : bool, default False
        Whether the function takes matrices, which is much faster.
    valid : bool or None, default None
        False says that f is not positive semi-definite, so that no dual value bounds the optimum; None and True take f to be.

    Examples
    --------
    >>> from gapless.kernels import FunctionKernel
    >>> k = FunctionKernel(lambda x, z: min(x[0], z[0]))
    >>> k([[1.0], [2.0]])
    array([[1., 1.],
           [1., 2.]])
    >>> k.validity.value
    'positive semi-definite by assumption'
    """

    def __init__(self, function: Callable[..., Any], vectorized: bool = False, valid: bool | None = None) -> None:
        if not callable(function):
            raise InvalidInputError(f"function must be callable; got {function!r}.")
        if not (valid is None or isinstance(valid, bool)):
            raise InvalidInputError(f"valid must be None, True or False; got {valid!r}.")
        self.function = function
        self.vectorized = vectorized
        self.valid = valid

    @property
    def validity(self) -> Validity:
        return Validity.NOT_VALID if self.valid is False else Validity.ASSUMED

    def block(self, X: Matrix, Z: Matrix) -> np.ndarray:
        X, Z = as_dense(X), as_dense(Z)
        if not self.vectorized:
            return call_unchanged(self._pairs, X, Z, "function")
        # The array is copied: the caller may overwrite the block, and the function may keep the array that it has returned.
        K = _as_numbers(call_unchanged(self.function, X, Z, "function"))
        if K.shape != (len(X), len(Z)):
            raise InvalidInputError(
                f"function must return an array of shape {(len(X), len(Z))} for {len(X)} and {len(Z)} samples; "
                f"got {K.shape}."
            )
        return K

    def _pairs(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return np.array([[_as_number(self.function(x, z)) for z in Z] for x in X])

    def diag(self, X: Matrix) -> np.ndarray:
        X = as_dense(X)
        return np.array([self.block(x, x)[0, 0] for x in X[:, None, :]])


def call_unchanged(function: Callable[[Any, Any], Any], X: Any, Z: Any, name: str) -> Any:
    """What a function of the user's returns for two matrices. It is called with copies, and refused if it has written to one of them: a kernel value
    would depend on the values that were asked for before it.
    """
    if not (hasattr(X, "copy") and hasattr(X, "shape") and hasattr(Z, "copy") and hasattr(Z, "shape")):
        return function(X, Z)  # samples of another kind, texts for example
    left = X.copy()
    right = left if Z is X else Z.copy()
    result = function(left, right)
    for copied, given, place in ((left, X, "first"), (right, Z, "second")):
        if not _is_same(copied, given):
            raise InvalidInputError(f"{name} must not write to its arguments; it has changed the {place} one.")
    return result


def _is_same(copied: Any, given: Any) -> bool:
    if sp.issparse(given):
        parts = [name for name in ("data", "indices", "indptr") if hasattr(given, name)]
        return all(np.array_equal(getattr(copied, name), getattr(given, name)) for name in parts)
    try:
        same = np.asarray(copied) == np.asarray(given)
        return bool(
            np.all(same | (np.asarray(copied) != np.asarray(copied)))
        )  # NaN, which a function of texts may have
    except (TypeError, ValueError):  # objects that cannot be compared
        return True


def _as_numbers(K: Any) -> np.ndarray:
    if sp.issparse(K):
        raise InvalidInputError(f"function must return an array; got a {type(K).__name__}: return K.toarray().")
    try:
        if np.asarray(K).dtype.kind == "c":
            raise TypeError("it has returned complex ones")
        return np.array(K, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"function must return an array of real numbers; {error}.") from None


def _as_number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInputError(f"function must return a real number; got {value!r}.") from None


def _check_gram(gram: Any) -> float:
    """Refuse what is not a Gram matrix; return the largest difference of an entry from its mirror image."""
    if not isinstance(gram, np.ndarray) or gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not gram.size:
        got = f"an array of shape {gram.shape}" if isinstance(gram, np.ndarray) else type(gram).__name__
        raise InvalidInputError(f"gram must be a square array; got {got}.")
    if gram.dtype.kind not in "fiu":
        raise InvalidInputError(f"gram must hold real numbers; got the type {gram.dtype}.")
    if not np.isfinite(gram).all():
        raise InvalidInputError("gram must be finite; it has NaN or infinite entries.")
    largest = max(float(gram.max()), -float(gram.min()))
    step = max(1, _CHECK_ENTRIES // len(gram))
    asymmetry = max(
        float(np.abs(np.subtract(gram[s], gram[:, s].T, dtype=np.float64)).max())
        for s in (slice(start, start + step) for start in range(0, len(gram), step))
    )
    if asymmetry > _SYMMETRY_TOLERANCE * largest:
        raise InvalidInputError(f"gram must be symmetric; an entry differs from its mirror image by {asymmetry:g}.")
    return asymmetry
