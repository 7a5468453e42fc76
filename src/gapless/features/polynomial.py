"""All monomials up to a degree, in three forms; the kernel of two of these forms is a polynomial of the inner product."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations_with_replacement, groupby, product
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.validation import check_is_fitted

from gapless.data import require_memory
from gapless.data.namespace import NamespaceMixin
from gapless.errors import TooLargeError, UnsupportedError
from gapless.features.checks import check_input, check_switch, input_names
from gapless.kernels import Kernel, Linear, polynomial
from gapless.kernels.parameters import check_natural

_MOST_DEGREE = 1023  # 2 to a higher power is beyond float64
_CHUNK = 2**16  # columns whose scale is computed at a time, which keeps the temporary arrays at some 4 MB


class Polynomial(NamespaceMixin, TransformerMixin, BaseEstimator):
    r"""Monomials of the input columns of degree 0, 1, …, ``degree``.

    With ``ordered=True`` this is the textbook's map, one column for every ordered product,

        ψ(x) = (1, x₁, …, x_d, x₁x₁, x₁x₂, x₂x₁, …, x_d x_d, …),        1 + d + d² + … + d^degree columns,

    and with ``ordered=False, scaled=True`` every distinct monomial x₁^m₁ ⋯ x_d^m_d of degree k stands once, times the
    square root of the number k! / (m₁! ⋯ m_d!) of ordered products that equal it: C(d + degree, degree) columns. Both maps
    have the kernel

        ⟨ψ(x), ψ(z)⟩ = 1 + ⟨x, z⟩ + ⟨x, z⟩² + … + ⟨x, z⟩^degree,

    which :meth:`kernel` returns, and which takes Θ(d) operations instead of one for each column. With
    ``ordered=False, scaled=False`` the columns are those of :class:`sklearn.preprocessing.PolynomialFeatures`, whose inner
    product has no such closed form.

    CSR input gives CSR output, at a cost that depends on the stored entries and not on the number of columns.

    Parameters
    ----------
    degree : int, default 2
        The largest degree, at least 1.
    ordered : bool, default False
        Whether there is a column for every ordered product (x₁x₂ and x₂x₁) rather than for every distinct monomial.
    scaled : bool, default True
        Whether distinct monomials are scaled so that the kernel above holds. With ``ordered=True`` this is not used: ordered products need no scale.
    include_bias : bool, default True
        Whether there is a column of ones, the monomial of degree 0; without it the kernel's sum begins with ⟨x, z⟩.

    Attributes
    ----------
    n_output_features_ : int
        The number of columns.
    n_features_in_, feature_names_in_
        Width and column names (where it has them) of the data seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.features import Polynomial
    >>> X = np.array([[2.0, 3.0], [1.0, -1.0]])
    >>> Polynomial(degree=2, ordered=True).fit_transform(X)
    array([[ 1.,  2.,  3.,  4.,  6.,  6.,  9.],
           [ 1.,  1., -1.,  1., -1., -1.,  1.]])
    >>> phi = Polynomial(degree=2).fit(X)
    >>> phi.get_feature_names_out().tolist()
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    >>> phi.transform(X).round(3)
    array([[ 1.   ,  2.   ,  3.   ,  4.   ,  8.485,  9.   ],
           [ 1.   ,  1.   , -1.   ,  1.   , -1.414,  1.   ]])
    >>> np.allclose(phi.transform(X) @ phi.transform(X).T, phi.kernel()(X, X), rtol=1e-14)
    True
    """

    def __init__(
        self, degree: int = 2, *, ordered: bool = False, scaled: bool = True, include_bias: bool = True
    ) -> None:
        self.degree = degree
        self.ordered = ordered
        self.scaled = scaled
        self.include_bias = include_bias

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and count the columns; nothing is learnt from the values of X."""
        self._check_parameters()
        X = check_input(self, X, reset=True, sparse=True)
        n_columns = self._count(X.shape[1])
        if n_columns > np.iinfo(np.intp).max:
            raise TooLargeError(
                f"Polynomial(degree={self.degree}) of {X.shape[1]:,} features makes about "
                f"10^{math.log10(n_columns):.0f} columns, more than an array can have."
            )
        self.n_output_features_ = n_columns
        return self

    def transform(self, X: Any) -> np.ndarray | sp.csr_array:
        """ψ(X) of shape ``(n_samples, n_output_features_)``, in X's precision; CSR where X is sparse."""
        check_is_fitted(self)
        X = check_input(self, X, reset=False, sparse=True)
        require_memory(
            self._bytes(X),
            f"Polynomial(degree={self.degree}) of {X.shape[1]:,} features makes {self.n_output_features_:,} columns: "
            f"its output for {X.shape[0]:,} rows",
        )
        if not isinstance(X, np.ndarray):
            return self._sparse(X)
        return self._ordered_dense(X) if self.ordered else self._distinct_dense(X)

    def kernel(self) -> Kernel:
        """The kernel ⟨ψ(x), ψ(z)⟩ in closed form: Σ ⟨x, z⟩ᵏ over k = 0, …, degree (from 1 without the bias).

        >>> import numpy as np
        >>> from gapless.features import Polynomial
        >>> Polynomial(degree=3).kernel()(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))  # 1 + 5 + 25 + 125
        array([[156.]])
        """
        self._check_parameters()
        if not self.ordered and not self.scaled and self.degree > 1:
            raise UnsupportedError(
                "Polynomial(scaled=False) has no kernel in closed form; use scaled=True or ordered=True, "
                "or gapless.kernels.FeatureMapKernel of this map."
            )
        return polynomial(Linear(), (1.0 if self.include_bias else 0.0,) + (1.0,) * self.degree)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as ``x0^2 x1`` for distinct monomials, ``x0 x0 x1`` for ordered products, ``1`` for the bias."""
        check_is_fitted(self)
        names = input_names(self, input_features)
        spell = _spell_ordered if self.ordered else _spell_distinct
        return np.array([spell(names, term) for term in self._terms()], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self) -> None:
        check_natural("degree", self.degree, _MOST_DEGREE)
        for name in ("ordered", "scaled", "include_bias"):
            check_switch(getattr(self, name), name)

    def _count(self, n_features: int) -> int:
        """The number of output columns for ``n_features`` input columns; also the number of entries that a row with so many non-zeros makes."""
        ordered = sum(n_features**k for k in range(self.degree + 1))
        terms = ordered if self.ordered else math.comb(n_features + self.degree, self.degree)
        return terms if self.include_bias else terms - 1

    def _bytes(self, X: np.ndarray | sp.csr_array) -> int:
        if isinstance(X, np.ndarray):
            return X.shape[0] * self.n_output_features_ * X.dtype.itemsize
        entries = Counter(np.diff(X.indptr).tolist())
        n_entries = sum(self._count(m) * n_rows for m, n_rows in entries.items())
        # About five arrays of the output's size are alive at once: the output, the blocks that it is made of, and the indices of these.
        return 5 * n_entries * (X.dtype.itemsize + 8)

    def _distinct_dense(self, X: np.ndarray) -> np.ndarray:
        # X is checked already. A pandas output, where the user has chosen that, is made by the caller of this method and not here.
        with config_context(assume_finite=True, transform_output="default"):
            Z = PolynomialFeatures(self.degree, include_bias=self.include_bias).fit_transform(X)
        starts = _starts(X.shape[1], self.degree)
        for part in _chunks(Z.shape[1] if self.scaled else 0):
            columns = np.arange(part.start, part.stop, dtype=np.int64)
            Z[:, part] *= _scale(columns, starts, int(self.include_bias)).astype(Z.dtype)
        return Z

    def _ordered_dense(self, X: np.ndarray) -> np.ndarray:
        n, d = X.shape
        Z = np.empty((n, self.n_output_features_), dtype=X.dtype)
        begin = int(self.include_bias)
        Z[:, :begin] = 1
        Z[:, begin : begin + d] = X
        width = d
        for _ in range(2, self.degree + 1):
            end = begin + width
            block = Z[:, end : end + width * d].reshape(n, width, d)  # a view: the last axis is only split
            np.multiply(Z[:, begin:end, None], X[:, None, :], out=block)
            begin, width = end, width * d
        return Z

    def _sparse(self, X: sp.csr_array) -> sp.csr_array:
        """ψ(X) of CSR rows, degree by degree: every product of the degree below is multiplied by the entries of X in its row.

        Of distinct monomials, each is multiplied only by the entries up to its own smallest index, which are the first entries of
        the row, so that every monomial is made once. Its number among the monomials of its degree follows from ``_starts``.
        """
        n, d = X.shape
        starts = _starts(d, self.degree)
        in_row = np.diff(X.indptr).astype(np.int64)
        row_start = np.repeat(X.indptr[:-1].astype(np.int64), in_row)  # where the row of each product begins in X
        last_taken = np.arange(X.nnz)  # the entry of X that each product was multiplied by last
        data, number, indptr, width = X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64), d
        blocks = [sp.csr_array(np.ones((n, 1), dtype=X.dtype))] if self.include_bias else []
        blocks.append(X)
        for k in range(2, self.degree + 1):
            partners = np.repeat(in_row, np.diff(indptr)) if self.ordered else last_taken - row_start + 1
            ends = np.concatenate([[0], np.cumsum(partners)])
            left = np.repeat(np.arange(len(data)), partners)
            last_taken = np.arange(len(left)) - np.repeat(ends[:-1] - row_start, partners)
            index = X.indices[last_taken]
            if self.ordered:
                number, width = number[left] * d + index, width * d
            else:
                number, width = number[left] + (starts[k - 1] - starts[k - 2])[index], int(starts[k - 1][-1])
            data, indptr, row_start = data[left] * X.data[last_taken], ends[indptr], row_start[left]
            blocks.append(sp.csr_array((data, number, indptr), shape=(n, width)))
        # SciPy before 1.12 stacks arrays to a matrix.
        Z = sp.csr_array(sp.hstack(blocks, format="csr", dtype=X.dtype))
        Z.sort_indices()
        for part in _chunks(0 if self.ordered or not self.scaled else Z.nnz):
            Z.data[part] *= _scale(Z.indices[part].astype(np.int64), starts, int(self.include_bias)).astype(Z.dtype)
        return Z

    def _terms(self) -> Iterator[tuple[int, ...]]:
        """The column indices that each output column multiplies, in the order of the output."""
        features = range(self.n_features_in_)
        degrees = range(0 if self.include_bias else 1, self.degree + 1)
        if self.ordered:
            return chain.from_iterable(product(features, repeat=k) for k in degrees)
        return chain.from_iterable(combinations_with_replacement(features, k) for k in degrees)


def _spell_ordered(names: np.ndarray, term: tuple[int, ...]) -> str:
    return " ".join(names[j] for j in term) or "1"


def _spell_distinct(names: np.ndarray, term: tuple[int, ...]) -> str:
    powers = [(names[j], len(list(run))) for j, run in groupby(term)]
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers) or "1"


def _chunks(n: int) -> Iterator[slice]:
    return (slice(begin, min(begin + _CHUNK, n)) for begin in range(0, n, _CHUNK))


def _starts(n_features: int, degree: int) -> list[np.ndarray]:
    """starts[k − 1][j]: how many monomials of degree k have their smallest index below j; the last entry counts all."""
    starts = [np.arange(n_features + 1, dtype=np.int64)]
    for _ in range(2, degree + 1):
        # A monomial with the smallest index j is x_j times a monomial of the degree below, on the columns from j on.
        with_smallest = starts[-1][-1] - starts[-1][:-1]
        starts.append(np.concatenate([[0], np.cumsum(with_smallest)]))
    return starts


def _scale(columns: np.ndarray, starts: list[np.ndarray], begin: int) -> np.ndarray:
    """√(k! / (m₁! ⋯ m_d!)) of the monomials in these output columns, where ``begin`` is the first column of degree 1.

    Monomials of one degree stand in lexicographic order of their sorted indices j₁ ≤ … ≤ j_k. The number of a monomial
    gives j₁ by a search in ``starts``; the remainder is the number of (j₂, …, j_k) among the monomials of the degree below. The
    radicand is the product over p = 1, …, k of p / (how often j_p has come up to p).
    """
    orderings = np.ones(len(columns))
    for k, total in enumerate((starts_k[-1] for starts_k in starts), start=1):
        inside = np.flatnonzero((columns >= begin) & (columns < begin + total))
        number = columns[inside] - begin
        previous, repeats = np.full(len(inside), -1), np.zeros(len(inside))
        for p in range(1, k + 1):
            here = starts[k - p]
            index = np.searchsorted(here, number, side="right") - 1
            repeats = np.where(index == previous, repeats + 1, 1)
            orderings[inside] = orderings[inside] * p / repeats
            if p < k:
                number += starts[k - p - 1][index] - here[index]
            previous = index
        begin += total
    return np.sqrt(orderings)
