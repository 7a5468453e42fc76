"""The problem handed to an off-the-shelf QP solver (Clarabel through qpsolvers), in its dual or in its primal form.

Dual: min ½βᵀ(K + diag d)β − pᵀβ + εᵀ|β| over the box, with Σβ = 0 for a free intercept. Where ε > 0, β = β⁺ − β⁻.

Primal: any loss whose dual is a box is the least cost of writing the residual as a sum, p − f(x) = a⁺ − a⁻ + u + e: a⁺ at the price upper, a⁻ at
the price −lower, u at the cost u²/2d, and |e| ≤ ε at no cost. A price of infinity removes its variable; d = 0 removes u. The multipliers of these n
equations are β. Kernels enter through w = Σ γᵢφ(xᵢ), or through the features φ(x) themselves where these are at hand.

The dual form has a dense n×n matrix, the primal form the n rows of m features: ``form="auto"`` takes the one whose factors cost less, as a rule the
primal form where there are fewer features than samples.

Both forms are stated in units of β in which neither the costs nor K are extreme, since the library's tolerances are absolute in part.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gapless.background import in_background, in_child
from gapless.data import require_memory
from gapless.errors import MissingDependencyError
from gapless.kernels import FeatureMapKernel, Linear
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets, check_choice, full_gram, start_beta

FORMS = ("auto", "dual", "primal")
# The tightest tolerance that Clarabel reaches on most problems: where it cannot reach a tolerance its last iterates get worse again.
_TOLERANCE = 1e-10
# A step of the primal form takes so many times as long as its largest factors, since every sample has slacks: with it, a hinge takes the same time in
# both forms at 200 samples of 100 to 150 features, and a loss with a tube at 200 of 200 to 300, as is measured.
_SLACKS = 2.0
# Entries of the program's matrices from which on its set-up holds the interpreter's lock for more than about 0.1 s.
_LARGE = 500_000


@dataclass(frozen=True)
class QP(Solver):
    """An off-the-shelf interior-point QP solver on the ``"dual"`` or the ``"primal"`` form (extra ``qp``).

    ``form="auto"`` takes the form that costs less: the primal with slacks where there are fewer features than samples (of a linear model, a linear
    kernel, or a kernel given by its feature map), and the dual for other kernels and for more features than samples.

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0]], [0, 0, 1], C=10.0)
    >>> gl.solve(problem, QP(form="primal")).w.round(5)
    array([2.])
    """

    form: str = "auto"
    backend: str = "clarabel"
    name: ClassVar[str] = "qp"
    unit: ClassVar[str] = "calls"
    max_iter: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_choice("form", self.form, FORMS)

    def unsupported(self, problem: Problem) -> str | None:
        if isinstance(problem.dual, DualBox):
            return None
        return f"qp needs a quadratic objective, which the {problem.loss.name} loss is not; use solver='smo' or 'sdca'."

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> QPEngine:
        return QPEngine(self, problem, Point(beta=start_beta(problem, start)))


class QPEngine(Engine):
    """The point to begin with; after the one step, the library's solution."""

    def __init__(self, solver: QP, problem: Problem, start: Point) -> None:
        self.solver, self.problem, self.solution = solver, problem, start

    def step(self, budget: Budget, targets: Targets) -> Advance:
        until = time.perf_counter() + budget.seconds
        form, features = self.solver.form, None if self.solver.form == "dual" else _features(self.problem)
        if form == "auto":
            form = "primal" if features is not None and _primal_is_cheaper(self.problem, features) else "dual"
        try:
            if form == "dual":
                self.solution = _solve_dual(self.problem, self.solver.backend, until)
            else:
                self.solution = _solve_primal(self.problem, features, self.solver.backend, until)
        except TimeoutError:  # the loop sees by its own clock that the time is over
            return Advance(0.0, 0.0)
        return Advance(1.0, float(self.problem.n_samples) ** 2, Outcome.STALLED)

    def point(self) -> Point:
        return self.solution


def _features(problem: Problem) -> Any:
    """The features φ(x) of all samples where they are at hand, a row a sample; None for other kernels."""
    kernel = problem.kernel
    if kernel is None or isinstance(kernel, Linear):
        return problem.X
    return kernel.features(problem.X) if isinstance(kernel, FeatureMapKernel) else None


def _entries(features: Any) -> int:
    """The stored entries of the features."""
    return int(features.nnz if sp.issparse(features) else features.size)


