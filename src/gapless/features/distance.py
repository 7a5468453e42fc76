"""How near a sample lies to each of some prototypes."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gapless.data import check_matrix, require_memory
from gapless.data.namespace import NamespaceMixin
from gapless.errors import InvalidInputError
from gapless.features.checks import check_input
from gapless.kernels.parameters import check_natural


class Distance(NamespaceMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""One column φⱼ(x) = exp(−γ‖x − pⱼ‖²) for every prototype pⱼ: 1 at the prototype, near 0 far from it.

    CSR input is welcome; the output is dense, since no entry is zero.

    Parameters
    ----------
    prototypes : matrix of shape (n_prototypes, n_features), default None
        The prototypes, dense or CSR; ``n_prototypes``, ``method`` and ``random_state`` are then not used. None lets ``fit`` choose them.
    n_prototypes : int, default 10
        How many prototypes ``fit`` chooses: at most the number of samples.
    method : {"sample", "kmeans"}, default "sample"
        How ``fit`` chooses prototypes: samples drawn without replacement, or the centres of k-means.
    gamma : float, default 1.0
        γ > 0: the larger, the faster φⱼ falls with the distance.
    random_state : int, RandomState or None, default None
        The seed of the drawing, or of k-means' start.

    Attributes
    ----------
    prototypes_ : array or CSR array of shape (n_prototypes, n_features)
        The prototypes in use.
    n_features_in_, feature_names_in_
        Width and column names (where it has them) of the data seen in ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless.features import Distance
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> distance = Distance(prototypes=[[0.0, 0.0], [1.0, 1.0]]).fit(X)
    >>> distance.transform(X).round(4)
    array([[1.    , 0.1353],
           [0.3679, 0.3679],
           [0.1353, 1.    ]])
    >>> distance.get_feature_names_out().tolist()
    ['distance0', 'distance1']
    """

    def __init__(
        self,
        prototypes: Any = None,
        *,
        n_prototypes: int = 10,
        method: str = "sample",
        gamma: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.prototypes = prototypes
        self.n_prototypes = n_prototypes
        self.method = method
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the given prototypes, or choose them among or between the samples of X."""
        if not isinstance(self.gamma, Real) or isinstance(self.gamma, bool) or not 0 < self.gamma < np.inf:
            raise InvalidInputError(f"gamma must be a positive finite number; got {self.gamma!r}.")
        X = check_input(self, X, reset=True, sparse=True)
        self.prototypes_: np.ndarray | sp.csr_array = self._choose(X) if self.prototypes is None else self._given(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """φ(X) of shape (n_samples, number of prototypes), dense, in X's precision."""
        check_is_fitted(self)
        X = check_input(self, X, reset=False, sparse=True)
        n, m = X.shape[0], self._n_features_out
        require_memory(
            n * m * X.dtype.itemsize, f"Distance to {m:,} prototypes makes {m:,} columns: its output for {n:,} rows"
        )
        return rbf_kernel(X, self.prototypes_.astype(X.dtype), gamma=self.gamma)

    @property
    def _n_features_out(self) -> int:
        return self.prototypes_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _given(self, X: np.ndarray | sp.csr_array) -> np.ndarray | sp.csr_array:
        prototypes = check_matrix(self.prototypes, "prototypes")
        if prototypes.shape[1] != X.shape[1]:
            raise InvalidInputError(f"prototypes must have X's {X.shape[1]} features; got {prototypes.shape[1]}.")
        return prototypes.copy()  # a change of the caller's array must not change the model

    def _choose(self, X: np.ndarray | sp.csr_array) -> np.ndarray | sp.csr_array:
        m = check_natural("n_prototypes", self.n_prototypes)
        if m > X.shape[0]:
            raise InvalidInputError(f"n_prototypes must be at most n_samples={X.shape[0]}; got {m}.")
        if self.method == "sample":
            return X[check_random_state(self.random_state).choice(X.shape[0], size=m, replace=False)]
        if self.method == "kmeans":
            from sklearn.cluster import KMeans  # slow to import, and needed here alone

            return KMeans(m, random_state=self.random_state).fit(X).cluster_centers_
        raise InvalidInputError(f"method must be 'sample' or 'kmeans'; got {self.method!r}.")
