"""The Nyström features of any kernel: their inner products are the kernel's, projected on the span of a few landmarks."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gapless.data import require_memory
from gapless.data.namespace import NamespaceMixin
from gapless.errors import InvalidInputError
from gapless.features.checks import check_input, check_kernel
from gapless.kernels import Kernel, Panels, Validity
from gapless.kernels.parameters import check_natural
from gapless.machine import on_all_cores

# k-means sees this many samples for each landmark, and makes this many rounds at most. Both are by hand: centres need not be optimal to be landmarks.
_KMEANS_SAMPLES = 20
_KMEANS_ROUNDS = 20
_STRIP = 2**19  # entries worked on at a time (4 MB in float64), so that the passes over them stay in the cache
_DRAWS = 64  # pivots drawn at a time, by hand: enough for the speed of matrix products, whatever their number the distribution is the same


class Nystroem(NamespaceMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""φ(x) = Λ^(−1/2) Uᵀ (k(x, z₁), …, k(x, z_m)) for m landmarks z, where k(Z, Z) = U Λ Uᵀ.

    ⟨φ(x), φ(x′)⟩ = k(x, Z) k(Z, Z)⁻¹ k(Z, x′) is the kernel between the projections of both points on the span of the landmarks: exact on the
    landmarks, and never above the kernel in the order of positive semi-definite matrices. Directions whose eigenvalue is within rounding of zero
    are left out, so that there may be fewer columns than landmarks.

    CSR input is welcome where the kernel takes it; the output is dense. A map that was fitted on float32 multiplies in float32.

    Parameters
    ----------
    n_components : int, default 100
        The number of landmarks, or the number of samples where that is smaller.
    kernel : Kernel, default None
        Any positive semi-definite kernel of :mod:`gapless.kernels`; None is ``RBF(gamma=1 / (n_features * X.var()))``.
    method : {"uniform", "kmeans", "cholesky"}, default "uniform"
        How landmarks are chosen: samples drawn uniformly; the centres of k-means; or the pivots of a randomly pivoted Cholesky factorisation, which
        draws the next landmark in proportion to what the landmarks before it leave of k(x, x) (Chen, Epperly, Tropp & Webber 2022): near-optimal for
        every kernel, at n · m² operations and n · m numbers of memory.
    random_state : int, RandomState or None, default None
        The seed of the drawing.

    Attributes
    ----------
    landmarks_ : array or CSR array of shape (n_landmarks, n_features)
        The landmarks in use.
    indices_ : array of shape (n_landmarks,) or None
        Which samples the landmarks are; None for the centres of k-means, which are not samples.
    projection_ : array of shape (n_landmarks, n_columns)
        U Λ^(−1/2).
    kernel_ : Kernel
        The kernel in use.
    n_features_in_, feature_names_in_
        Width and column names (where it has them) of the data seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.features import Nystroem
    >>> from gapless.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> phi = Nystroem(40, kernel=RBF(gamma=0.1), method="cholesky", random_state=0).fit(X)
    >>> Z = phi.transform(X)
    >>> bool(abs(Z @ Z.T - RBF(gamma=0.1)(X)).max() < 1e-4)
    True
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Kernel | None = None,
        method: str = "uniform",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.method = method
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and factor the kernel between them."""
        m = check_natural("n_components", self.n_components)
        X = check_input(self, X, reset=True, sparse=True)
        kernel = check_kernel(self.kernel, X)
        if kernel.validity is Validity.NOT_VALID:
            raise InvalidInputError(
                f"kernel must be positive semi-definite, since features have inner products; got {kernel!r}."
            )
        m = min(m, X.shape[0])
        require_memory(8 * m * m, f"Nystroem factors the kernel between its landmarks: {m:,} x {m:,} in float64, which")
        self.indices_ = self._choose(X, kernel, m)
        landmarks = _centres(X, m, check_random_state(self.random_state)) if self.indices_ is None else X[self.indices_]
        values, vectors = la.eigh(kernel.block(landmarks, landmarks), check_finite=False)
        # An eigenvalue below the first bound is nothing but rounding. The second bound is for the features: the rounding of k(x, Z), in the precision
        # of X, is divided by the root of an eigenvalue.
        smallest = max(m * np.finfo(np.float64).eps, 16 * np.finfo(X.dtype).eps)
        kept = values > smallest * max(float(values[-1]), 0.0)
        self.landmarks_ = landmarks
        self.projection_: np.ndarray = np.ascontiguousarray(vectors[:, kept][:, ::-1] / np.sqrt(values[kept][::-1]))
        if X.dtype == np.float32:
            self.projection_ = self.projection_.astype(np.float32)
        self.kernel_ = kernel
        return self

    def transform(self, X: Any) -> np.ndarray:
        """φ(X) of shape (n_samples, number of columns), dense, in X's precision."""
        check_is_fitted(self)
        X = check_input(self, X, reset=False, sparse=True)
        n, r = X.shape[0], self._n_features_out
        require_memory(
            n * r * X.dtype.itemsize,
            f"Nystroem with {self.landmarks_.shape[0]:,} landmarks makes {r:,} columns: its output for {n:,} rows",
        )
        Z = np.empty((n, r), dtype=X.dtype)
        single = X.dtype == self.projection_.dtype == np.float32
        panels = Panels(self.kernel_, self.landmarks_, np.float32 if single else np.float64)
        step = max(1, _STRIP // panels.n)

        def fill(start: int) -> None:
            strip = slice(start, start + step)
            np.matmul(panels.cross(X[strip]), self.projection_, out=Z[strip], casting="same_kind")

        # Each core works on a strip of its own: the product of one strip is too short to be shared by several cores.
        on_all_cores(fill, range(0, n, step))
        return Z

    @property
    def _n_features_out(self) -> int:
        return self.projection_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _choose(self, X: np.ndarray | sp.csr_array, kernel: Kernel, m: int) -> np.ndarray | None:
        """Which samples are landmarks; None for k-means, whose landmarks are not samples."""
        if self.method == "uniform":
            return check_random_state(self.random_state).choice(X.shape[0], size=m, replace=False)
        if self.method == "cholesky":
            return pivots(kernel, X, m, check_random_state(self.random_state))
        if self.method != "kmeans":
            raise InvalidInputError(f"method must be 'uniform', 'kmeans' or 'cholesky'; got {self.method!r}.")
        return None


def _centres(X: np.ndarray | sp.csr_array, m: int, rng: np.random.RandomState) -> np.ndarray:
    from sklearn.cluster import KMeans  # slow to import, and needed here alone

    n = X.shape[0]
    if n > _KMEANS_SAMPLES * m:
        X = X[rng.choice(n, size=_KMEANS_SAMPLES * m, replace=False)]
    with warnings.catch_warnings():
        # k-means warns where samples repeat, so that it finds fewer centres; the directions of repeated landmarks are left out.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centres = KMeans(m, n_init=1, max_iter=_KMEANS_ROUNDS, random_state=rng).fit(X).cluster_centers_
    return centres.astype(X.dtype, copy=False)


def pivots(kernel: Kernel, X: np.ndarray | sp.csr_array, m: int, rng: np.random.RandomState) -> np.ndarray:
    """At most m pivots of a randomly pivoted Cholesky factorisation of k(X, X), each drawn in proportion to the diagonal that earlier pivots leave.

    Pivots are drawn in blocks. Within a block, a draw is accepted with a probability, the share of its diagonal that the draws accepted before it
    have left. The pivots then have the same distribution as if they were drawn one after the other (Epperly, Tropp & Webber 2024), at the speed of
    matrix products.

    >>> import numpy as np
    >>> from gapless.kernels import Linear
    >>> len(pivots(Linear(), np.ones((5, 1)), 3, np.random.RandomState(0)))  # five equal samples span one direction
    1
    """
    n = X.shape[0]
    require_memory(8 * n * m, f"Randomly pivoted Cholesky factorisation holds {n:,} x {m:,} numbers in float64, which")
    left = kernel.diag(X)
    nothing = 16 * np.finfo(float).eps * max(float(left.max(initial=0.0)), 0.0)
    left = np.where(left > nothing, left, 0.0)
    F = np.empty((n, m))
    chosen: list[int] = []
    while len(chosen) < m and left.any():
        r = len(chosen)
        drawn = rng.choice(n, size=min(_DRAWS, m - r), p=left / left.sum())
        H = kernel.block(X[drawn], X[drawn]) - F[drawn, :r] @ F[drawn, :r].T
        first = H.diagonal().copy()
        accepted: list[int] = []
        for j in range(len(drawn)):
            if rng.random_sample() * first[j] < H[j, j] and H[j, j] > nothing:
                accepted.append(j)
                column = H[:, j] / np.sqrt(H[j, j])
                H = H - np.outer(column, column)
        if not accepted:
            left[drawn] = np.where(first > nothing, left[drawn], 0.0)
            continue
        new = drawn[accepted]
        G = kernel.block(X[new], X) - F[new, :r] @ F[:, :r].T
        L = la.cholesky(_regular(G[:, new]), lower=True, check_finite=False)
        F[:, r : r + len(new)] = la.solve_triangular(L, G, lower=True, check_finite=False).T
        left -= np.square(F[:, r : r + len(new)]).sum(axis=1)
        left[new] = 0.0
        left = np.where(left > nothing, left, 0.0)
        chosen.extend(new.tolist())
    return np.array(chosen or [0])


def _regular(A: np.ndarray) -> np.ndarray:
    """The symmetric part of A, with a diagonal that is raised enough for rounding not to make the matrix indefinite."""
    return 0.5 * (A + A.T) + 4 * len(A) * np.finfo(float).eps * np.trace(A) * np.eye(len(A))
