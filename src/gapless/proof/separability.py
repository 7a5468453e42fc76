"""Whether a hard margin exists, decided by a linear program, with a proof where it does not.

No w separates the data exactly when some β ≠ 0 in the dual's cone has Σ βᵢφ(xᵢ) = 0 (and Σβᵢ = 0 for a free intercept) with a positive linear
term: the dual then grows without bound along tβ (Farkas). For classification these are weights under which the two convex hulls share a point,
and a basic solution needs at most d + 2 samples (Carathéodory).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from gapless.background import in_background
from gapless.data import require_memory
from gapless.kernels.gram import blocks
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import ray_norm

# Hulls nearer than this, relative to the data's radius, meet in floating point. A kernel knows only the square of a distance, hence half the digits.
MEETS, MEETS_BY_KERNEL = 1e-9, 1e-7


def find_ray(problem: Problem, seconds: float = np.inf) -> np.ndarray | None:
    """An unbounded dual ray of a hard-margin problem, with Σ|βᵢ| = 1, or None where the data is separable, or was not found not to be in time."""
    assert isinstance(problem.dual, DualBox)
    _ = problem.diagonal  # refuses a kernel that overflows, whose matrix has no factor
    features = _features(problem)
    up, down = np.flatnonzero(problem.dual.upper > 0), np.flatnonzero(problem.dual.lower < 0)
    columns = np.concatenate([up, down])
    signs = np.concatenate([np.ones(len(up)), -np.ones(len(down))])
    gain = signs * problem.dual.p[columns] - problem.dual.epsilon[columns]
    equations = _equations(problem, features, columns, signs)
    zero = np.zeros(equations.shape[0])

    def program() -> np.ndarray | None:
        A = (
            sp.vstack([equations, sp.csr_array(gain[None, :])], format="csr")
            if sp.issparse(equations)
            else np.vstack([equations, gain])
        )
        outcome = linprog(
            np.zeros(len(columns)),
            A_eq=A,
            b_eq=np.append(zero, 1.0),
            bounds=(0, None),
            method="highs",
            options={} if seconds == np.inf else {"time_limit": max(seconds, 0.0)},
        )
        if outcome.status != 0:
            return None
        used = np.flatnonzero(outcome.x > 0)
        dense = A[:, used].toarray() if sp.issparse(A) else A[:, used]  # type: ignore[union-attr]
        exact = np.linalg.lstsq(dense, np.append(zero, 1.0), rcond=None)[0]  # the program's own tolerance is only 1e-7
        values = np.zeros(len(columns))
        values[used] = exact if (exact >= 0).all() else outcome.x[used]
        return values

    values = in_background(program)
    if values is None:
        return None
    ray = np.zeros(problem.n_samples)
    np.add.at(ray, columns, signs * values)
    ray /= np.abs(ray).sum()
    return ray if ray_norm(problem, ray) <= (MEETS if problem.is_linear else MEETS_BY_KERNEL) else None


def _equations(
    problem: Problem, features: np.ndarray | sp.csr_array, columns: np.ndarray, signs: np.ndarray
) -> np.ndarray | sp.csr_array:
    """One row a feature (and one for the intercept): Σ βᵢ φ(xᵢ) = 0, each scaled to a largest entry of one."""
    scale = np.asarray(
        abs(features).max(axis=0).todense() if sp.issparse(features) else np.abs(features).max(axis=0)
    ).ravel()
    scale = np.where(scale > 0, scale, 1.0)
    if sp.issparse(features):
        matrix = sp.diags_array(signs) @ features[columns] @ sp.diags_array(1.0 / scale)
        return (
            matrix.T.tocsr()
            if problem.intercept == "none"
            else sp.vstack([matrix.T, sp.csr_array(signs[None, :])], format="csr")
        )
    matrix = (signs[:, None] * features[columns] / scale).T
    return matrix if problem.intercept == "none" else np.vstack([matrix, signs])


def _features(problem: Problem) -> np.ndarray | sp.csr_array:
    """φ(X): X itself, or a factor of the kernel matrix on these samples."""
    if problem.kernel is None:
        return problem.X.astype(np.float64)
    n = problem.n_samples
    require_memory(
        24 * n * n, f"the test for separability factors the whole kernel matrix: {n:,} x {n:,} in float64, which"
    )
    K = np.empty((n, n))
    for part, block in blocks(problem.kernel, problem.X):
        K[part] = block
    values, vectors = in_background(lambda: np.linalg.eigh(K))
    kept = values > 1e-13 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])
