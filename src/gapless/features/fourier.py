"""Random Fourier features of the kernels that depend on x − z: RBF, Laplacian and Matérn."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gapless.data import require_memory
from gapless.data.namespace import NamespaceMixin
from gapless.errors import InvalidInputError
from gapless.features.checks import check_input, check_kernel, check_switch
from gapless.kernels import RBF, Kernel, Laplacian, Matern
from gapless.kernels.parameters import check_natural

_CHUNK = 2**18  # entries worked on at a time (2 MB in float64), so that the passes over them stay in the cache


class RandomFourier(NamespaceMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""φ(x) = m^(−1/2) (cos⟨ω₁, x⟩, …, cos⟨ω_m, x⟩, sin⟨ω₁, x⟩, …, sin⟨ω_m, x⟩), with ω drawn from the spectrum of the kernel.

    The expectation of ⟨φ(x), φ(z)⟩ is k(x, z) (Rahimi & Recht 2007), and ⟨φ(x), φ(x)⟩ = k(x, x) = 1 exactly. The spectrum is normal with variance
    2γ for RBF, Cauchy of width γ in each coordinate for the Laplacian, and Student's t with 2ν degrees of freedom and width 1/ℓ for Matérn.

    CSR input is welcome; the output is dense, since no entry is zero. float32 input is multiplied in float32.

    Parameters
    ----------
    n_frequencies : int, default 100
        m, half the number of columns, since each frequency has a cosine and a sine.
    kernel : RBF, Laplacian or Matern, default None
        The kernel; None is ``RBF(gamma=1 / (n_features * X.var()))``.
    orthogonal : bool, default False
        Whether to draw the frequencies at right angles to each other, n_features at a time (Yu et al. 2016): each frequency keeps its distribution,
        and the error is smaller. This is for kernels of the Euclidean distance (RBF and Matérn) alone.
    random_state : int, RandomState or None, default None
        The seed of the drawing.

    Attributes
    ----------
    frequencies_ : array of shape (n_features, n_frequencies)
        One frequency ω a column.
    kernel_ : Kernel
        The kernel in use.
    n_features_in_, feature_names_in_
        Width and column names (where it has them) of the data seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.features import RandomFourier
    >>> from gapless.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> Z = RandomFourier(1000, kernel=RBF(gamma=0.1), random_state=0).fit_transform(X)
    >>> bool(abs(Z @ Z.T - RBF(gamma=0.1)(X)).max() < 0.1), np.allclose((Z**2).sum(axis=1), 1.0)
    (True, True)
    """

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        kernel: Kernel | None = None,
        orthogonal: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.kernel = kernel
        self.orthogonal = orthogonal
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies; of X only the number of columns counts (and, where no kernel is given, the variance)."""
        m = check_natural("n_frequencies", self.n_frequencies)
        orthogonal = check_switch(self.orthogonal, "orthogonal")
        X = check_input(self, X, reset=True, sparse=True)
        kernel = check_kernel(self.kernel, X)
        d = X.shape[1]
        require_memory(16 * d * m, f"RandomFourier draws {m:,} frequencies for {2 * m:,} columns, which")
        self.frequencies_ = _draw(kernel, d, m, orthogonal, check_random_state(self.random_state))
        self.kernel_ = kernel
        return self

    def transform(self, X: Any) -> np.ndarray:
        """φ(X) of shape (n_samples, 2 n_frequencies), dense, in X's precision."""
        check_is_fitted(self)
        X = check_input(self, X, reset=False, sparse=True)
        n, half = X.shape[0], self.frequencies_.shape[1]
        require_memory(
            2 * n * half * X.dtype.itemsize,
            f"RandomFourier with {half:,} frequencies makes {2 * half:,} columns: its output for {n:,} rows",
        )
        W = self.frequencies_.astype(X.dtype, copy=False)
        Z = np.empty((n, 2 * half), dtype=X.dtype)
        step = max(1, _CHUNK // half)
        for start in range(0, n, step):
            part = slice(start, start + step)
            angles = np.asarray(X[part] @ W)
            np.cos(angles, out=Z[part, :half])
            np.sin(angles, out=Z[part, half:])
            Z[part] *= X.dtype.type(math.sqrt(1.0 / half))
        return Z

    @property
    def _n_features_out(self) -> int:
        return 2 * self.frequencies_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _draw(kernel: Kernel, d: int, count: int, orthogonal: bool, rng: np.random.RandomState) -> np.ndarray:
    """``count`` frequencies of a kernel in d dimensions, each in a column."""
    if isinstance(kernel, Laplacian):
        if orthogonal:
            raise InvalidInputError(
                "orthogonal=True needs a kernel of the Euclidean distance, RBF or Matern; the spectrum of Laplacian has preferred directions."
            )
        return kernel.gamma * rng.standard_cauchy((d, count))
    if isinstance(kernel, RBF):
        widths = np.full(count, math.sqrt(2.0 * kernel.gamma))
    elif isinstance(kernel, Matern):
        widths = np.full(count, 1.0 / kernel.length_scale)
        if math.isfinite(kernel.nu):  # Student's t is a normal distribution whose width is drawn, too
            widths *= np.sqrt(2.0 * kernel.nu / rng.chisquare(2.0 * kernel.nu, size=count))
    else:
        raise InvalidInputError(
            f"kernel must be RBF, Laplacian or Matern, whose spectra are known; got {kernel!r}. Nystroem takes any kernel."
        )
    normal = rng.standard_normal((d, count))
    if not orthogonal:
        return normal * widths
    lengths = np.linalg.norm(normal, axis=0)
    parts = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(-(-count // d))]
    return np.hstack(parts)[:, :count] * (lengths * widths)
