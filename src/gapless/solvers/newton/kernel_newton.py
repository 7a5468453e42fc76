"""Newton's method for logistic losses on the explicit kernel matrix: a few steps, each solved by conjugate gradients.

With w = Σ aᵢφ(xᵢ) and f = Ka the gradient of P in w has the coefficients r = a − β(f), where β(f) = −c ℓ′(f) is the dual point that f suggests. The
best offset b for f makes Σβ = 0, so that β is feasible, and the duality gap of the pair is, exactly, ½ rᵀKr. The Newton direction v solves
v + H(Kv) = −r, where H is the curvature of the loss with the offset eliminated. The system is positive definite under the inner product
⟨u, v⟩ = uᵀKv, in which a step of conjugate gradients takes one product with K.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.linalg as la
from scipy.special import expit

from gapless.background import in_background
from gapless.blas import one_blas_thread
from gapless.data import available_bytes
from gapless.data.products import row_products
from gapless.kernels import Precomputed, Validity
from gapless.losses import Logistic
from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Solver, Targets, full_gram

_LOOSE = 0.1  # the share of the residual that conjugate gradients leave while Newton's model is still rough
# A factorisation takes n³/3 multiplications, as many as n/3 products with K, and BLAS does them some 30 times as fast: it pays after
# _PATIENCE + n/_SAMPLES_A_PRODUCT products of conjugate gradients in one step.
_PATIENCE = 20
_SAMPLES_A_PRODUCT = 100
_MAX_PRODUCTS = 500  # the most products of one step: a direction of descent is found long before
_ROUNDING = 1e-13  # a decrease below this share of P is lost in the rounding of P


class LossAt(NamedTuple):
    """A smooth loss at given decision values with the best offset, and its derivatives for a Newton step."""

    value: float
    beta: np.ndarray
    offsets: np.ndarray
    curve: Callable[[np.ndarray], np.ndarray]  # U ↦ H U, with the offset eliminated
    curvature: np.ndarray  # the curvature of each sample's loss, as one number, without the offset's part


class Factor(NamedTuple):
    """1 + √h K √h = Uᵀ U: the Newton system of a loss whose curvature is h, factored.

    U lies in memory column by column, as LAPACK reads it: solving makes no copy of it.
    """

    root: np.ndarray
    U: np.ndarray


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

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> KernelNewtonEngine:
        return KernelNewtonEngine(
            problem, self.name, start, (problem.n_samples,), lambda f, former: logistic_loss(problem, f)
        )


def logistic_loss(problem: Problem, f: np.ndarray) -> LossAt:
    """The logistic loss of two classes with the best offset."""
    y, cost, free = np.asarray(problem.y), np.asarray(problem.cost), problem.intercept == "free"
    b = float(np.mean(problem.loss.best_intercept(y, f, cost))) if free else 0.0
    wrong = expit(-y * (f + b))
    h = cost * wrong * (1.0 - wrong)
    total = float(h.sum())

    def curve(u: np.ndarray) -> np.ndarray:
        return h * (u - float(h @ u) / total) if free and total > 0 else h * u

    value = float((cost * problem.loss.value(y, f + b)).sum())
    return LossAt(value, cost * y * wrong, np.array([b]), curve, h)


def refuse_invalid_kernel(problem: Problem, name: str) -> str | None:
    """The refusal of a kernel that is not positive semi-definite; None for others."""
    if problem.validity is not Validity.NOT_VALID:
        return None
    return f"{name} needs a positive semi-definite kernel, in which P is convex; got {problem.kernel!r}."


class KernelNewtonEngine(Engine):
    """The coefficients a of w, f = Ka, the residual r = a − β with Kr, and the gap ½ rᵀKr.

    ``loss_at(f, offsets)`` evaluates the loss; the search for the best offsets begins at ``offsets``, those of the last evaluation (None at first).
    """

    def __init__(
        self,
        problem: Problem,
        name: str,
        start: Point | None,
        shape: tuple[int, ...],
        loss_at: Callable[[np.ndarray, np.ndarray | None], LossAt],
    ) -> None:
        a = np.zeros(shape)
        if start is not None and (start.expansion is not None or start.beta is not None):
            a = np.array(start.beta if start.expansion is None else start.expansion, dtype=np.float64)
        self.loss_at = loss_at
        self.K, self.a = _gram(problem, name), a
        self.f = row_products(self.K, a) if a.any() else np.zeros(shape)
        self.factor: Factor | None = None
        self._judge(None)

    def step(self, budget: Budget, targets: Targets) -> Advance:
        """One Newton step with a line search; ``READY`` where the gap is at its target, ``STALLED`` where rounding leaves nothing to gain."""
        before, target = self.gap, min(targets)
        wanted = 0.5 * math.sqrt(target * abs(self.primal) / before) if before > 0 else 1.0
        reached = math.sqrt(before / abs(self.primal)) if self.primal else 0.0
        began = time.perf_counter()
        v, Kv, products = self._direction(min(_LOOSE, max(wanted, min(_LOOSE, reached))), began + budget.seconds)
        slope, bend, cross = _dot(self.a - self.loss.beta, Kv), _dot(v, Kv), _dot(self.a, Kv)
        half = 0.5 * _dot(self.a, self.f)
        t = 1.0
        for _ in range(40):
            loss = self.loss_at(self.f + t * Kv, self.loss.offsets)
            value = half + t * cross + 0.5 * t * t * bend + loss.value
            if value <= self.primal + 1e-4 * t * slope + _ROUNDING * abs(self.primal):
                break
            t *= 0.5
        else:
            t = 0.0
        self.a = self.a + t * v
        self.f = row_products(self.K, self.a)
        self._judge(loss.offsets)
        n = len(self.K)
        work = float((products + 2) * self.a.size * n)
        spent = time.perf_counter() - began
        in_time = spent / (products + 2) * n / _SAMPLES_A_PRODUCT < budget.seconds - spent
        if products > _PATIENCE + n // _SAMPLES_A_PRODUCT and in_time and 16 * n * n < available_bytes():
            self.factor = _factor(self.K, self.loss.curvature)
            work += float(n) ** 3 / 3
        if t == 0.0 or before == 0.0 or (self.gap >= 0.5 * before and before <= 1e-14 * abs(self.primal)):
            return Advance(1.0, work, Outcome.STALLED)
        return Advance(1.0, work, Outcome.READY if self.gap <= target * abs(self.primal) else Outcome.RUNNING)

    def point(self) -> Point:
        return Point(beta=self.loss.beta.copy(), expansion=self.a.copy())

    def _judge(self, offsets: np.ndarray | None) -> None:
        """Compute the loss, the residual and the gap at the coefficients."""
        self.loss = self.loss_at(self.f, offsets)
        self.Kr = self.f - row_products(self.K, self.loss.beta)
        self.primal = 0.5 * _dot(self.a, self.f) + self.loss.value
        self.gap = max(0.0, 0.5 * _dot(self.a - self.loss.beta, self.Kr))

    def _direction(self, share: float, until: float) -> tuple[np.ndarray, np.ndarray, int]:
        """(v, Kv, products): conjugate gradients on v + H(Kv) = −r until the residual's norm has fallen to ``share``, or the clock is at ``until``.

        Wherever conjugate gradients stop, v is a direction of descent.
        """
        curve = self.loss.curve
        r, Kr = self.loss.beta - self.a, -self.Kr
        v, Kv = np.zeros_like(r), np.zeros_like(r)
        enough = share**2 * _dot(r, Kr)
        z, Kz = self._precondition(r, Kr)
        p, Kp = z, Kz
        rho = _dot(z, Kr)
        products = 0
        while products < _MAX_PRODUCTS and rho > 0:
            q = p + curve(Kp)
            bend = _dot(Kp, q)
            if not bend > 0:
                break
            v, Kv, r = v + rho / bend * p, Kv + rho / bend * Kp, r - rho / bend * q
            Kr = row_products(self.K, r)
            products += 1
            if _dot(r, Kr) <= enough or time.perf_counter() >= until:
                break
            z, Kz = self._precondition(r, Kr)
            former, rho = rho, _dot(z, Kr)
            p, Kp = z + rho / former * p, Kz + rho / former * Kp
        return v, Kv, products

    def _precondition(self, r: np.ndarray, Kr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(z, Kz) for z + h Kz = r, with the factored h: z = r − √h (1 + √h K √h)⁻¹ √h Kr, symmetric under ⟨u, v⟩ = uᵀKv."""
        if self.factor is None:
            return r, Kr
        root = self.factor.root if r.ndim == 1 else self.factor.root[:, None]
        z = r - root * la.cho_solve((self.factor.U, False), root * Kr, check_finite=False)
        return z, row_products(self.K, z)


