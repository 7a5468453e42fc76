"""Support vectors of the linear estimators: which samples they are, and with what coefficients."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapless.estimators.solving import Solved


class LinearSupport:
    """The attributes ``support_``, ``dual_coef_``, ``n_support_`` and ``alpha_``, from the dual variables that a fit keeps besides w.

    The support vectors themselves are not kept: a linear model predicts without them, and they may be all of the training data.
    """

    _solved: list[Solved]
    _n_support: np.ndarray

    @property
    def support_(self) -> np.ndarray:
        """Indices of the support vectors in ascending order: the training samples with a dual variable that is not zero, in any of the subproblems.

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
        """The coefficients of the support vectors, a row for each row of ``coef_``: yα of a classifier, α − α* of a regression.

        With an l2 penalty ``dual_coef_ @ X[support_]`` is ``coef_`` up to the gap: the two rows differ by at most √(2 · gap) in length (2√gap for the
        one row of two classes under Crammer and Singer). With an l1 penalty there are dual variables too, but the weights are not a combination of
        the samples.

        >>> from gapless import LinearSVC
        >>> X = [[-9.0], [-1.0], [1.0], [9.0]]
        >>> model = LinearSVC(loss="hinge", tol=1e-9).fit(X, [0, 0, 1, 1])
        >>> model.dual_coef_.round(3), model.coef_.round(3)
        (array([[-0.5,  0.5]]), array([[1.]]))
        """
        support = self.support_
        return np.vstack([beta[support] for beta in self._functions()]) + 0.0  # adding 0 turns −0 into 0

    @property
    def n_support_(self) -> np.ndarray:
        """The number of support vectors of each class; of a regression an array with one number."""
        if not hasattr(self, "_n_support"):
            raise AttributeError("n_support_ is known after fit")
        return self._n_support

    @property
    def support_vectors_(self) -> NoReturn:
        """Not kept: the error says where to find the support vectors."""
        raise AttributeError(
            f"{type(self).__name__} keeps no training samples; of the X that it was fitted on, X[model.support_] are the support vectors."
        )

    @property
    def alpha_(self) -> np.ndarray:
        """|β| of every training sample, in [0, C] under the hinge loss: a vector, or a column for each class where there are several subproblems."""
        check_is_fitted(self)
        alpha = np.abs(np.column_stack([solved.beta for solved in self._solved]))
        return alpha[:, 0] if alpha.shape[1] == 1 else alpha

    def _functions(self) -> list[np.ndarray]:
        """The dual variables β that belong to each row of ``coef_``."""
        return [solved.beta for solved in self._solved]

    def _count_support(self, codes: np.ndarray | None = None, classes: int = 1) -> Any:
        """Keep the number of support vectors of each class, by ``codes``, the classes of the samples; of all support vectors where there are none."""
        beta = self._solved[0].beta
        if codes is None or (classes == 2 and beta.ndim == 1):  # of two classes the sign of β tells the class
            positive = 0 if codes is None else np.count_nonzero(beta > 0)
            counts: Any = [np.count_nonzero(beta) - positive, positive][:classes]
        else:
            counts = np.bincount(codes[self.support_], minlength=classes)
        self._n_support = np.array(counts, dtype=np.int32)
