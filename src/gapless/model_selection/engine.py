"""Which engine fits the candidates of a search."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from gapless import estimators
from gapless.model_selection.fold import FoldFits
from gapless.model_selection.kernel_chain import KernelChains
from gapless.model_selection.linear_chain import LinearChains
from gapless.model_selection.one_by_one import OneByOne
from gapless.model_selection.shared import FAMILIES, SharedFits
from gapless.model_selection.steps import PipelineFits

_OURS = tuple(getattr(estimators, name) for name in estimators.__all__)


def is_ours(estimator: Any) -> bool:
    """Whether this is an estimator of Gapless, or a Pipeline that ends in one.

    A subclass of Pipeline may fit its steps in a way of its own, so that it does not count.
    """
    if type(estimator) is Pipeline:
        return bool(estimator.steps) and isinstance(estimator.steps[-1][1], _OURS)
    return isinstance(estimator, _OURS)


def engine_for(estimator: Any, X: Any, y: Any, fit_params: dict[str, Any], n_jobs: int | None = None) -> FoldFits:
    """The engine that fits candidates of this estimator on rows of (X, y).

    ``fit_params`` are the parameters of ``fit`` for all of X; ``n_jobs`` is how many folds are worked on side by side where they share nothing.
    """
    if type(estimator) is Pipeline:
        return PipelineFits(estimator, X, y, fit_params, n_jobs, last_step=engine_for)
    if type(estimator) in FAMILIES:
        return SharedFits(estimator, X, y, fit_params, n_jobs)
    if type(estimator) in (estimators.LinearSVC, estimators.LinearSVR):
        return LinearChains(estimator, X, y, fit_params, n_jobs)
    if type(estimator) in (estimators.NuSVC, estimators.NuSVR, estimators.OneClassSVM):
        return KernelChains(estimator, X, y, fit_params, n_jobs)
    return OneByOne(estimator, X, y, fit_params, n_jobs)
