"""``solver="auto"``: the algorithm that a rough model of costs expects to be the fastest.

Only the ratios of the costs matter, and those only roughly: docs/solvers.md explains them. The choice does
not change the problem that is solved, and the certificate tells what was reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gapless.losses import DualBox
from gapless.problems.other_labels import choices_of
from gapless.problems.problem import Problem
from gapless.solvers.base import Solver
from gapless.solvers.interior_point.solver import InteriorPoint
from gapless.solvers.newton.descent import DENSE_COLUMNS
from gapless.solvers.newton.newton import Newton
from gapless.solvers.newton.proximal_newton import covers, expected_work
from gapless.solvers.newton.row_sampling import band_size, first_size, part_size
from gapless.solvers.newton.smoothed_newton import SmoothedNewton
from gapless.solvers.newton.weighted_gram import stays_sparse
from gapless.solvers.sdca.solver import SDCA

# Times in nanoseconds (except _CACHED and _SOME, which are counts), fitted to the times of the solvers on the data of benchmarks/linear.py; _CALL and
# _FLOP to those of some 190 fits of 500 to 6,000 samples, most of few features: the choice takes 12 % more than the best one would in the mean.
_CALL = 2e4  # one step of a method that is driven from Python
_VISIT = 40.0  # a step along one row, without its entries
_ENTRY = 2.5  # an entry of X in a step along one row
_STREAM = 0.4  # an entry of X in a pass over all rows
_CACHED = 4e6  # the entries of X from which on no cache holds them, and a pass takes twice as long
_ROW = 120.0  # all that a solve does once with a row: set-up, certificates, bounds
_FLOP = 0.02  # a multiplication inside a product of matrices
_SOME = 1000  # the rows whose mean length is taken for that of all
_FILLED = 1 / 32  # the share of entries that are not zero from which on pairs of rows have many features in common
_FEWEST = 1.5  # epochs for a digit where rows do not share features
_BEFORE = 6.0  # epochs before Newton steps take over
_PRODUCT = 1.5  # a product of two entries of a sparse row, summed over all Hessians of a solve


def choose(problem: Problem, tol: float = 1e-6, max_time: float | None = None) -> str:
    """The name of the solver that ``auto`` stands for; where none is expected to end within ``max_time``, a solver whose steps are short."""
    known, asked = choices_of(problem), (problem.regularization, tol, max_time)
    if known is None:
        return _cheapest(problem, tol, max_time)
    if asked not in known:
        known[asked] = _cheapest(problem, tol, max_time)
    return known[asked]


def _cheapest(problem: Problem, tol: float, max_time: float | None) -> str:
    costs = _costs(problem, tol, bounded=True)
    best = min(costs, key=costs.__getitem__) if costs else "smo"
    if max_time is None or not costs or costs[best] <= 1e9 * max_time:
        return best
    return next((name for name in (SDCA.name, "smo") if name in costs), best)


def expected_costs(problem: Problem, tol: float = 1e-6) -> dict[str, float]:
    """The expected time in nanoseconds of each solver for linear models that covers a problem; empty for kernels and ν-forms.

    >>> problem = Problem([[-1.0], [1.0]], [0, 1], loss="squared_hinge", intercept="none")
    >>> sorted(expected_costs(problem))
    ['interior_point', 'newton', 'sdca']
    """
    return _costs(problem, tol, bounded=False)


def _costs(problem: Problem, tol: float, bounded: bool) -> dict[str, float]:
    """The expected costs; with ``bounded`` those of ``sdca`` may be a lower bound that is above another cost, as its model takes the longest."""
    if not problem.is_linear or problem.is_nu:
        return {}
    digits = max(1.0, -math.log10(max(tol, 1e-12)))
    costs = {
        solver.name: cost(problem, digits) for solver, cost in _SECOND_ORDER if solver.unsupported(problem) is None
    }
    if _SDCA.unsupported(problem) is None:
        costs[SDCA.name] = _sdca(problem, digits, min(costs.values(), default=math.inf) if bounded else math.inf)
    # Elsewhere smo moves one βᵢ at a time, which sdca does with less work; and sdca hands over to the interior-point method where that is possible.
    if costs and problem.intercept == "free" and InteriorPoint.name not in costs:
        costs["smo"] = _smo(problem, digits)
    return costs


def _hardness(problem: Problem) -> float:
    """The mean of c‖x‖² (or of ‖x‖²/d for a squared loss), on which the rate of methods that move one βᵢ at a time depends."""
    finite = problem.unit_cost * problem.total_weight / problem.n_samples
    step = max(1, problem.n_samples // _SOME)
    bend = _mean(problem.dual.d[::step]) if isinstance(problem.dual, DualBox) else 0.0
    reach = _mean(problem.diagonal[::step])
    return reach / bend if bend > 0 else min(1e12, finite * reach)


def _mean(values: np.ndarray) -> float:
    return float(values.sum()) / len(values)


def _sdca(problem: Problem, digits: float, most: float) -> float:
    """The cost, or a lower bound on it that is above ``most``."""
    entries = problem.n_samples * problem.entry_work
    epoch = problem.n_samples * (_VISIT + problem.entry_work * _ENTRY)
    once = 10 * _CALL + problem.n_samples * _ROW + 12 * _STREAM * entries
    least = once + min(_FEWEST * digits, _BEFORE) * epoch
    if least > most:
        return least
    # Rows that share features, n ≫ d, undo each other's steps; rows with features of their own do not.
    overlap = min(1.0, problem.n_samples / problem.n_features)
    slow = _hardness(problem) ** 0.75
    if overlap < 1.0 and problem.entry_work >= _FILLED * problem.n_features:
        # Fewer rows than features, which most rows share: their Gram matrix is invertible, and its condition (Marchenko & Pastur 1967) bounds the
        # epochs for any C.
        slow = min(slow, ((1.0 + math.sqrt(overlap)) / (1.0 - math.sqrt(overlap))) ** 2)
    work = digits * (_FEWEST + 8.0 * overlap * slow) * epoch
    if covers(problem):  # where epochs become slow, Newton steps take over
        rounds = 0.6 + 0.07 * digits
        work = min(work, _BEFORE * epoch + 20 * _CALL + rounds * _ENTRY * expected_work(problem, problem.rows))
    return once + work


def _interior_point(problem: Problem, digits: float) -> float:
    n, columns = problem.n_samples, problem.n_features + 1
    size, steps = band_size(n, columns), 18.0 + 2.0 * digits
    rows = 0.75 * size if 2 * size < n else float(n)
    one = rows * (_ROW / 4 + columns * (4 * _STREAM + _FLOP * columns)) + _FLOP * columns**3 + _CALL
    return 1.35 * (steps * one + n * _ROW + 12 * _STREAM * n * problem.entry_work)


def _newton(problem: Problem, digits: float) -> float:
    n, columns = problem.n_samples, problem.n_features + 1
    entries = n * problem.entry_work
    if columns > DENSE_COLUMNS or columns > 2 * n:
        return 10 * _CALL + 12 * 25 * 2 * _ENTRY * entries
    gram = 6 * _FLOP * min(n, part_size(n, columns)) * columns**2
    if stays_sparse(problem.rows, columns):
        gram = _PRODUCT * entries * problem.entry_work
    steps = 5.0 + digits
    once = 6 * _CALL + gram + 0.8 * n * _ROW
    return once + steps * (_CALL + _FLOP * columns**3 + 2 * _STREAM * entries)


def _smoothed_newton(problem: Problem, digits: float) -> float:
    # The number of steps grows with that of the features: a round ends where about as many rows are near a kink as there are features. It grows too
    # where these rows are no small share of all.
    n, columns = problem.n_samples, problem.n_features + 1
    part = first_size(n, columns)
    share = columns / n
    steps = 2.0 + (1.0 + 0.02 * columns) * digits * (1.0 + 20.0 * share + 300.0 * share**2)
    near = 0.05 * n * columns * (_STREAM * 3 + _FLOP * columns)
    entries = n * problem.entry_work
    one = 2 * _CALL + n * _ROW / 8 + near + _FLOP * columns**3 + (2 if entries < _CACHED else 4) * _STREAM * entries
    first = 10 * (2 * _CALL + part * columns * (2 * _STREAM + 0.3 * _FLOP * columns) + _FLOP * columns**3)
    return first + steps * one + n * _ROW / 2 + 12 * _STREAM * entries


def _smo(problem: Problem, digits: float) -> float:
    n = problem.n_samples
    pairs = digits * n * (0.5 + _hardness(problem) ** 0.5)
    return 15 * _CALL + pairs * n * (4.0 + 0.2 * problem.entry_work)


_SDCA = SDCA()
_SECOND_ORDER: tuple[tuple[Solver, Callable[[Problem, float], float]], ...] = (
    (InteriorPoint(), _interior_point),
    (Newton(), _newton),
    (SmoothedNewton(), _smoothed_newton),
)
