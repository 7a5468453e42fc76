"""Logistic regression of several classes at once, with a kernel: its dual bound, and Newton's method on all classes together.

The dual has one block a sample, the probabilities p that it would have: from log Σ exp f_m = max over p in the simplex of ⟨p, f⟩ − Σ p log p, with
β = c (e_y − p), the minimum over W is at w_m = Σ βᵢ_m φ(xᵢ), and free offsets make every column of β sum to zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
import scipy.linalg as la
from scipy.special import logsumexp, softmax, xlogy

from gapless.data import check_matrix, check_weights
from gapless.data.products import matvec, rmatvec
from gapless.errors import InvalidInputError, UnsupportedError
from gapless.kernels import Kernel
from gapless.kernels.gram import blocks
from gapless.losses import Logistic
from gapless.problems.problem import Intercept, Problem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate
from gapless.result import Result, result_type
from gapless.solvers import Solver
from gapless.solvers.base import own_solver
from gapless.solvers.newton.kernel_newton import KernelNewtonState, LossAt, begin, newton_step, refuse_invalid_kernel

_TINY = 1e-300
_BALANCED = 1e-13  # columns of β sum to zero where they do to this share of all costs
_UNBALANCED = 1e-9  # beyond this share a dual point is given up for the class frequencies


class MultinomialProblem(Problem):
    r"""Multinomial logistic regression: one function a class, and the probabilities are their softmax.

    .. math::

        \min_{W, b} \; P = ½ \sum_m ‖w_m‖² + \sum_i c_i \bigl( \log \sum_m \exp f_m(x_i) - f_{y_i}(x_i) \bigr), \qquad f_m(x) = ⟨w_m, φ(x)⟩ + b_m

        \max_{p} \; D = - \sum_i c_i \sum_m p_{im} \log p_{im} - ½ \sum_m β_m^⊤ K β_m, \qquad β_i = c_i (e_{y_i} - p_i), \quad p_i ∈ Δ,
        \qquad \sum_i β_{im} = 0 \text{ where b is free}

    ``codes`` are the classes as numbers from 0 to ``n_classes`` − 1. cᵢ is C times the sample's weight; ``intercept`` is ``"free"`` or ``"none"``.
    Offsets are known up to a common number, and are taken to sum to zero.

    >>> import gapless as gl
    >>> from gapless.multinomial import MultinomialProblem
    >>> problem = MultinomialProblem([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2], kernel=gl.kernels.RBF(), C=10.0)
    >>> problem
    MultinomialProblem(3 x 2 dense, 3 classes, RBF(gamma=1.0), C=10, intercept='free')
    >>> result = gl.solve(problem, tol=1e-9)
    >>> result.predict([[2.0, 0.0], [-2.0, -1.0]]).tolist(), result.certificate.relative_gap <= 1e-9
    ([0, 2], True)
    """

    n_classes: int

    def __init__(
        self,
        X: Any,
        codes: Any,
        n_classes: int | None = None,
        *,
        kernel: Kernel | None = None,
        C: float = 1.0,
        intercept: Intercept = "free",
        sample_weight: Any = None,
    ) -> None:
        if intercept not in ("free", "none"):
            raise InvalidInputError(
                f"intercept must be 'free' or 'none' for multinomial regression; got {intercept!r}."
            )
        if kernel is not None and not isinstance(kernel, Kernel):
            raise InvalidInputError(f"kernel must be a kernel of gapless.kernels or None for linear; got {kernel!r}.")
        if not 0 < C < math.inf:
            raise InvalidInputError(f"C must be a positive finite number; got {C!r}.")
        X = check_matrix(X)
        codes = np.asarray(codes)
        if codes.shape != (X.shape[0],) or codes.dtype.kind not in "iu":
            raise InvalidInputError(
                f"codes must be whole numbers, one for each of the {X.shape[0]} samples; got {codes.dtype} of the shape {codes.shape}."
            )
        n_classes = int(codes.max()) + 1 if n_classes is None else int(n_classes)
        if n_classes < 2 or codes.min() < 0 or codes.max() >= n_classes:
            raise InvalidInputError(
                f"codes must lie between 0 and n_classes - 1, of two classes at least; "
                f"got {codes.min()} to {codes.max()} and n_classes={n_classes}."
            )
        weight = check_weights(sample_weight, X.shape[0])
        if intercept == "free" and (np.bincount(codes, weights=weight, minlength=n_classes) == 0).any():
            raise InvalidInputError(
                "codes must name every class: one without samples of positive weight has no best offset."
            )
        object.__setattr__(self, "n_classes", n_classes)
        self._set(
            X=X,
            y=codes.astype(np.int64),
            cost=C * weight,
            loss=Logistic(),
            kernel=kernel,
            intercept=intercept,
            intercept_scale=1.0,
            convention="C",
            regularization=float(C),
            total_weight=float(weight.sum()),
            classes=np.arange(n_classes),
        )

    @property
    def targets(self) -> np.ndarray:
        """Σ cᵢ over the samples of each class: what the columns of c·p sum to at the best offsets."""
        return np.bincount(self.y, weights=self.cost, minlength=self.n_classes)

    def weights(self, beta: np.ndarray) -> np.ndarray:
        """W = Σ xᵢ βᵢᵀ of a linear problem, a column a class."""
        return np.column_stack([rmatvec(self.X, column) for column in beta.T])

    def expand(self, beta: np.ndarray, X: Any = None) -> np.ndarray:
        """Σⱼ k(xᵢ, xⱼ) βⱼ for each row of X (the training samples if None), a column for each of β's."""
        X = self.X if X is None else X
        if self.kernel is None:
            return np.column_stack([matvec(X, w) for w in self.weights(beta).T])
        out = np.zeros((X.shape[0], beta.shape[1]))
        support = np.flatnonzero(beta.any(axis=1))
        if len(support):
            for part, block in blocks(self.kernel, X, self.X[support]):
                out[part] = block @ beta[support]
        return out

    def __repr__(self) -> str:
        size = super().__repr__().split("(")[1].split(",")[0]
        kernel = "linear" if self.kernel is None else repr(self.kernel)
        return f"MultinomialProblem({size}, {self.n_classes} classes, {kernel}, C={self.regularization:g}, intercept={self.intercept!r})"


