"""What a fit promises, whatever the data and its size: bounds within tol, no warning, no rounding among the support vectors, and a sound score."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

ROUNDING = 1e-12
"""A coefficient of at most so much of the largest is rounding, and no support vector."""
ERRORS = 4.0
"""So many standard errors of the mean difference are what chance may do to a score."""
SLACK = 2e-3
"""So much of the mean loss is left to a reference that stops at its own default tol."""


class Fitted(NamedTuple):
    """What came out of a fit."""

    warned: tuple[str, ...]
    gap: float | None
    tol: float | None
    support: int | None
    rounding: int | None
    losses: np.ndarray

    @property
    def within(self) -> bool | None:
        """Whether the proven gap is within tol; None of an estimator that proves nothing."""
        return None if self.gap is None or self.tol is None else bool(self.gap <= self.tol)

    @property
    def broken(self) -> list[str]:
        """The promises that the fit by itself breaks, as words."""
        found = [f"gap {self.gap:.1e}"] if self.within is False else []
        found += [f"{self.rounding} support vectors of rounding size"] if self.rounding else []
        return found + [f"warns: {self.warned[0]}" for _ in self.warned[:1]]


def quietly(fit: Callable[[], Any]) -> tuple[Any, tuple[str, ...]]:
    """(what ``fit`` returns, the words of the warnings that it gave)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit()
    return model, tuple(f"{each.category.__name__}: {each.message}" for each in caught)


def fitted(model: Any, warned: tuple[str, ...], X_test: Any, y_test: np.ndarray) -> Fitted:
    """What is to be known of a model, and its losses on the samples for the score."""
    gap = getattr(getattr(model, "certificate_", None), "relative_gap", None)
    support = len(model.support_) if hasattr(model, "support_") else None
    return Fitted(
        warned, None if gap is None else float(gap), getattr(model, "tol", None), support, _rounding(model),
        losses(model, X_test, y_test),
    )  # fmt: skip


def _rounding(model: Any) -> int | None:
    """The number of support vectors all of whose coefficients are rounding; None of models for which every sample has a coefficient by nature."""
    if not (hasattr(model, "n_support_") and hasattr(model, "dual_coef_")):
        return None
    dual = model.dual_coef_
    sizes = np.abs(np.atleast_2d(dual.toarray() if sp.issparse(dual) else dual)).max(axis=0, initial=0.0)
    return int((sizes <= ROUNDING * sizes.max(initial=0.0)).sum())


def losses(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """The loss of each sample: 1 for a wrong class, the absolute error of a number, and how far an outlier is outside, in units of the offset.

    Outliers are not counted: on discrete data many samples lie on the border itself, and rounding decides for each of them.
    """
    if hasattr(model, "offset_"):
        return np.maximum(0.0, -model.decision_function(X)) / float(np.abs(model.offset_).max())
    told = np.asarray(model.predict(X))
    return (told != y).astype(float) if hasattr(model, "classes_") else np.abs(told - y)


def score_holds(ours: np.ndarray, theirs: np.ndarray, both_sides: bool = False) -> bool:
    """Whether the mean loss is no larger than that of a reference on the same samples, or with ``both_sides`` the same, up to chance.

    The differences are taken sample by sample, so that two models that agree on most samples are compared by the others.
    """
    off = ours - theirs
    room = ERRORS * float(off.std()) / np.sqrt(len(off)) + SLACK * max(float(theirs.mean()), 1.0 / len(off))
    return bool((abs(off.mean()) if both_sides else off.mean()) <= room)
