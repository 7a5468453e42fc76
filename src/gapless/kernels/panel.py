r"""Panels: sums over kernel entries that are computed tile by tile and used while a tile is in the cache, so that no kernel matrix is ever in memory.

This is the Python side of ``native/kernels``. Tiles are float32 for the solver's steps, or float64 for the proof; the sums over tiles are always
float64. The partition into tiles does not depend on the number of threads, and neither does any result.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from gapless import _native
from gapless.data.rows import Rows, as_rows
from gapless.data.structure import check_structure
from gapless.errors import InvalidInputError
from gapless.kernels.algebra import Constant, Power, Product, Scaled, Sum
from gapless.kernels.base import Kernel
from gapless.kernels.custom import FunctionKernel, Precomputed
from gapless.kernels.dot import Linear, Polynomial, Sigmoid
from gapless.kernels.pairwise import Matrix
from gapless.kernels.stationary import RBF, Laplacian

# The rows of a group: a multiple of the widths of BLAS's inner loops (2 to 24), so that no row falls into a loop's remainder, which rounds otherwise.
_GROUP = 48
# The samples whose entries are compared to estimate the error of all entries: from so many the mean square is known to a tenth.
_SOME = 128


class Panels:
    r"""Products with the Gram matrix of the samples X (or of chosen rows of X), computed in tiles.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array or CSR matrix of shape (n_samples, n_features)
        The samples.
    dtype : data type, default float32
        The precision of the entries: float32 or float64.
    rows : array of int, default None
        The rows of X that are the samples; None is all rows.
    repeatable : {"apply", "cross"}, default None
        The method whose result for a sample shall not depend, to the bit, on the samples that it is asked for together with: predictions need this.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.kernels import RBF, Panels
    >>> panels = Panels(RBF(1.0), np.array([[0.0], [1.0], [3.0]]), np.float64)
    >>> panels.square(np.array([0, 1])).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> f = np.zeros(3)
    >>> panels.expand(np.array([0, 1]), np.array([1.0, -1.0]), f, slice(None))
    >>> f.round(4)
    array([ 0.6321, -0.6321, -0.0182])
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Matrix,
        dtype: Any = np.float32,
        rows: np.ndarray | None = None,
        *,
        repeatable: Literal["apply", "cross"] | None = None,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.n = X.shape[0] if rows is None else len(rows)
        self._kernel, self._X, self._rows = kernel, X, rows
        self.native = _native.Panels(
            _specification(kernel, X, _FILLS[repeatable]),
            X,
            _rows(X),
            X.shape[1],
            None if rows is None else _places(rows, X.shape[0], "rows"),
            self.dtype == np.float32,
        )

    @property
    def entries(self) -> float:
        """The number of entries that were computed so far."""
        return float(self.native.entries)

    @cached_property
    def error(self) -> float:
        """The root mean square of the entries' errors, estimated on some of them: for the choice of a precision, not for a proof."""
        if self.dtype == np.float64:
            return 0.0
        some = np.linspace(0, self.n - 1, min(self.n, _SOME)).astype(np.int64)
        exact = Panels(self._kernel, self._X, np.float64, some if self._rows is None else self._rows[some])
        difference = self.square(some) - exact.square(np.arange(len(some)))
        return float(np.sqrt(np.mean(difference**2)))

    def expand(self, left: np.ndarray, coefficients: np.ndarray, out: np.ndarray, to: np.ndarray | slice) -> None:
        """Add Σ over the samples ``left`` of k(xⱼ, x) · coefficient to out[j], for each j of ``to``: a slice, or an array in ascending order."""
        left, coefficients = _places(left, self.n, "left"), _vector(coefficients, len(left), "coefficients")
        _check_length(out, self.n, "out")
        if isinstance(to, slice):
            begin, end, _ = to.indices(self.n)
            self.native.expand(left, coefficients, begin, end, out)
        else:
            self.native.expand_to(left, coefficients, _places(to, self.n, "to"), out)

    def expand_all(self, beta: np.ndarray) -> np.ndarray:
        """Kβ: Σⱼ k(xᵢ, xⱼ) βⱼ for each sample i; entries of samples with βⱼ = 0 are not computed."""
        out = np.zeros(self.n)
        self.native.expand_all(_vector(beta, self.n, "beta"), out)
        return out

    def apply(self, Z: Matrix, coefficients: np.ndarray) -> np.ndarray:
        """Σ over all samples x of k(z, x) · coefficients, for each row z of another matrix; each column of coefficients is a model."""
        self._check(Z)
        columns = self._columns(coefficients)
        out = np.empty((Z.shape[0], columns.shape[1]))
        self.native.apply(Z, _rows(Z), columns, out)
        return out.reshape(Z.shape[0], *coefficients.shape[1:])

    def _check(self, Z: Matrix) -> None:
        """Refuse samples that do not have the features of the panels' own: the native loops trust the number of columns."""
        if Z.shape[1] != self._X.shape[1]:
            raise InvalidInputError(f"Z must have as many columns as X, {self._X.shape[1]}; got {Z.shape[1]}.")
        _check_indices(self._kernel, Z)

    def _columns(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients of the samples as a matrix with a column for each model."""
        _check_length(coefficients, self.n, "coefficients")
        return np.ascontiguousarray(coefficients.reshape(self.n, -1), dtype=np.float64)

    def own(self, coefficients: np.ndarray) -> np.ndarray:
        """Σ over all samples x of k(xⱼ, x) · coefficient for each sample j; each entry is computed once, and serves its row and its column."""
        out = np.empty(self.n)
        self.native.own(_vector(coefficients, self.n, "coefficients"), out)
        return out

    @property
    def has_bounds(self) -> bool:
        """Whether ``apply_bounded`` can bound its error: it can for RBF, where the error of an entry is relative to the entry."""
        return bool(self.native.has_bounds)

    def apply_bounded(
        self, Z: Matrix, coefficients: np.ndarray, rows: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """``apply`` to Z (or to chosen rows of Z), and how far each value is from the exact one at most; see native/kernels/panels.hpp."""
        self._check(Z)
        n = Z.shape[0] if rows is None else len(rows)
        columns = self._columns(coefficients)
        values, bounds = np.empty((n, columns.shape[1])), np.empty((n, columns.shape[1]))
        places = None if rows is None else _places(rows, Z.shape[0], "rows")
        self.native.apply_bounded(Z, _rows(Z), places, columns, values, bounds)
        return values, bounds

    def cross(self, Z: Matrix) -> np.ndarray:
        """The matrix of k of each row of Z with all samples."""
        self._check(Z)
        out = np.empty((Z.shape[0], self.n), dtype=self.dtype)
        self.native.cross(Z, _rows(Z), out)
        return out

    def square(self, chosen: np.ndarray) -> np.ndarray:
        """The matrix of k of the chosen samples among themselves; it is not to be written to, as it may be the user's own Gram matrix."""
        given = self._given(chosen)
        if given is not None:
            return given
        out = np.empty((len(chosen), len(chosen)), dtype=self.dtype)
        self.extend(chosen, 0, out)
        return out

    def extend(self, chosen: np.ndarray, known: int, out: np.ndarray, shift: float = 0.0) -> None:
        """Fill out[:m, :m] with k + shift of the m chosen samples among themselves; the entries of the first ``known`` samples are there already."""
        m = len(chosen)
        if not 0 <= known <= m or min(out.shape) < m:
            raise InvalidInputError(
                f"out must have {m} rows and columns for the chosen samples; got the shape {out.shape}."
            )
        self.native.extend(_places(chosen, self.n, "chosen"), known, shift, out)

    def rows(self, chosen: np.ndarray, begin: int, end: int, out: np.ndarray, top: int) -> None:
        """out[top + i, begin:end] = k of the i-th chosen sample with the samples from begin to end."""
        if not 0 <= begin <= end <= min(self.n, out.shape[1]) or not 0 <= top <= len(out) - len(chosen):
            raise InvalidInputError(
                f"rows {top} to {top + len(chosen)} and columns {begin} to {end} must lie in out, of the shape {out.shape}, and in {self.n} samples."
            )
        self.native.rows(_places(chosen, self.n, "chosen"), begin, end, out[top:])

    @property
    def costly(self) -> bool:
        """Whether computing an entry takes many times as long as reading it from memory."""
        return bool(self.native.is_costly)

    @property
    def given(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(Gram matrix, index of each sample in it) where the entries are those of the user's own float64 matrix; None otherwise."""
        if self.dtype != np.float64 or not isinstance(self._kernel, Precomputed):
            return None
        gram = self._kernel.gram
        if gram.dtype != np.float64 or not gram.flags.carray:
            return None
        return gram, self._kernel.indices(self._X if self._rows is None else self._X[self._rows])

    def _given(self, chosen: np.ndarray) -> np.ndarray | None:
        """The user's own Gram matrix where exactly that is asked for; None otherwise."""
        if not isinstance(self._kernel, Precomputed) or len(chosen) != len(self._kernel.gram):
            return None
        gram = self._kernel.gram
        if gram.dtype != self.dtype or not gram.flags.c_contiguous or not gram.flags.writeable:
            return None
        rows = chosen if self._rows is None else self._rows[chosen]
        return gram if (self._kernel.indices(self._X[rows]) == np.arange(len(gram))).all() else None


def _places(chosen: Any, n: int, name: str) -> np.ndarray:
    """Indices of samples as the native loops take them: these trust every index, so that one outside 0 to n − 1 is refused here."""
    places = np.ascontiguousarray(chosen, dtype=np.int64)
    if len(places) and not 0 <= int(places.min()) <= int(places.max()) < n:
        raise InvalidInputError(f"{name} must lie between 0 and {n - 1:,}; got {places.min():,} to {places.max():,}.")
    return places


def _vector(values: Any, n: int, name: str) -> np.ndarray:
    vector = np.ascontiguousarray(values, dtype=np.float64)
    _check_length(vector, n, name)
    return vector


def _check_length(values: np.ndarray, n: int, name: str) -> None:
    if len(values) != n:
        raise InvalidInputError(f"{name} must have {n:,} entries; got {len(values):,}.")


def _rows(X: Matrix) -> Rows:
    """X as the native loops read it; a copy where X is laid out in another way."""
    if sp.issparse(X) and X.format != "csr":
        check_structure(X)
        X = sp.csr_array(X)
    return as_rows(X if X.dtype.char in "fd" else X.astype(np.float64))


def _check_indices(kernel: Any, Z: Matrix) -> None:
    """Refuse samples that are not indices into each precomputed Gram matrix of the kernel expression."""
    if isinstance(kernel, Precomputed):
        kernel.indices(Z)
    elif type(kernel) in (Scaled, Power):
        _check_indices(kernel.kernel, Z)
    elif type(kernel) in (Sum, Product):
        _check_indices(kernel.left, Z)
        _check_indices(kernel.right, Z)


def _specification(kernel: Any, X: Matrix, fill: Any) -> tuple[Any, ...]:
    """(name, gamma or factor, coef0, degree, parts, Gram matrix or block) of a kernel, by its exact type: a subclass may mean something else."""
    kind = type(kernel)
    if isinstance(kernel, Precomputed):
        kernel.indices(X)
        gram = kernel.gram
        plain = gram.dtype.char in "fd"
        return "table", 1.0, 0.0, 1, (), gram if plain else gram.astype(np.float64)
    if kind in (Scaled, Power):
        part = (_specification(kernel.kernel, X, fill),)
        return (
            ("scaled", float(kernel.scale), 0.0, 1, part, None)
            if kind is Scaled
            else ("power", 1.0, 0.0, int(kernel.exponent), part, None)
        )
    if kind in (Sum, Product):
        parts = _specification(kernel.left, X, fill), _specification(kernel.right, X, fill)
        return kind.__name__.lower(), 1.0, 0.0, 1, parts, None
    if kind is Constant:
        return "constant", float(kernel.value), 0.0, 1, (), None
    block = partial(fill, kernel)
    if kind is Linear:
        return "linear", 1.0, 0.0, 1, (), block
    if kind in (RBF, Laplacian):
        return kind.__name__.lower(), float(kernel.gamma), 0.0, 1, (), block
    if kind in (Polynomial, Sigmoid):
        return (
            kind.__name__.lower(),
            float(kernel.gamma),
            float(kernel.coef0),
            int(getattr(kernel, "degree", 1)),
            (),
            block,
        )
    return "block", 1.0, 0.0, 1, (), block


def _block(kernel: Kernel, Z: Matrix, rows: np.ndarray, X: Matrix, others: np.ndarray) -> np.ndarray:
    """k of some rows of Z with some rows of X, for kernels that have no native loops."""
    with np.errstate(over="ignore", invalid="ignore"):  # the caller sees in the result what has overflowed
        return np.ascontiguousarray(kernel.block(Z[rows], X[others]), dtype=np.float64)


def _block_by_samples(kernel: Kernel, Z: Matrix, rows: np.ndarray, X: Matrix, others: np.ndarray) -> np.ndarray:
    """Like ``_block``, with the rows of Z in groups of equal size, the last filled up, because BLAS rounds a product by the shape of its matrices.

    Z, whose samples are predicted, comes first in the kernel's block: a kernel that uses its second matrix as a whole (its mean, say) then uses the
    model's samples alone. A kernel with a function of the user's gets its rows without filling up: such a function may take a pair of rows at a time.
    """
    if _has_function(kernel):
        return _block(kernel, Z, rows, X, others)
    own, out = X[others], np.empty((len(rows), len(others)))
    for begin in range(0, len(rows), _GROUP):
        some = rows[begin : begin + _GROUP]
        filled = np.concatenate([some, np.full(_GROUP - len(some), some[-1])])
        with np.errstate(over="ignore", invalid="ignore"):
            out[begin : begin + len(some)] = kernel.block(Z[filled], own)[: len(some)]
    return out


def _cross_by_samples(kernel: Kernel, X: Matrix, rows: np.ndarray, Z: Matrix, others: np.ndarray) -> np.ndarray:
    """Like ``_block_by_samples``, for the method ``cross``, in which the samples that are predicted come second."""
    return np.ascontiguousarray(_block_by_samples(kernel, Z, others, X, rows).T)


def _has_function(kernel: Kernel) -> bool:
    return any(isinstance(each, FunctionKernel) for each in (kernel, *kernel.get_params().values()))


_FILLS = {None: _block, "apply": _block_by_samples, "cross": _cross_by_samples}
