"""What is built on a fit: ``certify`` over estimators, paths along C, leave-one-out bounds, probabilities and searches, each on drawn data.

A check draws its own data and options from a generator, and returns what was wrong, in sentences. Exact values are the referee's; where there are
none, a claim is refuted by an interval that certainly contains the exact optimum's value (``decision_interval`` of a fit to the last digits).
"""

from __future__ import annotations

import contextlib
import traceback
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.model_selection
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning

import gapless as gl
from gapless.model_selection import GridSearchCV, RandomizedSearchCV
from tests.campaign.referee import Referee, Statement, certainly_less, rational, rationals

Wrong = list[str]
Rng = np.random.Generator

CLOSE = 1e-10  # the tol of fits whose intervals are to be short
SMALL_GAP = 1e-2  # more than the gap of any model that scikit-learn fits with tol=1e-6 to such data
NEARLY_ZERO = 1e-3  # the optimum of a ν-SVC that is nearer to zero has no small relative gap
EDGE = 1e-6  # a test sample nearer to the border than this may have either label


def samples(rng: Rng, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """(X, y): some ten to forty samples, which may repeat, with every class among them; without classes numbers."""
    n, d = int(rng.integers(12, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) if rng.random() < 0.7 else rng.integers(-2, 3, size=(n, d)).astype(float)
    score = X @ rng.normal(size=d) + float(rng.choice([0.1, 1.0])) * rng.normal(size=n)
    if not classes:
        return X, score
    order = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    return X, order * classes // n


def weights(rng: Rng, n: int) -> np.ndarray | None:
    """Sample weights, of which some may be zero, though never so many that a class is lost."""
    kind = rng.integers(3)
    if kind == 0:
        return None
    drawn = rng.uniform(0.2, 3.0, n) if kind == 1 else rng.integers(1, 4, n).astype(float)
    drawn[rng.random(n) < 0.1] = 0.0
    return np.asarray(drawn)


def certified(rng: Rng) -> Wrong:
    """The bounds of ``certify`` for any estimator, of ours or of scikit-learn, do not contradict the bounds of our own fit of the same problem."""
    name = str(rng.choice(["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"]))
    classes = int(rng.integers(2, 4)) if name.endswith("SVC") else 0
    X, y = samples(rng, classes)
    weight, options = weights(rng, len(X)), dict[str, Any](tol=1e-6)
    if name.endswith("SVC") and rng.random() < 0.6:
        given = {k: float(rng.uniform(0.3, 3.0)) for k in range(classes)}
        options["class_weight"] = "balanced" if rng.random() < 0.5 else given
    if name.startswith("Nu") or name == "OneClassSVM":
        options["nu"] = float(rng.choice([0.05, 0.2] if name == "NuSVC" else [0.05, 0.5, 0.95]))
    if name not in ("NuSVC", "OneClassSVM"):
        options["C"] = float(10.0 ** rng.uniform(-2, 1))
    X = X + 3.0 if name == "OneClassSVM" else X
    given_X: Any = sp.csr_array(X) if rng.random() < 0.2 else X
    if not name.startswith("Linear"):
        options["kernel"] = str(rng.choice(["rbf", "rbf", "precomputed"]))
        if options["kernel"] == "precomputed":
            given_X = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        else:
            options["gamma"] = 0.4
    else:
        options |= {"max_iter": 50_000, "loss": "squared_hinge" if classes else "squared_epsilon_insensitive"}
        options["fit_intercept"] = bool(rng.random() < 0.7)
    rest = () if name == "OneClassSVM" else (y,)
    known = {"X": given_X, "y": None if name == "OneClassSVM" else y, "sample_weight": weight}
    try:
        ours = getattr(gl, name)(**options).fit(given_X, *rest, sample_weight=weight)
    except gl.errors.InvalidInputError as error:
        return [] if "infeasible" in str(error) else [f"{name}(**{options}): {error}"]
    models = [ours]
    with contextlib.suppress(ValueError):  # scikit-learn's ν-SVC divides by a ρ of zero where the optimum is zero
        models.append(getattr(sklearn.svm, name)(**options).fit(given_X, *rest, sample_weight=weight))
    wrong, own = [], ours.certificates_
    # Class weights of a ν-SVC are another problem in each library (docs/from_sklearn.md), and those of "balanced" in an SVC with weights.
    apart = "class_weight" in options and (name == "NuSVC" or (name == "SVC" and weight is not None))
    for model, independent in product(models, (False, True)):
        found = gl.certify(model, **known, independent=independent)
        parts, who = (
            found.parts or (found,),
            f"certify({type(model).__module__}.{name}(**{options}), independent={independent})",
        )
        for k, (part, mine) in enumerate(zip(parts, own, strict=True)):
            # NumPy's values are not rounded outwards; those of an optimum near zero are sums of terms of about one.
            slack = max(1e-12 * abs(mine.primal), 1e-14) if independent else 0.0
            crossed = part.dual > mine.primal + slack or part.primal < mine.dual - slack
            if crossed and (model is ours or not apart):
                wrong.append(f"{who}: part {k} has {part}, and the fit has {mine}")
            vanishes = name == "NuSVC" and min(abs(part.dual), abs(part.primal), abs(mine.primal)) < NEARLY_ZERO
            if part.relative_gap > SMALL_GAP and part.gap > 1e-6 and not vanishes:
                wrong.append(f"{who}: part {k} has the gap {part.relative_gap:.2g}")
    return wrong


def path(rng: Rng) -> Wrong:
    """At any C of a path the exact P of its model, and of a model that was solved for this C, is on the right side of the bounds."""
    X, y = samples(rng)
    kernel = ["rbf", 0.5] if rng.random() < 0.5 else ["linear"]
    least = float(10.0 ** rng.uniform(-3, -1))
    problem = gl.Problem(X, y, kernel=None if kernel[0] == "linear" else gl.kernels.RBF(0.5))
    along, wrong = gl.C_path(problem, least, 1e3 * least, 1e-2), []
    for C in 10.0 ** rng.uniform(np.log10(least), np.log10(1e3 * least), 3):
        model = along.model_at(float(C))
        referee = Referee(
            Statement(X, np.asarray(problem.y), np.asarray(model.problem.cost), "hinge", 0.0, "free", 1.0, kernel)
        )
        best = gl.solve(model.problem, tol=1e-8).certified
        for who, result, bound, above in (
            ("model_at", model, model.primal, True),
            ("a solve", best, model.dual, False),
        ):
            coefficients = result.w if kernel[0] == "linear" else getattr(result, "expansion", None)
            coefficients = result.beta if coefficients is None else coefficients
            value = referee.primal(rationals(coefficients), [rational(result.b)])
            outside = certainly_less(rational(bound), value) if above else certainly_less(value, rational(bound))
            if outside:
                wrong.append(f"C={C:g}, {kernel}: P of {who} is on the wrong side of {bound!r}")
        if not model.relative_gap <= along.tol:
            wrong.append(f"C={C:g}: the gap {model.relative_gap:g} is above tol")
    return wrong


def left_out(rng: Rng) -> Wrong:
    """What is proven of the machine trained without a sample holds for a machine that was trained without it."""
    X, y = samples(rng)
    C, gamma = float(10.0 ** rng.uniform(-1, 2)), float(rng.choice([0.2, 1.0]))
    result = gl.solve(gl.Problem(X, y, C=C, kernel=gl.kernels.RBF(gamma)), tol=1e-8)
    bounds, wrong = gl.leave_one_out_bounds(result), []
    for i in np.flatnonzero(bounds.errors | bounds.correct):
        rest = np.arange(len(y)) != i
        if len(set(y[rest])) < 2:
            continue
        model = gl.SVC(C=C, gamma=gamma, tol=CLOSE).fit(X[rest], y[rest])
        low, high = (float(end[0]) for end in model.decision_interval(X[[i]]))
        right, surely_wrong = (low > 0, high < 0) if y[i] else (high < 0, low > 0)
        if (bounds.errors[i] and right) or (bounds.correct[i] and surely_wrong):
            wrong.append(
                f"sample {i} is proven {'wrong' if bounds.errors[i] else 'right'}, and without it f is in [{low:g}, {high:g}]"
            )
    return wrong


def probabilities(rng: Rng) -> Wrong:
    """Probabilities are numbers from 0 to 1 that add up to 1, the most probable label is the predicted one, and the same seed gives the same."""
    classes = int(rng.integers(2, 4))
    X, y = samples(rng, classes)
    kind, nu = (gl.NuSVC, {"nu": 0.1}) if rng.random() < 0.3 else (gl.SVC, {"C": float(10.0 ** rng.uniform(-1, 2))})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parameter's own warning
        models = [kind(**nu, gamma=0.5, probability=True, random_state=0).fit(X, y) for _ in range(2)]
    first, second = (model.predict_proba(X) for model in models)
    wrong = []
    if not (np.isfinite(first).all() and (first >= 0).all() and np.allclose(first.sum(axis=1), 1.0, atol=1e-12)):
        wrong.append(f"{kind.__name__}({nu}): these are no probabilities")
    if not np.array_equal(first, second):
        wrong.append(f"{kind.__name__}({nu}): the same seed gave other probabilities")
    if not np.array_equal(models[0].classes_[first.argmax(axis=1)], models[0].predict(X)):
        wrong.append(f"{kind.__name__}({nu}): the most probable label is not the predicted one")
    return wrong


def searched(rng: Rng) -> Wrong:
    """Intervals of scores contain the scores of fits one by one; a choice that is proven best has the best of them, raced or not."""
    classes = int(rng.integers(2, 4))
    X, y = samples(rng, classes)
    grid = {"C": (10.0 ** rng.uniform(-2, 2, 3)).tolist(), "gamma": (10.0 ** rng.uniform(-1, 0.5, 2)).tolist()}
    options = {"class_weight": "balanced" if rng.random() < 0.3 else None}
    folds = sklearn.model_selection.StratifiedKFold(2, shuffle=True, random_state=0)
    scores, edges = _one_by_one(X, y, grid, options, folds)
    seed, wrong = int(rng.integers(100)), []
    for racing, prove in ((False, "bounded"), (False, "full"), (True, "bounded"), (True, "full")):
        ours = [GridSearchCV(gl.SVC(**options), grid, cv=folds, racing=racing, prove=prove)]
        if not racing and prove == "bounded":
            ours.append(RandomizedSearchCV(gl.SVC(**options), grid, n_iter=4, cv=folds, random_state=seed))
        for search in ours:
            found = search.fit(X, y).cv_results_
            places = [_place(grid, each) for each in found["params"]]
            who = f"{type(search).__name__}(racing={racing}, prove={prove!r})"
            for k, place in enumerate(places):
                low, high = found["mean_test_score_low"][k], found["mean_test_score_high"][k]
                if not edges[place] and not low - 1e-9 <= scores[place] <= high + 1e-9:
                    wrong.append(
                        f"{who}: {found['params'][k]} scores {scores[place]:g}, and its interval is [{low:g}, {high:g}]"
                    )
            chosen = search.selection_
            compared = [place for place in places if not edges[place]]
            if chosen is not None and chosen.proven and compared and not edges[places[chosen.index]]:
                best = max(scores[place] for place in compared)
                if scores[places[chosen.index]] < best - 1e-9:
                    wrong.append(
                        f"{who}: proven best with {scores[places[chosen.index]]:g}, and another one scores {best:g}"
                    )
    theirs = sklearn.model_selection.ParameterSampler(grid, 4, random_state=seed)
    if [dict(each) for each in theirs] != list(found_params(X, y, grid, options, folds, seed)):
        wrong.append("RandomizedSearchCV: other candidates than scikit-learn's")
    return wrong


def found_params(X: Any, y: Any, grid: Any, options: Any, folds: Any, seed: int) -> list[dict[str, Any]]:
    """The candidates of a random search with this seed."""
    search = RandomizedSearchCV(gl.SVC(**options), grid, n_iter=4, cv=folds, random_state=seed)
    return list(search.fit(X, y).cv_results_["params"])


def _one_by_one(X: Any, y: Any, grid: Any, options: Any, folds: Any) -> tuple[np.ndarray, np.ndarray]:
    """The mean scores of all candidates by fits to the last digits, and whether a test sample is so near to the border that a score is open."""
    candidates = list(sklearn.model_selection.ParameterGrid(grid))
    scores, edges = np.zeros(len(candidates)), np.zeros(len(candidates), dtype=bool)
    for k, candidate in enumerate(candidates):
        each = []
        for train, test in folds.split(X, y):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = gl.SVC(**options, **candidate, tol=CLOSE, decision_function_shape="ovo").fit(X[train], y[train])
            edges[k] |= bool((np.abs(model.decision_function(X[test])) < EDGE).any())
            low, high = model.decision_interval(X[test])
            edges[k] |= bool((low * high <= 0).any())
            each.append(model.score(X[test], y[test]))
        scores[k] = np.mean(each)
    return scores, edges


def _place(grid: Any, candidate: Any) -> int:
    return list(sklearn.model_selection.ParameterGrid(grid)).index(dict(candidate))


CHECKS: tuple[Callable[[Rng], Wrong], ...] = (certified, path, left_out, probabilities, searched)


def check(seed: int, index: int, kinds: tuple[Callable[[Rng], Wrong], ...] = CHECKS) -> Wrong:
    """One check of each kind; the message of a failure names its two numbers."""
    wrong = []
    for number, kind in enumerate(kinds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "The optimum of (NuSVC|OneClassSVM)")  # is zero, which the fit says
            try:
                found = kind(np.random.default_rng([seed, index, number]))
            except Exception:
                found = [traceback.format_exc(limit=-3)]
        wrong += [f"{kind.__name__} {seed}:{index}: {sentence}" for sentence in found]
    return wrong
