"""What an estimator tells its user: a warning where a fit stopped early, and the likely cause where it will be slow."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gapless.problem import Problem
from gapless.result import Result, Status


def warn_if_early(results: list[Result], opening: str, tol: float) -> None:
    """One ConvergenceWarning for all subproblems: the worst gap, which bound stopped it, and what would help."""
    early = [result for result in results if result.status not in (Status.CONVERGED, Status.STATIONARY)]
    if not early:
        return
    worst = max(early, key=lambda result: result.certificate.relative_gap)
    certificate = worst.certificate
    warnings.warn(
        f"{opening} {worst.status} The certified relative duality gap is {certificate.relative_gap:.2g} (tol is {tol:g}), "
        f"after {worst.iterations:,.0f} {worst.trace.unit} of {worst.solver}"
        + (f", in {len(early)} of {len(results)} subproblems" if len(results) > 1 else "")
        + f". {_remedy(worst)}",
        ConvergenceWarning,
        stacklevel=4,
    )


def _remedy(result: Result) -> str:
    if result.status is Status.INTERRUPTED:
        return "Fit again with warm_start=True to go on."
    causes = slow_causes(result.problem)
    advice = (
        f"Likely causes: {'; '.join(causes)}."
        if causes
        else "A larger max_iter or max_time, or warm_start=True and another fit, goes on from here."
    )
    return advice


def slow_causes(problem: Problem) -> list[str]:
    """What makes a problem slow to solve, each with its remedy; empty where nothing stands out."""
    causes = []
    diagonal = problem.diagonal[problem.cost > 0]
    largest, typical = float(diagonal.max()), float(np.median(diagonal))
    if problem.is_linear:
        spread = _column_spread(problem.X)
        if spread > 1e3:
            causes.append(
                f"features whose scales differ by a factor of {spread:.0e} (scale them, e.g. by StandardScaler)"
            )
    elif largest > 1e3 * max(typical, 1e-300):
        causes.append(
            f"a kernel diagonal that spreads by a factor of {largest / max(typical, 1e-300):.0e} (scale the features)"
        )
    reach = float(problem.cost.max()) * typical
    if reach > 1e6:
        causes.append(
            f"an enormous C: C times the typical squared norm of a sample is {reach:.0e} (try a smaller C or scale the features)"
        )
    return causes


def _column_spread(X: Any) -> float:
    """The largest over the smallest root mean square of a column that is not zero."""
    square = np.asarray(
        (X.multiply(X) if hasattr(X, "multiply") else np.square(X)).mean(axis=0), dtype=np.float64
    ).ravel()
    square = square[square > 0]
    return float(np.sqrt(square.max() / square.min())) if len(square) else 1.0
