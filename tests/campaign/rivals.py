"""Primal points of other solvers: Clarabel on the primal of small linear problems, scikit-learn's LIBSVM for kernels.

Nothing that a rival claims is used: its point is evaluated exactly, and P of any point bounds the optimum from above.
"""

from __future__ import annotations

import warnings

import numpy as np
import qpsolvers
import scipy.sparse as sp
from sklearn.svm import SVC, SVR

from tests.campaign.exact_kernels import gram_table
from tests.campaign.referee import Statement

Point = tuple[np.ndarray, np.ndarray]
MOST_SAMPLES = 60  # samples up to which rivals are run: a fit then takes milliseconds
QUADRATIC = ("hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive")


def rival_points(statement: Statement) -> list[Point]:
    """(weights, offsets) of other solvers; an empty list where none applies or none succeeds."""
    if len(statement.y) > MOST_SAMPLES or statement.loss not in QUADRATIC:
        return []
    if statement.is_linear:
        return _clarabel(statement)
    if statement.loss in ("hinge", "epsilon_insensitive") and statement.intercept == "free" and not statement.is_hard:
        return _libsvm(statement)
    return []


def _clarabel(statement: Statement) -> list[Point]:
    """Clarabel's point: w, b and one slack a sample (two in a regression), with the constraints of the textbook."""
    used = statement.cost > 0
    X, y, cost = statement.rows[used], statement.y[used], statement.cost[used]
    n, d = X.shape
    rows = np.hstack([X, np.ones((n, 1))])
    if "insensitive" in statement.loss:
        G, h = np.vstack([-rows, rows]), np.concatenate([statement.parameter - y, statement.parameter + y])
        cost = np.tile(cost, 2)
    else:
        G, h = -y[:, None] * rows, -np.ones(n)
    m, hard, squared = len(G), statement.is_hard, statement.loss.startswith("squared")
    slacks = 0 if hard else m
    G = np.hstack([G, -np.eye(m)[:, :slacks]])
    b_penalty = 1.0 / statement.intercept_scale**2 if statement.intercept == "regularized" else 0.0
    P = np.diag(np.concatenate([np.ones(d), [b_penalty], 2 * cost[:slacks] * squared]))
    q = np.concatenate([np.zeros(d + 1), cost[:slacks] * (not squared)])
    bound = 0.0 if statement.intercept == "none" else np.inf
    lower = np.concatenate([np.full(d, -np.inf), [-bound], np.zeros(slacks)])
    upper = np.concatenate([np.full(d, np.inf), [bound], np.full(slacks, np.inf)])
    problem = qpsolvers.Problem(sp.csc_matrix(P), q, sp.csc_matrix(G), h, lb=lower, ub=upper)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            solution = qpsolvers.solve_problem(problem, solver="clarabel")
        except (qpsolvers.exceptions.QPError, ArithmeticError, ValueError):
            return []
    if solution.x is None or not np.isfinite(solution.x).all():
        return []
    b = 0.0 if statement.intercept == "none" else float(solution.x[d])
    return [(solution.x[:d], np.array([b]))]


def float_gram(statement: Statement) -> np.ndarray:
    """The Gram matrix of a statement, rounded to float64."""
    table = gram_table(statement.kernel, statement.rows, statement.gram)
    return np.array([[float(v.mid()) for v in row] for row in table])


def _libsvm(statement: Statement) -> list[Point]:
    """LIBSVM's point on the Gram matrix. The entries of the matrix are rounded, which is no harm: any point will do."""
    K = float_gram(statement)
    used = statement.cost > 0
    unit = float(statement.cost.max())
    if not np.isfinite(K).all() or not np.isfinite(unit):
        return []
    options = {"kernel": "precomputed", "C": unit, "tol": 1e-8, "max_iter": 20_000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = SVR(epsilon=statement.parameter, **options) if "insensitive" in statement.loss else SVC(**options)
            model.fit(K[np.ix_(used, used)], statement.y[used], sample_weight=(statement.cost / unit)[used])
        except (ValueError, ArithmeticError):
            return []
    expansion = np.zeros(len(statement.y))
    expansion[np.flatnonzero(used)[model.support_]] = np.ravel(model.dual_coef_)
    if not (np.isfinite(expansion).all() and np.isfinite(model.intercept_).all()):
        return []
    return [(expansion, np.asarray(model.intercept_, dtype=np.float64))]
