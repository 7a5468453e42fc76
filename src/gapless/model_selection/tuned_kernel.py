"""SVCCV and SVRCV: SVC and SVR that choose C, γ and ε by themselves."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from gapless.errors import InvalidInputError
from gapless.estimators import SVC, SVR
from gapless.estimators.documented import KERNEL_MODEL, documented
from gapless.estimators.kernel_spec import call_kernel, dense_if_small, gram_samples, resolve_kernel, takes_anything
from gapless.estimators.parameters import POSITIVE_WHOLE, Rule
from gapless.estimators.probability import FOLDS_AND_SOLVERS
from gapless.kernels import Kernel
from gapless.model_selection import grids
from gapless.model_selection.staged import StagedSearch
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
from gapless.store import register

_NAMES_WITH_GAMMA = ("rbf", "poly", "sigmoid")

_KERNEL_PARAMETERS = {
    **PARAMETERS,
    "kernel": (
        "str, Kernel or callable",
        "As of :class:`~gapless.SVC`. γ is chosen for the kernels that have one: ``'rbf'``, ``'poly'`` and ``'sigmoid'``, and those of "
        ":mod:`gapless.kernels` with a parameter ``gamma``, such as ``Laplacian()``, whatever number they have for it. A composed kernel stays as it "
        "is, and so does one that is given as a matrix or a function: then C is chosen alone.",
    ),
    "gammas": (
        "int or array-like",
        "The values of γ to try, or how many: a number of values is spread evenly, on a logarithmic scale, from 0.1 / q90 to 10 / q10, where q90 and "
        "q10 are quantiles of what γ multiplies in the kernel, such as squared distances, between at most 512 of the samples. ``'poly'`` with "
        "``coef0=0`` has one value, since its γ does what C does.",
    ),
    "gamma_": ("float or None", "The chosen γ; None for a kernel without γ."),
    "gammas_": (
        "array of shape (n_gammas,) or None",
        "All values of γ that were tried, ascending; None for a kernel without γ.",
    ),
    "kernel_": ("str, Kernel or callable", "The parameter ``kernel``; a kernel object with the chosen γ."),
}


class _TunedKernelMixin(TunedMixin):
    """The search of γ and C."""

    kernel: Any
    gammas: Any

    @property
    def _pairwise(self) -> bool:  # type: ignore[override]
        return self.kernel == "precomputed"

    gamma_: float | None
    gamma: Any = property(
        lambda self: "scale" if self.gamma_ is None else self.gamma_,
        doc="The chosen γ, under the name that the base class has for it; where there is none, a word that the base class disregards.",
    )

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        X, y = self._take(X, y)  # type: ignore[attr-defined]
        weight = None if sample_weight is None else self._weights(sample_weight)  # type: ignore[attr-defined]
        return X, self._targets(y, weight), weight

    def _axes(self, X: Any, y: np.ndarray, weight: np.ndarray) -> list[Axis]:
        given = self.kernel == "precomputed"
        if given:
            gram_samples(X)  # which refuses a matrix that is not square
        rows, weights = grids.representatives(None if given or takes_anything(self.kernel) else X, weight)
        some = X[np.ix_(rows, rows)] if given else dense_if_small(_safe_indexing(X, rows))
        axes = self._gamma_axes(some, weights)
        middle = {axis.name: axis.values[len(axis.values) // 2] for axis in axes}
        gram = self._gram(self._candidate().set_params(**middle), some, weights)
        found = grids.cost_grid(gram, weights, count_of(self.Cs), unit=self._unit(y, weight))
        return [axis("C", self.Cs, found), *axes, *self._more_axes(y, weight)]

    def _gamma_axes(self, X: Any, weight: np.ndarray) -> list[Axis]:
        named = isinstance(self.kernel, str)
        if not (self.kernel in _NAMES_WITH_GAMMA if named else isinstance(self.kernel, Kernel)):
            return []
        kernel = cast(Kernel, resolve_kernel(self._candidate().set_params(gamma=1.0), X, weight).kernel)
        if "gamma" not in kernel.get_params(deep=False):
            return []
        found = grids.gamma_grid(kernel, X, weight, count_of(self.gammas))
        if found is None and POSITIVE_WHOLE.holds(self.gammas):
            return []
        return [axis("gamma" if named else "kernel__gamma", self.gammas, found)]

    def _gram(self, candidate: Any, X: Any, weight: np.ndarray) -> np.ndarray:
        """The Gram matrix of these samples, with the candidate's kernel."""
        if self.kernel == "precomputed":
            return X
        kernel = resolve_kernel(candidate, X, weight).kernel
        with np.errstate(over="ignore", invalid="ignore"):
            gram = np.asarray(call_kernel(self.kernel, X, X) if kernel is None else kernel(X))
        if not np.isfinite(gram).all():
            raise InvalidInputError(
                f"The kernel of {type(self).__name__} must be finite on X; it overflows; scale the features."
            )
        return gram

    def _choose(self, search: StagedSearch) -> None:
        super()._choose(search)
        tried = next((axis for axis in search.axes if axis.name.endswith("gamma")), None)
        self.gammas_ = None if tried is None else tried.values
        self.gamma_ = None if tried is None else float(search.best_params_[tried.name])
        self.kernel_ = self.kernel
        if tried is not None and not isinstance(self.kernel, str):
            self.kernel_ = clone(self.kernel, safe=False).set_params(gamma=self.gamma_)


