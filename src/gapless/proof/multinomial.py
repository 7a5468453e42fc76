"""The bounds that a point proves for multinomial regression: D at probabilities whose columns balance, and P at the functions of such a point.

Both are rounded outwards (``outward.py``). The dual point is given by the probabilities of the wrong classes, which are known to a relative error;
the probability of the true class is one minus their exact sum. With free offsets the probabilities of the wrong classes are multiplied by a factor
x_y for each class y, chosen such that a class receives from the others as much as it gives to them (``circulation.py``): then
Σ cᵢ (1[yᵢ = m] − pᵢₘ) = 0 in exact arithmetic. The factors are one, to rounding, where the given point was balanced.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg as la
from scipy.special import logsumexp, softmax, xlogy

from gapless.errors import InvalidInputError
from gapless.kernels.rounding import UNIT
from gapless.problems.multinomial import MultinomialProblem
from gapless.proof.certificate import DualPoint, Point, PrimalPoint, evaluate, is_valid
from gapless.proof.circulation import balancing_factors
from gapless.proof.outward import (
    FUNCTION,
    LEAST,
    expansion_errors,
    reach_of,
    share,
    sum_above,
    sum_below,
)
from gapless.proof.twofold import is_affordable, refine, twofold_values

_TINY = 1e-300  # in the place of zero where a logarithm or a quotient is taken
_LEAST_PROBABILITY = 1e-100  # of a wrong class: ``balancing_factors`` needs positive flows between all classes
# A column of β counts as balanced where its sum is below this share of the class's costs, some 500 roundings of a sum.
_BALANCED = 1e-13
# Where Newton's method no longer gains, rounding is in the way, and a column whose sum is below this share will do.
_NEARLY = 1e-11
# Of ``best_offsets``, by hand; they decide about time alone. A step of Newton's method is cut where it moves an offset by more than _TRUSTED, and
# steps end after so many that have gained nothing: some class may need the tail of an exponential. Any offsets prove a primal value.
_TRUSTED, _PATIENCE = 4.0, 10
# Values of a sample that differ by up to _SPAN are no hindrance to Newton's method; by how much others are brought closer in turn, and how well each
# turn has to do.
_SPAN, _COOLING, _ROUGHLY = 32.0, 4.0, 0.03


@evaluate.register
def _(problem: MultinomialProblem, point: Point) -> tuple[PrimalPoint, DualPoint]:
    return _evaluate(problem, point, fine=False)


@np.errstate(over="ignore", invalid="ignore")  # a value that overflows is infinite, and proves nothing
def _evaluate(problem: MultinomialProblem, point: Point, fine: bool) -> tuple[PrimalPoint, DualPoint]:
    shape = (problem.n_samples, problem.n_classes)
    given = point.beta if point.beta is not None and np.isfinite(point.beta).all() else None
    if given is not None and given.shape != shape:
        raise InvalidInputError(f"beta must have the shape {shape}; got {given.shape}.")
    expansion = point.expansion if point.expansion is not None and np.isfinite(point.expansion).all() else None
    zero = np.zeros(shape)
    if given is None and expansion is None:
        # At β = 0 each sample has its own class with probability one, D = 0, and no product with K is needed: every solve begins with this point.
        value = 0.0 if is_valid(problem) else -math.inf
        return _primal(problem, zero, zero, zero, True, point.offsets), DualPoint(value, zero, 0.0, 0.0, math.nan)
    beta, error, wrong, box_violation, sum_violation = _feasible(problem, given)
    models = [beta] if expansion is None else [beta, expansion]
    (own, errors), *others = _expand(problem, models, fine)
    value, rounding = _dual_value(problem, beta, error, wrong, own, errors)
    dual = DualPoint(value, beta, box_violation, sum_violation, math.nan, rounding)
    is_own = value > 0
    if not is_own:  # β = 0 is feasible too, and proves more
        dual = DualPoint(0.0, zero, box_violation, sum_violation, math.nan)
    if not is_valid(problem):
        dual = DualPoint(-math.inf, beta, box_violation, sum_violation, math.nan, refutation=problem.refutation)
    if point.offsets is not None:  # a model to be judged as it stands
        if expansion is None:
            assert given is not None
            models, others = [beta, given], _expand(problem, [given], fine)
        return _primal(problem, models[1], *others[0], False, point.offsets), dual
    lost = error * math.sqrt(float((reach_of(problem, beta) ** 2).sum())) * (1.0 + share(8))
    candidates = [_primal(problem, beta, own, errors, is_own, None, lost)]
    candidates += [_primal(problem, models[1], *values, False, None) for values in others]
    return min(candidates, key=lambda candidate: candidate.value), dual


def _expand(problem: MultinomialProblem, models: list[np.ndarray], fine: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """(K A, a bound on its error) for each matrix A of coefficients; with ``fine`` computed in numbers of twice the digits."""
    if fine:
        columns = [twofold_values(problem, np.ascontiguousarray(a)) for A in models for a in A.T]
        F, errors = (np.column_stack(each) for each in zip(*columns, strict=True))
    else:
        F, errors = problem.expand(np.hstack(models)), np.hstack([expansion_errors(problem, A) for A in models])
    return list(zip(np.hsplit(F, len(models)), np.hsplit(errors, len(models)), strict=True))


@refine.register
def _(
    problem: MultinomialProblem, primal: PrimalPoint, dual: DualPoint, seconds: float = math.inf
) -> tuple[PrimalPoint, DualPoint] | None:
    columns = problem.n_classes * (1 if primal.own else 2)
    if not is_affordable(problem, columns * problem.n_samples, seconds):
        return None
    return _evaluate(problem, Point(beta=dual.beta, expansion=primal.expansion), fine=True)


def _indicator(problem: MultinomialProblem) -> np.ndarray:
    return np.eye(problem.n_classes)[problem.y]


def _feasible(
    problem: MultinomialProblem, given: np.ndarray | None
) -> tuple[np.ndarray, float, np.ndarray, float, float]:
    """(β, error, wrong, box_violation, sum_violation): a feasible β and the wrong classes' probabilities ``wrong``, both to a relative ``error``.

    The violations tell how far the given β was from the simplex, and its columns from their sums.
    """
    p, box_violation, sum_violation = _probabilities(problem, given)
    rows, k = np.arange(problem.n_samples), problem.n_classes
    wrong = np.maximum(p, _LEAST_PROBABILITY)
    wrong[rows, problem.y] = 0.0
    total = wrong.sum(axis=1) * (1.0 + share(k + 4))
    wrong /= np.maximum(total, 1.0)[:, None]  # from here on the exact sum of each row is at most one
    error = 0.0
    if problem.intercept == "free":
        balanced = balancing_factors(_flows(problem, wrong), share(4))
        x, error = (np.zeros(k), 0.0) if balanced is None else balanced
        wrong *= x[problem.y][:, None]
    error += share(k + 8)
    beta = -problem.cost[:, None] * wrong
    beta[rows, problem.y] = problem.cost * wrong.sum(axis=1)
    return beta, error, wrong, box_violation, sum_violation


def _flows(problem: MultinomialProblem, wrong: np.ndarray) -> np.ndarray:
    """Σ cᵢ pᵢₘ over the samples of each class (a row), for every class m (a column): sums that are exact to the last digit."""
    weighted = problem.cost[:, None] * wrong
    flows = np.zeros((problem.n_classes, problem.n_classes))
    for label in range(problem.n_classes):
        for m, column in enumerate(weighted[problem.y == label].T.tolist()):
            flows[label, m] = math.fsum(column)
    return flows


def _probabilities(problem: MultinomialProblem, beta: np.ndarray | None) -> tuple[np.ndarray, float, float]:
    """(p, box_violation, sum_violation): probabilities in the simplex, with balanced columns where offsets are free, both to rounding.

    The violations tell how far the probabilities of the given β were from the simplex, and their columns from balance.
    """
    targets, total = problem.targets, float(problem.cost.sum())
    row = targets / total if problem.intercept == "free" else np.full(problem.n_classes, 1.0 / problem.n_classes)
    neutral = np.tile(row, (problem.n_samples, 1))
    if beta is None:
        return neutral, 0.0, 0.0
    used = problem.cost > 0
    ratio = np.divide(beta, problem.cost[:, None], out=np.zeros_like(beta), where=used[:, None])
    raw = np.where(used[:, None], _indicator(problem) - ratio, neutral)
    p = np.clip(raw, 0.0, 1.0)
    p = p / np.maximum(p.sum(axis=1), _TINY)[:, None]
    box_violation = float((problem.cost[:, None] * np.abs(raw - p)).max())
    if problem.intercept != "free":
        return p, box_violation, 0.0
    missing = np.abs(problem.cost @ p - targets)
    if (missing > _BALANCED * targets).any():
        logs = np.log(np.maximum(p, _TINY))
        p = softmax(logs + best_offsets(logs, targets, np.asarray(problem.cost)), axis=1)
    return p, box_violation, float(missing.max())


def _dual_value(
    problem: MultinomialProblem,
    beta: np.ndarray,
    error: float,
    wrong: np.ndarray,
    F: np.ndarray,
    errors: np.ndarray,
) -> tuple[float, float]:
    """(D rounded downwards, how much of it is rounding) at the exact dual point, which β and ``wrong`` hold to the relative ``error``.

    −p log p is concave, so that on an interval of p it is least at one of its ends.
    """
    given = wrong.sum(axis=1)
    plain = float((problem.cost[:, None] * _entropy(wrong)).sum() + (problem.cost * _entropy_of_rest(given)).sum())
    entries = [_entropy(np.minimum(1.0, wrong * (1.0 + side * error))) for side in (-1.0, 1.0)]
    rests = [_entropy_of_rest(np.minimum(1.0, given * (1.0 + side * error))) for side in (-1.0, 1.0)]
    entropy = np.column_stack([np.minimum(*entries), np.minimum(*rests)]) * (1.0 - share(2 * FUNCTION + 8))
    size = np.abs(beta)
    product = beta * F
    doubt = share(4) * np.abs(product) + size * errors + 2.0 * error * size * (np.abs(F) + errors)
    reach = error**2 * float((reach_of(problem, beta) ** 2).sum()) * (1.0 + share(8))
    square = sum_above(np.append(product + doubt * (1.0 + share(16)), [reach, LEAST]))
    least = sum_below(np.append((problem.cost[:, None] * entropy).ravel(), [-0.5 * square, -LEAST]))
    plain -= 0.5 * float(product.sum())
    return least, max(0.0, plain - least) if math.isfinite(least) else 0.0


def _entropy(p: np.ndarray) -> np.ndarray:
    return -xlogy(p, p)


def _entropy_of_rest(taken: np.ndarray) -> np.ndarray:
    """−p log p of p = 1 − ``taken``, with all digits also where p is close to one."""
    near = np.minimum(taken, 0.5)
    return np.where(taken < 0.5, -(1.0 - near) * np.log1p(-near), -xlogy(1.0 - taken, 1.0 - taken))


def _primal(
    problem: MultinomialProblem,
    expansion: np.ndarray,
    F: np.ndarray,
    errors: np.ndarray,
    own: bool,
    offsets: np.ndarray | None,
    weights_error: float = 0.0,
) -> PrimalPoint:
    """The primal point of an expansion A, where F = K A is off by at most ``errors``, with the given offsets or the best ones."""
    rows, y, k = np.arange(problem.n_samples), problem.y, problem.n_classes
    b = np.zeros(k)
    if problem.intercept == "free":
        if offsets is not None:
            b = np.asarray(offsets, dtype=np.float64)
        elif np.isfinite(F).all():
            b = best_offsets(F, problem.targets, np.asarray(problem.cost))
    scores = F + b
    plain = 0.5 * float(np.vdot(expansion, F))
    plain += float((problem.cost * (logsumexp(scores, axis=1) - scores[rows, y])).sum())
    reach = errors + 8.0 * UNIT * (np.abs(F) + np.abs(b))
    ahead = scores + reach - (scores - reach)[rows, y][:, None]
    ahead[rows, y] = -math.inf
    top = np.maximum(0.0, ahead.max(axis=1))
    others = np.exp(ahead - top[:, None]).sum(axis=1)
    losses = np.where(top > 0, top + np.log(np.exp(-top) + others), np.log1p(others))
    losses = problem.cost * losses * (1.0 + share(2 * (k + 3 * FUNCTION))) + LEAST
    product = expansion * F
    half = 0.5 * (product + share(4) * np.abs(product) + np.abs(expansion) * errors * (1.0 + share(4)))
    value = sum_above(np.append(half.ravel(), losses))
    intervals = tuple((float(offset), float(offset)) for offset in b)
    rounding = max(0.0, value - plain) if math.isfinite(value) else 0.0
    return PrimalPoint(value, None, expansion, b, intervals, own, rounding=rounding, weights_error=weights_error)


def best_offsets(F: np.ndarray, targets: np.ndarray, cost: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """The b of sum zero that minimises Σ cᵢ log Σ exp(F + b) − ⟨targets, b⟩, by Newton's method, to the rounding of each class's costs.

    >>> import numpy as np
    >>> F, cost = np.array([[0.0, 1.0], [2.0, 0.0]]), np.ones(2)
    >>> b = best_offsets(F, np.array([1.0, 1.0]), cost)
    >>> bool(abs(cost @ softmax(F + b, axis=1) - 1.0).max() < 1e-12)
    True
    """
    total = float(cost.sum())
    b = np.log(np.maximum(targets, _TINY) / total) if start is None else start
    # Where values are large, most samples weigh for one class alone: the objective is nearly piecewise linear, and Newton's method creeps. There
    # values are divided by a number that becomes one in the end.
    warm = float((F.max(axis=1) - F.min(axis=1)).max(initial=0.0)) / _SPAN
    while warm > 1.0 and math.isfinite(warm):
        b = warm * _balance(F / warm, targets, cost, b / warm, _ROUGHLY)
        warm /= _COOLING
    return _balance(F, targets, cost, b, 0.1 * _BALANCED)


def _balance(F: np.ndarray, targets: np.ndarray, cost: np.ndarray, b: np.ndarray, enough: float) -> np.ndarray:
    """Newton's method for ``best_offsets``, from b, until no class misses its target by more than this share."""
    wanted = np.maximum(targets, _TINY)

    def at(b: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective, and the probabilities of all classes."""
        logs, p = log_sums(F + b)
        return float(cost @ logs - targets @ b), p

    now, p = at(b)
    former = least = math.inf
    waited = 0
    for _ in range(200):
        sums = cost @ p
        slope = sums - targets
        size = float((np.abs(slope) / wanted).max())
        waited = 0 if size <= 0.9 * least else waited + 1
        least = min(least, size)
        if size <= enough or (size >= former and size <= _NEARLY) or waited > _PATIENCE:
            break
        former = size
        step = _newton_step(p.T @ (cost[:, None] * p), slope, wanted)
        first = t = min(1.0, _TRUSTED / max(float(np.abs(step).max()), _TINY))
        after, p = at(b + t * step)
        while not after <= now + 1e-13 * abs(now) and t > 1e-3 * first:
            t *= 0.5
            after, p = at(b + t * step)
        if (
            t <= 1e-3 * first
        ):  # far from the minimum Newton's model is wrong; proportional fitting never raises the value
            step, t = np.log(wanted / np.maximum(sums, _TINY)), 1.0
            after, p = at(b + step)
        if not math.isfinite(after):
            break
        b, now = b + t * step, after
    return b - b.mean()


def log_sums(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(log Σ exp, softmax) of each row, from one exponential of each score."""
    top = scores.max(axis=1)
    p = np.exp(scores - top[:, None])
    sums = p.sum(axis=1)
    return top + np.log(sums), p / sums[:, None]


def _newton_step(between: np.ndarray, slope: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """−H⁻¹ slope, H = diag(Σ cᵢpᵢ) − Σ cᵢpᵢpᵢᵀ. The offset of the heaviest class stays as it is, since along (1, …, 1) nothing changes.

    ``between`` is Σ cᵢpᵢpᵢᵀ. H has −Σ cᵢ pᵢₗ pᵢₘ beside its diagonal, and rows that sum to zero: with a diagonal computed by this, and with H scaled,
    classes that have 1e-12 of all costs keep their digits.
    """
    H = -between
    np.fill_diagonal(H, 0.0)
    np.fill_diagonal(H, -H.sum(axis=1))
    others = np.arange(len(slope)) != int(targets.argmax())
    scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), 1e-15 * targets)[others])
    scaled = H[np.ix_(others, others)] * np.outer(scale, scale) + 1e-15 * np.eye(len(scale))
    step = np.zeros_like(slope)
    step[others] = scale * la.lstsq(scaled, -scale * slope[others])[0]
    return step
