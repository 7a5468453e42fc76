"""``probability=True`` of SVC and NuSVC: the warning, the calibration, and the methods and attributes that scikit-learn 1.9 has."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gapless.data.namespace import taking_any_library
from gapless.errors import InvalidInputError
from gapless.estimators.deadline import Deadline
from gapless.estimators.held_out import FOLDS, held_out_decisions
from gapless.estimators.one_vs_one import OneVersusOne
from gapless.estimators.parameters import BOOLEAN, Rule
from gapless.estimators.platt import LEAD, LEAST, agreeing, fit_sigmoids, probabilities
from gapless.estimators.report import users_level
from gapless.store.kinds import fits

PROBABILITY: Rule = Rule(lambda value: BOOLEAN.holds(value) or value == "deprecated", "True or False")

FOLDS_AND_SOLVERS = (
    "int or RandomState",
    "The seed of the folds of ``probability=True``, and of the solvers that draw samples; None is a fixed seed, so that the same data gives the same "
    "model.",
)
"""Type and explanation of ``random_state``."""


def _asked_for(estimator: Any) -> bool:
    if estimator._calibrates:
        return True
    raise AttributeError(f"predict_proba is not available when probability=False. {_remedy(estimator)}")


def _remedy(estimator: Any) -> str:
    name = type(estimator).__name__
    return f"Use `CalibratedClassifierCV({name}(), ensemble=False)` instead of `{name}(probability=True)`"


class ProbabilityMixin:
    """The methods ``predict_proba`` and ``predict_log_proba``, and the attributes ``probA_`` and ``probB_``.

    What the probabilities mean: of a pair of classes, the sigmoid of its decision value that is the most likely for decision values of a five-fold
    cross-validation; of several classes, the distribution that fits all pairs best. They never contradict ``predict``: where its label would not be
    the most probable one, the nearest distribution takes their place in which no label is more probable. Labels then share the highest probability,
    ½ each where there are two; ``predict`` decides among them, and leads by a millionth. Such a tie says that the machine and its calibration
    disagree. This happens near the boundary, and in a wider strip where class weights move the boundary away from even odds.
    """

    probability: Any
    _least_and_lead = (LEAST, LEAD)  # for the export to ONNX
    _probA: np.ndarray
    _probB: np.ndarray

    @property
    def _calibrates(self) -> bool:
        return self.probability != "deprecated" and bool(self.probability)

    def _check_probability(self) -> None:
        """Give scikit-learn's warning where the parameter is set, and forget the sigmoids of an earlier fit."""
        for name in ("_probA", "_probB"):
            vars(self).pop(name, None)
        if not isinstance(self.probability, str):
            warnings.warn(
                "The `probability` parameter was deprecated in 1.9 of scikit-learn and will be removed in version 1.11. " + _remedy(self),
                FutureWarning,
                stacklevel=users_level(),
            )  # fmt: skip

    def _time_of_machines(self, deadline: Deadline) -> Deadline:
        """The clock of the fit itself, which leaves time to the calibration: the machines of a fold are about as much work again."""
        return Deadline(deadline.left / (FOLDS + 1)) if self._calibrates and deadline.left < np.inf else deadline

    def _calibrate(self, task: OneVersusOne, deadline: Deadline) -> None:
        """Fit the sigmoid of each pair of classes to decision values of samples that were held out."""
        state = getattr(self, "random_state", None)
        seed = 0 if state is None else int(check_random_state(state).randint(2**31 - 1))
        members = task.members
        f = held_out_decisions(task, deadline, seed)
        of_first = task.codes[members.samples] == members.spread(members.first)
        weight = np.ones(len(f)) if task.counts is None else task.counts[members.samples]
        self._probA, self._probB = fit_sigmoids(f, of_first, weight, members.starts)

    def _check_loaded(self) -> None:
        super()._check_loaded()  # type: ignore[misc]
        pairs = math.comb(len(self.classes_), 2)  # type: ignore[attr-defined]
        for name in {"_probA", "_probB"} & vars(self).keys():
            numbers = getattr(self, name)
            if not fits(numbers, np.ndarray) or numbers.dtype != np.float64 or numbers.shape != (pairs,):
                raise InvalidInputError(f"its {name[1:]}_ is not an array of {pairs} numbers")

    @available_if(_asked_for)
    @taking_any_library
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, a column for each of ``classes_``; the largest of a sample is that of ``predict``.

        >>> import warnings
        >>> from gapless import SVC
        >>> X, y = [[float(i)] for i in range(20)], [i // 10 for i in range(20)]
        >>> with warnings.catch_warnings(action="ignore"):
        ...     model = SVC(kernel="linear", probability=True).fit(X, y)
        >>> model.predict_proba([[0.0], [8.0], [19.0]]).round(2)
        array([[0.98, 0.02],
               [0.65, 0.35],
               [0.02, 0.98]])
        """
        check_is_fitted(self)
        if not {"_probA", "_probB"} <= vars(self).keys():
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        n_classes = len(self.classes_)  # type: ignore[attr-defined]
        decisions = self._pair_decisions(X)  # type: ignore[attr-defined]
        if not decisions.shape[1] == len(self._probA) == len(self._probB):
            raise InvalidInputError(f"The internal representation of {type(self).__name__} was altered")
        p = probabilities(decisions, self._probA, self._probB, n_classes)
        return agreeing(p, self._winners(decisions))  # type: ignore[attr-defined]

    @available_if(_asked_for)
    @taking_any_library
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of ``predict_proba``.

        >>> import warnings
        >>> from gapless import SVC
        >>> X, y = [[float(i)] for i in range(20)], [i // 10 for i in range(20)]
        >>> with warnings.catch_warnings(action="ignore"):
        ...     model = SVC(kernel="linear", probability=True).fit(X, y)
        >>> model.predict_log_proba([[0.0], [19.0]]).round(2)
        array([[-0.02, -3.95],
               [-3.99, -0.02]])
        """
        return np.log(self.predict_proba(X))

    @property
    def probA_(self) -> np.ndarray:
        """A of each pair of classes: the first of its two classes has the probability 1 / (1 + exp(A f + B)); empty without ``probability=True``.

        f is a column of ``decision_function_shape="ovo"``; of two classes it is −f that ``decision_function`` returns.

        >>> import warnings
        >>> from gapless import SVC
        >>> X, y = [[float(i)] for i in range(20)], [i // 10 for i in range(20)]
        >>> with warnings.catch_warnings(action="ignore"):
        ...     SVC(kernel="linear", probability=True).fit(X, y).probA_.round(2)
        array([-0.42])
        """
        return self._sigmoid_numbers("A")

    @property
    def probB_(self) -> np.ndarray:
        """B of each pair of classes, see ``probA_``; empty without ``probability=True``.

        >>> import warnings
        >>> from gapless import SVC
        >>> X, y = [[float(i)] for i in range(20)], [i // 10 for i in range(20)]
        >>> with warnings.catch_warnings(action="ignore"):
        ...     SVC(kernel="linear", probability=True).fit(X, y).probB_.round(2)
        array([0.02])
        """
        return self._sigmoid_numbers("B")

    def _sigmoid_numbers(self, which: str) -> np.ndarray:
        if not hasattr(self, "classes_"):
            raise AttributeError(f"prob{which}_ is known after fit")
        warnings.warn(
            f"Attribute `prob{which}_` was deprecated in version 1.9 of scikit-learn and will be removed in 1.11, as `probability=True` will be.",
            FutureWarning,
            stacklevel=users_level(),
        )
        return getattr(self, f"_prob{which}", np.empty(0))