def _primal_is_cheaper(problem: Problem, features: Any) -> bool:
    """Whether the factors of a step cost less in the primal form: of n rows of m features and then of an m×m matrix, against one n×n matrix.

    The dual form of a loss with a tube has twice as many variables.
    """
    n, m = features.shape
    entries = _entries(features) / n
    of_dual = float(2 * n if problem.dual.epsilon.any() else n) ** 3  # type: ignore[union-attr]
    return _SLACKS * (n * entries**2 + float(m) ** 3) < of_dual


def _call(
    backend: str, P: Any, q: np.ndarray, A: Any, b: Any, lb: np.ndarray, ub: np.ndarray, until: float
) -> tuple[Any, Any]:
    """(x, multipliers of A x = b) of the library; x is None where it found nothing.

    Ctrl-C is heard meanwhile. A small program runs on a thread. During a large one the library holds the interpreter's lock for long, so that it runs
    in a process of its own, which takes about a second to start; at the time ``until`` that process is ended, and a TimeoutError raised.
    """
    try:
        import qpsolvers
    except ImportError as error:
        raise MissingDependencyError("solver='qp' needs qpsolvers and clarabel; install gapless[qp].") from error
    names = ("tol_gap_abs", "tol_gap_rel", "tol_feas") if backend == "clarabel" else ()
    options: dict[str, Any] = {"solver": backend, **dict.fromkeys(names, _TOLERANCE)}
    P, A = sp.csc_matrix(P), None if A is None else sp.csc_matrix(A)
    task = (P, q, None, None, A, b, lb, ub)
    if P.nnz + (0 if A is None else A.nnz) > _LARGE:
        code = (
            "import warnings; warnings.simplefilter('ignore')\nimport qpsolvers\n"
            "found = qpsolvers.solve_problem(qpsolvers.Problem(*task[0]), **task[1])\nanswer = (found.x, found.y)"
        )
        return in_child(code, (task, options), until - time.perf_counter())
    with warnings.catch_warnings():
        # The warning about an early stop is left out: the certificate tells in figures what was reached.
        warnings.filterwarnings("ignore", message="Clarabel.rs terminated with status", category=UserWarning)
        found = in_background(lambda: qpsolvers.solve_problem(qpsolvers.Problem(*task), **options))
    return found.x, found.y


def _unit(problem: Problem) -> float:
    """The unit of β: the largest cost, or 1 over the mean of K's diagonal where that is less."""
    finite = problem.cost[np.isfinite(problem.cost)]
    curvature = float(problem.diagonal.mean())
    sizes = [*finite[finite > 0].max(initial=0.0, keepdims=True), 1.0 / curvature if curvature > 0 else 0.0]
    return min((size for size in sizes if 0 < size < np.inf), default=1.0)


def _scaled(problem: Problem, unit: float) -> DualBox:
    """The separable part of D/unit in β/unit."""
    dual = problem.dual
    assert isinstance(dual, DualBox)
    epsilon = dual.epsilon
    if problem.is_hard:  # a tube narrower by the library's error, so that its solution holds the problem's tube
        epsilon = np.maximum(0.0, epsilon - 20 * _TOLERANCE * max(1.0, float(np.abs(dual.p).max())))
    return DualBox(dual.p, epsilon, unit * dual.d, dual.lower / unit, dual.upper / unit)


def _require_gram(n: int, copies: int) -> None:
    """Refuse where memory does not hold K, its sparse copies and its factors: so many ``copies`` of K."""
    require_memory(copies * 8 * n * n, f"qp holds and factors the whole kernel matrix: {n:,} x {n:,} in float64, which")


def _solve_dual(problem: Problem, backend: str, until: float) -> Point:
    n = problem.n_samples
    unit = _unit(problem)
    dual = _scaled(problem, unit)
    split = bool(dual.epsilon.any())
    _require_gram(n, 20 if split else 5)
    K = unit * full_gram(problem, "qp")
    K[np.diag_indices(n)] += dual.d
    ones = (problem.groups == np.arange(len(problem.totals))[:, None]).astype(float)
    if split:
        P = np.block([[K, -K], [-K, K]])
        q = np.concatenate([dual.epsilon - dual.p, dual.epsilon + dual.p])
        lower, upper = np.zeros(2 * n), np.concatenate([dual.upper, -dual.lower])
        A = np.hstack([ones, -ones])
    else:
        P, q, lower, upper, A = K, -dual.p, dual.lower, dual.upper, ones
    free = problem.intercept == "free"
    x, _ = _call(backend, P, q, A if free else None, problem.totals / unit if free else None, lower, upper, until)
    if x is None:
        return Point(beta=np.zeros(n))
    beta = unit * (x[:n] - x[n:] if split else x)
    snapped = _snap(problem, beta)
    if problem.is_linear:
        # A free intercept is left to the certificate, which takes the best one for w.
        b = None if free else problem.shift * float(beta.sum())
        return Point(beta=snapped, w=problem.weights(beta), b=b)
    return Point(beta=snapped, expansion=beta)