_CHOSEN = f"C_ gamma_ kernel_ Cs_ gammas_ {SEARCHED}"
_KERNEL_STORED = (*STORED, "gamma_", "gammas_", "kernel_")


@register
@documented(
    f"{_CHOSEN} classes_ class_weight_ {KERNEL_MODEL}",
    **_KERNEL_PARAMETERS,
    approximation=(
        "feature map",
        "A feature map such as ``gapless.features.Nystroem(500)``, which all fits are trained on, as in :class:`~gapless.SVC`.",
    ),
    polish=("bool", "Whether each fit goes on from the approximate model to the exact optimum."),
    random_state=FOLDS_AND_SOLVERS,
)
class SVCCV(_TunedKernelMixin, SVC):
    """:class:`~gapless.SVC` that chooses C and γ by cross-validation, named and shaped as scikit-learn's ``LogisticRegressionCV``.

    The grids come from the data: from distances of the samples for γ, and from the variance of the kernel's features for C, so that scaling X changes
    nothing. A grid whose best is at its end is widened. After ``fit`` this is the best model, fitted on all of the data, with all that
    :class:`~gapless.SVC` has; ``C`` and ``gamma`` are what was chosen. The search is a :class:`GridSearchCV`.

    Examples
    --------
    >>> from gapless import SVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVCCV().fit(X, y)
    >>> print(f"C = {model.C_:.3g}, gamma = {model.gamma_:.3g}, accuracy {model.best_score_:.3f}")
    C = 15.1, gamma = 0.0186, accuracy 0.987
    >>> model.predict(X[:3]), model.certificate_.relative_gap <= 1e-3
    (array([0, 0, 0]), True)
    """

    _base: ClassVar[type] = SVC
    _stored: ClassVar[tuple[str, ...]] = (*SVC._stored, *_KERNEL_STORED)
    _rules: ClassVar[dict[str, Rule]] = {**without(SVC._rules, "C", "gamma"), **TUNING, "gammas": GRID}
    probability = "deprecated"  # a parameter of SVC that scikit-learn has deprecated, and that is not taken here

    def __init__(
        self,
        *,
        Cs: Any = 7,
        gammas: Any = 7,
        widen: int = 3,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        racing: bool = False,
        prove: str = "bounded",
        staged: bool = True,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: int = 0,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
        approximation: Any = None,
        polish: bool = False,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.widen = widen
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.racing = racing
        self.prove = prove
        self.staged = staged
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback
        self.approximation = approximation
        self.polish = polish


@register
@documented(f"{_CHOSEN} epsilon_ epsilons_ {KERNEL_MODEL}", **_KERNEL_PARAMETERS, **EPSILON)
class SVRCV(TunedEpsilonMixin, _TunedKernelMixin, SVR):
    """:class:`~gapless.SVR` that chooses C, γ and ε by cross-validation, as :class:`SVCCV` does.

    The grids of C and ε are in proportion to the mean absolute deviation of y, so that scaling y changes nothing either.

    Examples
    --------
    >>> import numpy as np
    >>> from gapless import SVRCV
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> model = SVRCV(cv=3, epsilons=[0.01]).fit(x[::-1], np.sin(x[::-1, 0]))
    >>> bool(abs(model.predict([[2.0]])[0] - np.sin(2.0)) < 0.05)
    True
    """

    _base: ClassVar[type] = SVR
    _stored: ClassVar[tuple[str, ...]] = (*SVR._stored, *_KERNEL_STORED, "epsilon_", "epsilons_")
    _rules: ClassVar[dict[str, Rule]] = {
        **without(SVR._rules, "C", "gamma", "epsilon"),
        **TUNING,
        "gammas": GRID,
        "epsilons": GRID,
    }

    def __init__(
        self,
        *,
        Cs: Any = 7,
        gammas: Any = 7,
        epsilons: Any = 3,
        widen: int = 3,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        racing: bool = False,
        prove: str = "bounded",
        staged: bool = True,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: int = 0,
        max_iter: int = -1,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.epsilons = epsilons
        self.widen = widen
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.racing = racing
        self.prove = prove
        self.staged = staged
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback
