"""Newton's method for logistic losses on the explicit kernel matrix: a few steps, each solved by conjugate gradients.

With w = Σ aᵢφ(xᵢ) and f = Ka the gradient of P in w has the coefficients r = a − β(f), where β(f) = −c ℓ′(f) is the dual point that f suggests. The
best offset b for f makes Σβ = 0, so that β is feasible, and the duality gap of the pair is, exactly, ½ rᵀKr. The Newton direction v solves
v + H(Kv) = −r, H being the curvature of the loss with the offset eliminated: positive definite under the inner product ⟨u, v⟩ = uᵀKv, in
which conjugate gradients need one product with K each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg as la
from scipy.special import expit

from gapless.data import available_bytes
from gapless.kernels import Precomputed, Validity
from gapless.losses import Logistic
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Solver, State, full_gram

_LOOSE = 0.1  # how far conjugate gradients reduce the residual while Newton's model is still rough
_PATIENCE = 20  # products after which a factorisation is worth its while, plus one for every so many samples
_SAMPLES_A_PRODUCT = 100
_MAX_PRODUCTS = 500
_ROUNDING = 1e-13  # a decrease below this share of P is not to be seen in P


class LossAt(NamedTuple):
    """A smooth loss at given decision values, its offset chosen best: everything that a Newton step asks for."""

    value: float
    beta: np.ndarray
    offsets: np.ndarray
    curve: Callable[[np.ndarray], np.ndarray]  # U ↦ H U, the offset eliminated
    curvature: np.ndarray  # H of each sample, as one number


class Factor(NamedTuple):
    """1 + √h K √h = L Lᵀ: the Newton system of a loss whose curvature is h, factored."""

    root: np.ndarray
    L: np.ndarray


@dataclass
class KernelNewtonState(State):
    """The coefficients of w, f = Ka, the residual r = a − β with Kr, and the proven gap."""

    K: np.ndarray = None  # type: ignore[assignment]
    a: np.ndarray = None  # type: ignore[assignment]
    f: np.ndarray = None  # type: ignore[assignment]
    loss: LossAt = None  # type: ignore[assignment]
    Kr: np.ndarray = None  # type: ignore[assignment]
    primal: float = math.inf
    gap: float = math.inf
    factor: Factor | None = None


@dataclass(frozen=True)
class KernelNewton(Solver):
    """Newton's method on the n×n kernel matrix, which it holds, for the logistic loss.

    >>> import gapless as gl
    >>> from gapless.solvers.newton.kernel_newton import KernelNewton
    >>> problem = gl.Problem([[-1.0], [0.5], [1.0]], [0, 0, 1], loss="logistic", kernel=gl.kernels.RBF())
    >>> result = gl.solve(problem, KernelNewton(), tol=1e-12)
    >>> result.status.name, result.iterations < 10
    ('CONVERGED', True)
    """

    name: ClassVar[str] = "kernel_newton"
    unit: ClassVar[str] = "Newton steps"
    max_iter: ClassVar[int] = 200

    def unsupported(self, problem: Problem) -> str | None:
        if type(problem) is not Problem or not isinstance(problem.loss, Logistic):
            return f"{self.name} needs the second derivative of the logistic loss; use solver='auto' for others."
        return refuse_invalid_kernel(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> KernelNewtonState:
        return begin(problem, self.name, start, rng, (problem.n_samples,), self.loss_at)

    def step(self, problem: Problem, state: KernelNewtonState) -> None:
        newton_step(problem, state, self.loss_at)

    def point(self, problem: Problem, state: KernelNewtonState) -> Point:
        return Point(beta=state.loss.beta.copy(), expansion=state.a.copy())

    def loss_at(self, problem: Problem, f: np.ndarray, former: np.ndarray | None) -> LossAt:
        """The logistic loss of two classes."""
        y, cost, free = np.asarray(problem.y), np.asarray(problem.cost), problem.intercept == "free"
        b = float(np.mean(problem.loss.best_intercept(y, f, cost))) if free else 0.0
        wrong = expit(-y * (f + b))
        h = cost * wrong * (1.0 - wrong)
        total = float(h.sum())

        def curve(u: np.ndarray) -> np.ndarray:
            return h * (u - float(h @ u) / total) if free and total > 0 else h * u

        value = float((cost * problem.loss.value(y, f + b)).sum())
        return LossAt(value, cost * y * wrong, np.array([b]), curve, h)


Evaluate = Callable[[Any, np.ndarray, np.ndarray | None], LossAt]


def refuse_invalid_kernel(problem: Problem, name: str) -> str | None:
    """The sentence about kernels in which lengths may be negative."""
    if problem.kernel is None or problem.kernel.validity is not Validity.NOT_VALID:
        return None
    return f"{name} needs a positive semi-definite kernel, in which P is convex; got {problem.kernel!r}."


def begin(
    problem: Problem,
    name: str,
    start: Point | None,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    loss_at: Evaluate,
) -> KernelNewtonState:
    """The state at the start's coefficients, or at zero."""
    a = np.zeros(shape)
    if start is not None and (start.expansion is not None or start.beta is not None):
        a = np.array(start.beta if start.expansion is None else start.expansion, dtype=np.float64)
    K = _gram(problem, name)
    state = KernelNewtonState(rng, K=K, a=a, f=K @ a if a.any() else np.zeros(shape))
    _judge(problem, state, loss_at)
    return state