class MultinomialResult(Result):
    """A :class:`~gapless.result.Result` whose ``expansion``, ``beta`` and ``b`` have a column a class."""

    @property
    def b(self) -> np.ndarray:  # type: ignore[override]
        """The offset of each class."""
        return self.offsets

    @property
    def support(self) -> np.ndarray:
        """Indices of the samples with a block β ≠ 0."""
        return np.flatnonzero(self.beta.any(axis=1))

    def alpha(self, scaling: str = "C") -> np.ndarray:
        """|β|, a column a class; the only scaling is ``"C"``."""
        if scaling != "C":
            raise InvalidInputError(f"scaling must be C for multinomial regression; got {scaling!r}.")
        return np.abs(self.beta)

    def decision_function(self, X: Any) -> np.ndarray:
        """f of each class, a column a class; their softmax are the probabilities."""
        X = check_matrix(X, n_features=self.problem.n_features)
        return self.problem.expand(np.asarray(self.expansion), X) + self.offsets

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class."""
        return np.asarray(self.problem.classes)[self.decision_function(X).argmax(axis=1)]

    def kkt(self) -> NoReturn:
        """Refused: the table has one dual variable a sample."""
        raise UnsupportedError(
            "kkt() reports one dual variable a sample; multinomial regression has one for each class, see result.beta."
        )


@evaluate.register
def _(problem: MultinomialProblem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    shape = (problem.n_samples, problem.n_classes)
    given = point.beta if point.beta is not None and np.isfinite(point.beta).all() else None
    if given is not None and given.shape != shape:
        raise InvalidInputError(f"beta must have the shape {shape}; got {given.shape}.")
    p, box_violation, sum_violation = _feasible(problem, given)
    beta = problem.cost[:, None] * (_indicator(problem) - p)
    expansion = np.zeros(shape) if point.beta is None and point.expansion is None else point.expansion
    models = [beta] if expansion is None or not np.isfinite(expansion).all() else [beta, expansion]
    F = problem.expand(np.hstack(models))
    own, *others = (F[:, k : k + shape[1]] for k in range(0, F.shape[1], shape[1]))
    entropy = -float((problem.cost[:, None] * xlogy(p, p)).sum())
    dual = DualPoint(entropy - 0.5 * float(np.vdot(beta, own)), beta, box_violation, sum_violation, math.nan)
    candidates = [_primal(problem, beta, own, own=True)]
    candidates += [_primal(problem, models[1], f, own=False) for f in others]
    return min(candidates, key=lambda candidate: candidate.value), dual


def _indicator(problem: MultinomialProblem) -> np.ndarray:
    return np.eye(problem.n_classes)[problem.y]


def _feasible(problem: MultinomialProblem, beta: np.ndarray | None) -> tuple[np.ndarray, float, float]:
    """(p in the simplex, its columns balanced where offsets are free; how far β's was from the simplex, and from balance)."""
    targets, total = problem.targets, float(problem.cost.sum())
    row = targets / total if problem.intercept == "free" else np.full(problem.n_classes, 1.0 / problem.n_classes)
    neutral = np.tile(row, (problem.n_samples, 1))
    if beta is None:
        return neutral, 0.0, 0.0
    used = problem.cost > 0
    share = np.divide(beta, problem.cost[:, None], out=np.zeros_like(beta), where=used[:, None])
    raw = np.where(used[:, None], _indicator(problem) - share, neutral)
    p = np.clip(raw, 0.0, 1.0)
    p = p / np.maximum(p.sum(axis=1), _TINY)[:, None]
    box_violation = float((problem.cost[:, None] * np.abs(raw - p)).max())
    if problem.intercept != "free":
        return p, box_violation, 0.0
    sum_violation = float(np.abs(problem.cost @ p - targets).max())
    if sum_violation > _BALANCED * total:
        logs = np.log(np.maximum(p, _TINY))
        p = softmax(logs + best_offsets(logs, targets, np.asarray(problem.cost)), axis=1)
        if float(np.abs(problem.cost @ p - targets).max()) > _UNBALANCED * total:
            return neutral, box_violation, sum_violation
    return p, box_violation, sum_violation


def _primal(problem: MultinomialProblem, expansion: np.ndarray, F: np.ndarray, own: bool) -> PrimalPoint:
    b = np.zeros(problem.n_classes)
    if problem.intercept == "free" and np.isfinite(F).all():
        b = best_offsets(F, problem.targets, np.asarray(problem.cost))
    scores = F + b
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(scores)), problem.y]
    value = 0.5 * float(np.vdot(expansion, F)) + float((problem.cost * losses).sum())
    intervals = tuple((float(offset), float(offset)) for offset in b)
    return PrimalPoint(value if math.isfinite(value) else math.inf, None, expansion, b, intervals, own)