def _factor(K: np.ndarray, h: np.ndarray) -> Factor | None:
    """The factored system; None where the rounding of huge entries of K has made it indefinite: steps then go on without a preconditioner."""
    root = np.sqrt(h)
    M = root[:, None] * K
    M *= root
    M[np.diag_indices_from(M)] += 1.0
    # LAPACK does not listen to Ctrl-C, and takes seconds for large ones: it runs on a thread. On one core: tiles on two took two to four times the
    # processor's time for 1,800 to 4,500 samples, and no less time. M is symmetric, and its transpose is column by column what M is row by row.
    factorise = one_blas_thread()(la.cholesky)
    try:
        return Factor(root, in_background(lambda: factorise(M.T, overwrite_a=True, check_finite=False)))
    except la.LinAlgError:
        return None


def _gram(problem: Problem, name: str) -> np.ndarray:
    """K; a Gram matrix that the problem already holds is not copied."""
    kernel, n = problem.kernel, problem.n_samples
    if not isinstance(kernel, Precomputed) or problem.shift != 0 or kernel.gram.shape != (n, n):
        return full_gram(problem, name)
    in_order = np.array_equal(np.asarray(problem.X)[:, 0], np.arange(n))
    return np.asarray(kernel.gram, dtype=np.float64) if in_order else full_gram(problem, name)


def _dot(u: np.ndarray, v: np.ndarray) -> float:
    return float(np.vdot(u, v))
