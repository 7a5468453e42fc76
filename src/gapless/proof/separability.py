"""Whether a hard margin exists: a linear program finds samples on which there may be a proof that none does, and exact arithmetic completes it.

No w separates the data exactly when some β ≠ 0 in the dual's cone has Σ βᵢφ(xᵢ) = 0 (and Σβᵢ = 0 with an intercept) with a positive linear
term: the dual then grows without bound along tβ (Farkas). For classification such β are weights under which the two convex hulls share a point,
and a basic solution needs at most d + 2 samples (Carathéodory). The β of the linear program is right to seven digits, which proves nothing: on its
samples the equations are solved again without rounding (``exact_ray.py``), and a small problem for which that fails is solved without rounding
from the beginning. Where no ray is found, nothing is claimed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import linprog

from gapless.background import in_background
from gapless.data import require_memory
from gapless.kernels.gram import blocks
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.exact_ray import ExactRay, equal_rows_ray, has_equations, ray_anywhere, ray_on

# Entries up to which a sparse matrix is made dense, so that the program may be stated in orthonormal features too: 32 MB.
_DENSE = 2**22
# Shares of the largest entry up to which entries of a basic solution are taken for zero, tried in this order: they may be left from rounding.
_ZERO = (0.0, 1e-12, 1e-8)


def find_ray(problem: Problem, seconds: float = math.inf) -> np.ndarray | None:
    """An unbounded dual ray of a hard-margin problem, with Σ|βᵢ| = 1; None where there is none, or where none was found in time.

    It is the ray of :func:`find_exact_ray`, rounded to float64.
    """
    found = find_exact_ray(problem, seconds)
    return None if found is None else found.rounded(problem.n_samples)


def find_exact_ray(problem: Problem, seconds: float = math.inf) -> ExactRay | None:
    """A proof in exact arithmetic that a problem has no hard margin (or no hard tube), or None.

    >>> import numpy as np
    >>> find_exact_ray(Problem(np.array([[0.0], [3.0], [1.0]]), [0, 0, 1], C=np.inf))
    ExactRay(samples=array([0, 1, 2]), numbers=[-2, -1, 3])
    """
    until = time.monotonic() + seconds
    _ = problem.diagonal  # this property refuses a kernel whose values overflow, and whose matrix could not be factored
    found = equal_rows_ray(problem)
    if found is not None or not has_equations(problem):
        return found
    likeliest = None
    try:
        for program in _programs(problem):
            x = in_background(partial(program.solve, until - time.monotonic()))
            if x is not None:
                likeliest = np.argsort(-x, kind="stable")
                found = _on_samples(problem, program, x, until)
                if found is not None:
                    return found
        order = slice(None) if likeliest is None else likeliest
        return ray_anywhere(problem, program.columns[order], program.signs[order], until)
    except TimeoutError:
        return None


def _on_samples(problem: Problem, program: _Program, x: np.ndarray, until: float) -> ExactRay | None:
    """An exact ray on the samples whose entries in a basic solution x are not zero, or are above one of the shares ``_ZERO``."""
    tried = 0
    for zero in _ZERO:
        beta = np.zeros(problem.n_samples)
        np.add.at(beta, program.columns, program.signs * np.where(x > zero * x.max(), x, 0.0))
        (samples,) = np.nonzero(beta)
        if len(samples) in (0, tried):
            continue
        tried = len(samples)
        found = ray_on(problem, samples, [Fraction(each) for each in beta[samples].tolist()], until)
        if found is not None:
            return found
    return None


@dataclass(frozen=True)
class _Program:
    """max gain · x subject to A x = (0, …, 0, 1), x ≥ 0, in float64, where βᵢ is the sum of sign · x over the columns of sample i."""

    A: np.ndarray | sp.csr_array
    gain: np.ndarray
    columns: np.ndarray
    signs: np.ndarray

    def solve(self, seconds: float) -> np.ndarray | None:
        """A basic x to the tolerance of the linear program, 1e-7; None where it has none or finds none in time."""
        outcome = linprog(
            -self.gain,
            A_eq=self.A,
            b_eq=np.append(np.zeros(self.A.shape[0] - 1), 1.0),
            bounds=(0, None),
            method="highs",
            options={} if seconds == math.inf else {"time_limit": max(seconds, 0.0)},
        )
        return None if outcome.status != 0 else np.maximum(outcome.x, 0.0)


def _programs(problem: Problem) -> Iterator[_Program]:
    """The program in the features as they are, then one in orthonormal features: where features nearly depend on others the first may fail."""
    features = _features(problem)
    yield _program(problem, features)
    if problem.is_linear and not sp.issparse(features):
        yield _program(problem, _orthonormal(_moved(features, problem)))


def _program(problem: Problem, features: np.ndarray | sp.csr_array) -> _Program:
    """The program, whose matrix A has a row for each feature, one for an intercept, and a last row of ones.

    One sample is subtracted from all, which changes nothing where Σβ = 0, and each feature is divided by its largest entry.
    """
    box = problem.dual
    assert isinstance(box, DualBox)
    intercept = problem.intercept != "none"
    up, down = np.flatnonzero(box.upper > 0), np.flatnonzero(box.lower < 0)
    columns = np.concatenate([up, down])
    signs = np.concatenate([np.ones(len(up)), -np.ones(len(down))])
    centred = intercept and problem.loss.task == "regression"
    gain = signs * (box.p[columns] - (box.p[columns[0]] if centred else 0.0)) - box.epsilon[columns]
    gain = np.zeros(len(gain)) if (gain == gain[0]).all() else gain / np.abs(gain).max()
    ones = np.vstack([signs, np.ones(len(columns))] if intercept else [np.ones(len(columns))])
    if sp.issparse(features):
        reach = np.asarray(abs(features).max(axis=0).todense()).ravel()
        scale = sp.csr_array(sp.diags(1.0 / np.where(reach > 0, reach, 1.0)))
        rows = sp.csr_array(sp.diags(signs)) @ features[columns] @ scale
        return _Program(sp.vstack([rows.T, sp.csr_array(ones)], format="csr"), gain, columns, signs)
    moved = _moved(features, problem)
    reach = np.abs(moved).max(axis=0)
    rows = signs[:, None] * (moved[columns] / np.where(reach > 0, reach, 1.0))
    return _Program(np.vstack([rows.T, ones]), gain, columns, signs)


def _moved(features: np.ndarray, problem: Problem) -> np.ndarray:
    """The features less those of one sample, where an intercept makes Σβ = 0."""
    return features if problem.intercept == "none" else features - features[np.argmax(problem.cost)]


def _orthonormal(features: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span the same space as the features: Σ βᵢφ(xᵢ) = 0 holds for them exactly where it holds for the features."""
    length = np.abs(features).max(axis=0)
    features = features[:, length > 0] / length[length > 0]
    if not features.size:
        return features
    Q, R, _ = in_background(partial(scipy.linalg.qr, features, mode="economic", pivoting=True, check_finite=False))
    sizes = np.abs(R.diagonal())
    return Q[:, sizes > 1e-15 * len(features) * sizes[0]]


def _features(problem: Problem) -> np.ndarray | sp.csr_array:
    """φ(X): X itself, or a factor of the kernel matrix on these samples."""
    if problem.kernel is None:
        X = problem.X.astype(np.float64)
        if sp.issparse(X) and X.shape[0] * X.shape[1] <= _DENSE:
            return np.asarray(X.toarray())  # type: ignore[union-attr]
        return X
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
