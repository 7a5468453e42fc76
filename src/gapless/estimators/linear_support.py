"""Support vectors of the linear estimators: which samples they are, and with what coefficients."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapless.estimators.solving import Solved


class LinearSupport:
    """``support_``, ``dual_coef_``, ``n_support_`` and ``alpha_`` from the dual variables, which a fit keeps beside w.

    The samples themselves are not kept: a linear model predicts without them, and they may be all of the training data.
    """

    _solved: list[Solved]
    _n_support: np.ndarray

    @property
    def support_(self) -> np.ndarray:
        """Indices of the support vectors in ascending order: the training samples whose dual variable is not zero, of several classes in any problem.

        >>> from gapless import LinearSVC
        >>> model = LinearSVC(loss="hinge", tol=1e-9).fit([[-9.0], [-1.0], [1.0], [9.0]], [0, 0, 1, 1])
        >>> model.support_
        array([1, 2], dtype=int32)
        """
        check_is_fitted(self)
        used = np.zeros(len(self._solved[0].beta), dtype=bool)
        for solved in self._solved:
            used |= solved.beta.any(axis=1) if solved.beta.ndim == 2 else solved.beta != 0
        return np.flatnonzero(used).astype(np.int32)

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the support vectors, a row for each row of ``coef_``: yα of a classifier, α − α* of a regression.

        With an l2 penalty ``dual_coef_ @ X[support_]`` is ``coef_`` but for what the gap leaves open: a row differs by at most √(2 · gap) in length
        (2√gap for the one row of two classes under Crammer and Singer). An l1 penalty has dual variables too, but its weights are no combination of
        the samples.

        >>> from gapless import LinearSVC
        >>> X = [[-9.0], [-1.0], [1.0], [9.0]]
        >>> model = LinearSVC(loss="hinge", tol=1e-9).fit(X, [0, 0, 1, 1])
        >>> model.dual_coef_.round(3), model.coef_.round(3)
        (array([[-0.5,  0.5]]), array([[1.]]))
        """
        support = self.support_
        return np.vstack([beta[support] for beta in self._functions()]) + 0.0  # no negative zeros

    @property
    def n_support_(self) -> np.ndarray:
        """Number of support vectors of each class; of a regression an array of one."""
        if not hasattr(self, "_n_support"):
            raise AttributeError("n_support_ is known after fit")
        return self._n_support

    @property
    def support_vectors_(self) -> NoReturn:
        """Not kept: the message says where to find them."""
        raise AttributeError(
            f"{type(self).__name__} keeps no training samples; of the X that it was fitted on, X[model.support_] are the support vectors."
        )

    @property
    def alpha_(self) -> np.ndarray:
        """|β| of every training sample, in [0, C] under the hinge: a vector, or a column a class where there are several problems."""
        check_is_fitted(self)
        alpha = np.abs(np.column_stack([solved.beta for solved in self._solved]))
        return alpha[:, 0] if alpha.shape[1] == 1 else alpha

    def _functions(self) -> list[np.ndarray]:
        """β of each row of ``coef_``."""
        return [solved.beta for solved in self._solved]

    def _count_support(self, codes: np.ndarray | None = None, classes: int = 1) -> Any:
        """Keep the number of support vectors of each class (``codes``), or of all."""
        beta = self._solved[0].beta
        if codes is None or (classes == 2 and beta.ndim == 1):  # the sign of β is that of the class
            positive = 0 if codes is None else np.count_nonzero(beta > 0)
            counts: Any = [np.count_nonzero(beta) - positive, positive][:classes]
        else:
            counts = np.bincount(codes[self.support_], minlength=classes)
        self._n_support = np.array(counts, dtype=np.int32)