def _snap(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """β with entries that are within 1e-8 of a bound, or of zero, set to it: an interior point stays a little inside its bounds."""
    near = 1e-8 * np.minimum(problem.cost, np.abs(beta).max())
    beta = np.where(np.abs(beta) <= near, 0.0, beta)
    for bound in (problem.dual.lower, problem.dual.upper):
        beta = np.where(np.abs(beta - bound) <= near, bound, beta)
    free = (beta != 0) & (beta > problem.dual.lower) & (beta < problem.dual.upper)
    for g, total in enumerate(problem.totals if problem.intercept == "free" else []):
        of_group = problem.groups == g
        movable = free & of_group
        if movable.any():  # the free entries make up for the moves of the others, so that the sum is right again
            beta[movable] -= (beta[of_group].sum() - total) / np.count_nonzero(movable)
    return beta


def _solve_primal(problem: Problem, rows: Any, backend: str, until: float) -> Point:
    """Solve for the variables (w or γ, b, a⁺, a⁻, u, e) with the equations ⟨w, φ(xᵢ)⟩ + b + a⁺ − a⁻ + u + e = p; ``rows`` has φ(x), or is None."""
    n = problem.n_samples
    unit = _unit(problem)
    dual = _scaled(problem, unit)
    if rows is not None:  # the variable is w/√unit
        entries = _entries(rows)
        require_memory(5 * 12 * entries, f"qp holds and factors the {entries:,} entries of the features, which")
        features, square = np.sqrt(unit) * sp.csc_matrix(rows.astype(np.float64)), sp.identity(rows.shape[1])
    else:
        _require_gram(n, 5)
        K = unit * (full_gram(problem, "qp") - problem.shift)
        features, square = sp.csc_matrix(K), sp.csc_matrix(K)
    # (columns of the equations, quadratic price, linear price, lower bound, upper bound) of each kind of variable.
    infinite = np.inf
    identity = sp.identity(n, format="csc")
    b_square = {"free": 0.0, "regularized": 1.0 / (unit * problem.shift) if problem.shift else 0.0, "none": 0.0}[
        problem.intercept
    ]
    m = features.shape[1]
    kinds = [(features, square, np.zeros(m), np.full(m, -infinite), np.full(m, infinite))]
    if problem.intercept != "none":
        members = (problem.groups[:, None] == np.arange(len(problem.totals))).astype(float)
        every = np.full(members.shape[1], infinite)
        kinds.append((members, b_square * np.eye(members.shape[1]), problem.totals / unit, -every, every))
    zero = sp.csc_matrix((n, n))
    absent = problem.cost <= 0  # the residual of a sample without weight costs nothing
    for sign, price in ((1.0, dual.upper), (-1.0, -dual.lower)):
        dear = np.isinf(price)
        ceiling = np.where(dear, 0.0, infinite)
        kinds.append((sign * identity, zero, np.where(dear, 0.0, price), np.zeros(n), ceiling))
    bends = (dual.d > 0) & ~absent
    reach = np.where(bends, infinite, 0.0)
    kinds.append((identity, sp.diags(np.divide(1.0, dual.d, out=np.zeros(n), where=bends)), np.zeros(n), -reach, reach))
    if dual.epsilon.any():
        kinds.append((identity, zero, np.zeros(n), -dual.epsilon, dual.epsilon))
    A = sp.hstack([kind[0] for kind in kinds], format="csc")
    P = sp.block_diag([kind[1] for kind in kinds], format="csc")
    q, lower, upper = (np.concatenate([kind[k] for kind in kinds]) for k in (2, 3, 4))
    x, multipliers = _call(backend, P, q, A, dual.p.copy(), lower, upper, until)
    if x is None:
        return Point(beta=np.zeros(n))
    b = float(x[m]) if problem.intercept != "none" else 0.0
    beta = -unit * np.asarray(multipliers)
    snapped = _snap(problem, beta)
    if problem.is_linear:
        return Point(beta=snapped, w=np.sqrt(unit) * x[:m], b=b)
    expansion = beta if rows is not None else unit * x[:m]
    return Point(beta=snapped, b=b, expansion=expansion if problem.intercept != "regularized" else None)