def best_offsets(F: np.ndarray, targets: np.ndarray, cost: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """The b, of sum zero, that minimises Σ cᵢ log Σ exp(F + b) − ⟨targets, b⟩: Newton's method, to rounding.

    >>> import numpy as np
    >>> F, cost = np.array([[0.0, 1.0], [2.0, 0.0]]), np.ones(2)
    >>> b = best_offsets(F, np.array([1.0, 1.0]), cost)
    >>> bool(abs(cost @ softmax(F + b, axis=1) - 1.0).max() < 1e-12)
    True
    """
    total = float(cost.sum())
    b = np.log(np.maximum(targets, _TINY) / total) if start is None else start

    def value(b: np.ndarray) -> float:
        return float(cost @ logsumexp(F + b, axis=1) - targets @ b)

    now = value(b)
    former = math.inf
    for _ in range(200):
        p = softmax(F + b, axis=1)
        sums = cost @ p
        slope = sums - targets
        size = float(np.abs(slope).max())
        if size <= 0.1 * _BALANCED * total or (size >= former and size <= 1e-11 * total):
            break
        former = size
        hessian = np.diag(sums) - p.T @ (cost[:, None] * p)
        # Along (1, …, 1) nothing changes, so that any curvature there will do.
        step = la.solve(hessian + total / len(b) + 1e-15 * total * np.eye(len(b)), -slope, assume_a="sym")
        t = 1.0
        while value(b + t * step) > now + 1e-13 * abs(now) and t > 1e-3:
            t *= 0.5
        if t <= 1e-3:  # far out: one proportional fitting of the columns never goes up
            step, t = np.log(np.maximum(targets, _TINY) / np.maximum(sums, _TINY)), 1.0
        b = b + t * step
        now = value(b)
    return b - b.mean()


@dataclass(frozen=True)
class MultinomialNewton(Solver):
    """Newton's method on all classes together; see :mod:`gapless.solvers.newton.kernel_newton`."""

    name: ClassVar[str] = "multinomial_newton"
    unit: ClassVar[str] = "Newton steps"
    max_iter: ClassVar[int] = 200

    def unsupported(self, problem: Problem) -> str | None:
        if not isinstance(problem, MultinomialProblem):
            return f"{self.name} solves a MultinomialProblem alone; got a {type(problem).__name__}."
        return refuse_invalid_kernel(problem, self.name)

    def init(self, problem: Problem, start: Point | None, rng: np.random.Generator) -> KernelNewtonState:
        assert isinstance(problem, MultinomialProblem)
        return begin(problem, self.name, start, rng, (problem.n_samples, problem.n_classes), self.loss_at)

    def step(self, problem: Problem, state: KernelNewtonState) -> None:
        newton_step(problem, state, self.loss_at)

    def point(self, problem: Problem, state: KernelNewtonState) -> Point:
        return Point(beta=state.loss.beta.copy(), expansion=state.a.copy())

    def loss_at(self, problem: MultinomialProblem, F: np.ndarray, former: np.ndarray | None) -> LossAt:
        """The multinomial loss of all classes."""
        cost, free, k = np.asarray(problem.cost), problem.intercept == "free", problem.n_classes
        b = best_offsets(F, problem.targets, cost, former) if free else np.zeros(k)
        scores = F + b
        p = softmax(scores, axis=1)
        weighted = cost[:, None] * p
        losses = logsumexp(scores, axis=1) - scores[np.arange(len(scores)), problem.y]
        sums = weighted.sum(axis=0)
        between = np.diag(sums) - p.T @ weighted + sums.sum() / k  # regular along (1, …, 1), where nothing changes

        def bent(U: np.ndarray) -> np.ndarray:
            return weighted * (U - (p * U).sum(axis=1)[:, None])

        def curve(U: np.ndarray) -> np.ndarray:
            out = bent(U)
            return bent(U - la.lstsq(between, out.sum(axis=0))[0]) if free else out

        beta = cost[:, None] * _indicator(problem) - weighted
        return LossAt(float(cost @ losses), beta, b, curve, (weighted * (1.0 - p)).mean(axis=1))


@own_solver.register
def _(problem: MultinomialProblem) -> Solver:
    return MultinomialNewton()


@result_type.register
def _(problem: MultinomialProblem) -> type[Result]:
    return MultinomialResult
