"""LinearSVCCV and LinearSVRCV: LinearSVC and LinearSVR that choose C and ε by themselves."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gapless.estimators import LinearSVC, LinearSVR
from gapless.estimators.documented import LINEAR, LINEAR_MODEL, documented
from gapless.estimators.parameters import Rule
from gapless.kernels.pairwise import inner_products
from gapless.model_selection import grids
from gapless.model_selection.stages import FIRST
from gapless.model_selection.tuned import (
    EPSILON,
    GRID,
    PARAMETERS,
    SEARCHED,
    STORED,
    TUNING,
    TunedEpsilonMixin,
    TunedMixin,
    axis,
    count_of,
    without,
)
from gapless.model_selection.widening import Axis
from gapless.model_selection.work import features_of
from gapless.store import register

# Stored entries of X of the first stage, by hand: the fit of a linear machine on fewer takes hardly longer than its objects and checks.
_FIRST_ENTRIES = 5e5

_CHOSEN = f"C_ Cs_ {SEARCHED}"


class _TunedLinearMixin(TunedMixin):
    """The search of C."""

    _power: float = 1.0

    def _first_stage(self, X: Any) -> float:
        return max(FIRST, _FIRST_ENTRIES / max(1.0, features_of(X)))

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        X, y, weight = self._take(X, y, sample_weight)  # type: ignore[attr-defined]
        return X, self._targets(y, weight), weight

    def _axes(self, X: Any, y: np.ndarray, weight: np.ndarray) -> list[Axis]:
        rows, weights = grids.representatives(X, weight)
        some = X[rows]
        found = grids.cost_grid(
            inner_products(some, some), weights, count_of(self.Cs), self._unit(y, weight), self._power
        )
        return [axis("C", self.Cs, found), *self._more_axes(y, weight)]


@register
@documented(
    f"{_CHOSEN} classes_ {LINEAR_MODEL}",
    **{**LINEAR, **PARAMETERS},
    penalty=("{'l1', 'l2'}", "The regulariser: ``'l1'``, which makes weights exactly zero, is for the squared hinge."),
    loss=("{'hinge', 'squared_hinge'}", "The loss ℓ."),
    multi_class=("{'ovr', 'crammer_singer'}", "More than two classes: each against the rest, or all in one problem."),
)
class LinearSVCCV(_TunedLinearMixin, LinearSVC):
    """:class:`~gapless.LinearSVC` that chooses C by cross-validation, as :class:`SVCCV` does.

    The variance that the grid of C is in proportion to is that of the features, summed; under an l1 penalty its square root takes its place.

    Examples
    --------
    >>> from gapless import LinearSVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVCCV().fit(X, y)
    >>> print(f"C = {model.C_:.3g}, accuracy {model.best_score_:.3f}")
    C = 22, accuracy 0.973
    >>> model.coef_.shape, model.scores_.shape
    ((3, 4), (5, 7))
    """

    _base: ClassVar[type] = LinearSVC
    _stored: ClassVar[tuple[str, ...]] = (*LinearSVC._stored, *STORED)
    _rules: ClassVar[dict[str, Rule]] = {**without(LinearSVC._rules, "C"), **TUNING}

    def __init__(
        self,
        *,
        Cs: Any = 7,
        widen: int = 3,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        racing: bool = False,
        prove: str = "bounded",
        staged: bool = True,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        dual: bool | str = "auto",
        tol: float = 1e-4,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "regularized",
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.Cs = Cs
        self.widen = widen
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.racing = racing
        self.prove = prove
        self.staged = staged
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    @property
    def _power(self) -> float:  # type: ignore[override]
        # Where X is multiplied by s, w is divided by s: ‖w‖² against the losses asks for C/s², ‖w‖₁ for C/s.
        return 0.5 if self.penalty == "l1" and self.multi_class == "ovr" else 1.0


@register
@documented(
    f"{_CHOSEN} epsilon_ epsilons_ {LINEAR_MODEL}",
    **{**LINEAR, **PARAMETERS, **EPSILON},
    loss=("{'epsilon_insensitive', 'squared_epsilon_insensitive'}", "The loss: the error above ε, or its square."),
)
class LinearSVRCV(TunedEpsilonMixin, _TunedLinearMixin, LinearSVR):
    """:class:`~gapless.LinearSVR` that chooses C and ε by cross-validation, as :class:`SVRCV` does.

    Examples
    --------
    >>> from gapless import LinearSVRCV
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVRCV().fit(scale(X), y)
    >>> print(f"epsilon = {model.epsilon_:.3g}, R² {model.best_score_:.3f}")
    epsilon = 13, R² 0.479
    """

    _base: ClassVar[type] = LinearSVR
    _stored: ClassVar[tuple[str, ...]] = (*LinearSVR._stored, *STORED, "epsilon_", "epsilons_")
    _rules: ClassVar[dict[str, Rule]] = {**without(LinearSVR._rules, "C", "epsilon"), **TUNING, "epsilons": GRID}

    def __init__(
        self,
        *,
        Cs: Any = 7,
        epsilons: Any = 3,
        widen: int = 3,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        racing: bool = False,
        prove: str = "bounded",
        staged: bool = True,
        tol: float = 1e-4,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "regularized",
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.Cs = Cs
        self.epsilons = epsilons
        self.widen = widen
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.racing = racing
        self.prove = prove
        self.staged = staged
        self.tol = tol
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _unit(self, y: np.ndarray, weight: np.ndarray) -> float:
        # An error that is squared grows with y as ‖w‖² does, so that C need not.
        return super()._unit(y, weight) if self.loss == "epsilon_insensitive" else 1.0