def newton_step(problem: Problem, state: KernelNewtonState, loss_at: Evaluate) -> None:
    """One Newton step with a line search; ``ready`` where the gap is at its target, ``done`` where rounding ends it."""
    before = state.gap
    wanted = 0.5 * math.sqrt(state.target * abs(state.primal) / before) if before > 0 else 1.0
    reached = math.sqrt(before / abs(state.primal)) if state.primal else 0.0
    share = min(_LOOSE, max(wanted, min(_LOOSE, reached)))
    v, Kv, products = _direction(state, share)
    state.work += float(products * state.a.size * len(state.a))
    slope, bend, cross = _dot(state.a - state.loss.beta, Kv), _dot(v, Kv), _dot(state.a, Kv)
    half = 0.5 * _dot(state.a, state.f)
    t = 1.0
    for _ in range(40):
        loss = loss_at(problem, state.f + t * Kv, state.loss.offsets)
        value = half + t * cross + 0.5 * t * t * bend + loss.value
        if value <= state.primal + 1e-4 * t * slope + _ROUNDING * abs(state.primal):
            break
        t *= 0.5
    else:
        t = 0.0
    state.a = state.a + t * v
    _judge(problem, state, loss_at, fresh=True)
    state.iterations += 1.0
    state.done = t == 0.0 or before == 0.0 or (state.gap >= 0.5 * before and before <= 1e-14 * abs(state.primal))
    state.ready = state.gap <= state.target * abs(state.primal)
    n = len(state.K)
    if products > _PATIENCE + n // _SAMPLES_A_PRODUCT and 16 * n * n < available_bytes():
        state.factor = _factor(state.K, state.loss.curvature)
        state.work += float(n) ** 3 / 3


def _judge(problem: Problem, state: KernelNewtonState, loss_at: Evaluate, fresh: bool = False) -> None:
    """Loss, residual and gap at the coefficients; ``fresh``: f as well, in one pass over K more."""
    if fresh:
        state.f = state.K @ state.a
    state.loss = loss_at(problem, state.f, None if state.loss is None else state.loss.offsets)
    state.Kr = state.f - state.K @ state.loss.beta
    state.primal = 0.5 * _dot(state.a, state.f) + state.loss.value
    state.gap = max(0.0, 0.5 * _dot(state.a - state.loss.beta, state.Kr))
    state.work += float((2 if fresh else 1) * state.a.size * len(state.a))


def _direction(state: KernelNewtonState, share: float) -> tuple[np.ndarray, np.ndarray, int]:
    """(v, Kv, products): conjugate gradients on v + H(Kv) = −r until the residual's norm has fallen to ``share``."""
    curve = state.loss.curve
    r, Kr = state.loss.beta - state.a, -state.Kr
    v, Kv = np.zeros_like(r), np.zeros_like(r)
    enough = share**2 * _dot(r, Kr)
    z, Kz = _precondition(state, r, Kr)
    p, Kp = z, Kz
    rho = _dot(z, Kr)
    products = 0
    while products < _MAX_PRODUCTS and rho > 0:
        q = p + curve(Kp)
        bend = _dot(Kp, q)
        if not bend > 0:
            break
        v, Kv, r = v + rho / bend * p, Kv + rho / bend * Kp, r - rho / bend * q
        Kr = state.K @ r
        products += 1
        if _dot(r, Kr) <= enough:
            break
        z, Kz = _precondition(state, r, Kr)
        former, rho = rho, _dot(z, Kr)
        p, Kp = z + rho / former * p, Kz + rho / former * Kp
    return v, Kv, products


def _precondition(state: KernelNewtonState, r: np.ndarray, Kr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(z, Kz) for z + h Kz = r, with the factored h: z = r − √h (1 + √h K √h)⁻¹ √h Kr, symmetric under ⟨u, v⟩ = uᵀKv."""
    if state.factor is None:
        return r, Kr
    root = state.factor.root if r.ndim == 1 else state.factor.root[:, None]
    z = r - root * la.cho_solve((state.factor.L, True), root * Kr, check_finite=False)
    return z, state.K @ z


def _factor(K: np.ndarray, h: np.ndarray) -> Factor:
    root = np.sqrt(h)
    M = root[:, None] * K
    M *= root
    M[np.diag_indices_from(M)] += 1.0
    return Factor(root, la.cholesky(M, lower=True, overwrite_a=True, check_finite=False))


def _gram(problem: Problem, name: str) -> np.ndarray:
    """K; a Gram matrix that the problem already holds is not copied."""
    kernel, n = problem.kernel, problem.n_samples
    if not isinstance(kernel, Precomputed) or problem.shift != 0 or kernel.gram.shape != (n, n):
        return full_gram(problem, name)
    in_order = np.array_equal(np.asarray(problem.X)[:, 0], np.arange(n))
    return np.asarray(kernel.gram, dtype=np.float64) if in_order else full_gram(problem, name)


def _dot(u: np.ndarray, v: np.ndarray) -> float:
    return float(np.vdot(u, v))
