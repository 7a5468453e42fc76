"""The warning that an estimator gives where a fit has stopped early, with the likely causes where some stand out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from gapless.estimators.judging import Bounds
from gapless.problems.problem import Problem
from gapless.result import Result, Status

NOT_FINITE = "The dual coefficients or intercepts are not finite. The input data may contain large values and need to be preprocessed."
# What counts as a likely cause of a slow fit, by hand: the thresholds decide about words in a warning alone.
_SCALES = 1e3  # features, or entries of the kernel's diagonal, that differ by more than this factor
_REACH = 1e6  # a larger C times the typical squared norm: the bound C on α then hardly ever holds one back
_REPEATED = 0.5  # a larger share of samples that occur more than once
_REPEATED_ENTRIES = 2**22  # in a larger X repetitions are not looked for: sorting takes too long for a warning


def warn_if_early(results: list[Result], count: int, opening: Callable[[Status], str], bounds: Bounds, X: Any) -> None:
    """Give one ConvergenceWarning for all subproblems that are not proven: which bound the worst one misses, what stopped it, and what would help.

    ``count`` is the number of all subproblems; those without a result are proven.
    """
    early = [result for result in results if not result.status.proven]
    if not early:
        return
    worst = max(early, key=lambda result: (result.certificate.relative_gap, result.certificate.kkt_violation))
    missed = bounds.missed(worst.problem, worst.certificate) or ""
    among = f", in {len(early)} of {count} subproblems" if count > 1 else ""
    warnings.warn(
        f"{opening(worst.status)} {worst.status} {missed[:1].upper()}{missed[1:]} ({bounds}), "
        f"after {worst.iterations:,.0f} {worst.trace.unit} of {worst.solver}{among}. {_remedy(worst, X)}",
        ConvergenceWarning,
        stacklevel=users_level(),
    )


def warn_if_zero(estimator: Any, zero: np.ndarray, why: str) -> None:
    """Give a warning where the optimum of a ν-form is zero, for some of the pairs of classes (``zero``): its model tells nothing.

    ``why`` goes on after a colon: why w = 0 is optimal, what the decision function is, and what may have another optimum.
    """
    if not zero.any():
        return
    among = f" in {int(zero.sum())} of {len(zero)} pairs of classes" if len(zero) > 1 else ""
    warnings.warn(
        f"The optimum of {type(estimator).__name__} with nu={estimator.nu:g} is zero{among}: {why}",
        UserWarning,
        stacklevel=users_level(),
    )


def whose_words(estimator: Any) -> str:
    """A sentence which says that a warning begins with another library's words, and that the solver was one of Gapless."""
    return f"These words are scikit-learn's, kept for filters of warnings; the solver was {type(estimator).__name__}'s own, of Gapless."


_NOT_THE_USERS = (
    "gapless",
    "sklearn",
    "contextlib",
)  # a context manager that decorates a method calls it from contextlib


def users_level() -> int:
    """The ``stacklevel`` at which a warning names the user's line, and not one of Gapless, of scikit-learn, or of a decorator of theirs."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    return level


def _remedy(result: Result, X: Any) -> str:
    causes = slow_causes(result.problem, X)
    likely = f"Likely causes: {'; '.join(causes)}. " if causes else ""
    if result.status in (Status.STALLED, Status.ROUNDING):
        return likely + "A larger tol, or features of a similar scale, are within reach of floating point."
    bound = "max_time" if result.status is Status.MAX_TIME else "max_iter"
    more = f"A larger {bound}, or another fit with warm_start=True, goes on from here."
    return likely + (
        more if result.status is not Status.CALLBACK else "Another fit with warm_start=True goes on from here."
    )


def slow_causes(problem: Problem, X: Any) -> list[str]:
    """The likely causes that make a problem on the samples X slow to solve, each with its remedy; empty where nothing stands out."""
    causes = []
    spread = _column_spread(X)
    if spread > _SCALES:
        causes.append(f"features whose scales differ by a factor of {spread:.0e} (scale them, e.g. by StandardScaler)")
    diagonal = problem.diagonal[(problem.cost > 0) & (problem.diagonal > 0)]
    largest, typical = (float(diagonal.max()), float(np.median(diagonal))) if len(diagonal) else (0.0, 1.0)
    if largest > _SCALES * typical:
        causes.append("samples of very different norms, so that the kernel's diagonal spreads by a factor of "
                      f"{largest / typical:.0e} (scale the samples, e.g. by Normalizer)")  # fmt: skip
    reach = float(problem.cost.max()) * typical
    if np.isfinite(reach) and reach > _REACH and not problem.is_nu:
        causes.append(
            f"an enormous C: C times the typical squared norm of a sample is {reach:.0e} (try a smaller C, or scale the features)"
        )
    repeated = _repeated_share(X)
    if repeated > _REPEATED:
        causes.append(
            f"repeated samples: {repeated:.0%} occur more than once (give each once, with sample_weight as its number)"
        )
    return causes


def _column_spread(X: Any) -> float:
    """The largest root mean square of a column divided by the smallest one that is not zero; 1 where samples are not rows of numbers."""
    if not _is_matrix(X):
        return 1.0
    # The squares are summed without a copy of X, which would take longer than the sums.
    total = X.multiply(X).sum(axis=0) if sp.issparse(X) else np.einsum("ij,ij->j", X, X, dtype=np.float64)
    square = np.asarray(total, dtype=np.float64).ravel() / X.shape[0]
    square = square[square > 0]
    return float(np.sqrt(square.max() / square.min())) if len(square) else 1.0


def _repeated_share(X: Any) -> float:
    if not _is_matrix(X) or X.shape[0] * X.shape[1] > _REPEATED_ENTRIES:
        return 0.0
    _, counts = np.unique(X.toarray() if sp.issparse(X) else X, axis=0, return_counts=True)
    return float(counts[counts > 1].sum() / X.shape[0])


def _is_matrix(X: Any) -> bool:
    return sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f")
