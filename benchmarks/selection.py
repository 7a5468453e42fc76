"""A grid search in five ways: scikit-learn's search over three systems' SVC, and our search without and with racing.

    python benchmarks/selection.py
    python benchmarks/selection.py --data magic_gamma --only ours,racing
    python benchmarks/selection.py --rows 300 --steps 3 --dry               # a trial of seconds

Every fold score is compared with that of scikit-learn's SVC at a tight tol. That search is slow, is not timed, and is kept from one run to the
next, C by C: an interrupted run goes on where it ended. Without options everything else is measured anew; a run with options keeps the other figures.
The exit code is 1 where racing has chosen another candidate than the same search without it.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _selection_report as report
import numpy as np
import scipy.sparse as sp
import sklearn.model_selection
from _agreement import fold_scores
from _contenders import CACHE_MB, CONTENDERS
from _exact_scores import exact_score
from _harness import Measurements, interleave, load, seconds_of, touch_memory
from _kernel_data import scaled
from sklearn.model_selection import StratifiedKFold

import gapless.model_selection

MEASURED = Measurements(Path(__file__).parent / ".selection.json")
REFERENCES = Measurements(Path(__file__).parent / ".selection-references.json")
DATA = ("magic_gamma", "phishing", "letter", "pendigits")
ROWS = 3000
"""Samples of each data set: with so many a run takes less than half an hour on two cores, without the searches at a tight tol."""
STEPS = 7
FOLDS = 5
TIGHT = 1e-8
"""The tol of the searches whose fold scores count as right."""
FIRST = 300
"""Samples of the search that precedes a timed one: libraries load and processes start in it."""


@dataclass(frozen=True)
class Way:
    """A way to search: the class of the search, the contender whose SVC it tunes, and the numbers of jobs of which the faster one counts."""

    search: Callable[..., Any]
    svc: str
    n_jobs: tuple[int | None, ...] = (None,)
    options: tuple[tuple[str, Any], ...] = ()

    def make(self, grid: dict[str, Any], n_jobs: int | None) -> Any:
        """The search over a grid, with the defaults of its class and of the SVC."""
        estimator = CONTENDERS[self.svc].make()
        return self.search(estimator, grid, cv=FOLDS, n_jobs=n_jobs, **dict(self.options))


_THEIRS, _OURS = sklearn.model_selection.GridSearchCV, gapless.model_selection.GridSearchCV
WAYS = {
    report.OURS: Way(_OURS, "gapless"),
    report.RACING: Way(_OURS, "gapless", options=(("racing", True),)),
    "scikit-learn": Way(_THEIRS, "sklearn", (2,)),
    "sklearnex": Way(_THEIRS, "sklearnex", (None, 2)),
    "scikit-learn over ours": Way(_THEIRS, "gapless", (None, 2)),
}


def main() -> None:
    """Measure the data sets and ways that the options name, and write the section."""
    options = _options()
    if options.everything:
        MEASURED.forget()
    warnings.simplefilter("ignore")  # of small classes in the searches that come first
    touch_memory(4.0)
    for data in options.data:
        X, y = samples(data, options.rows)
        measure(data, X, y, options)
        if options.reference:
            refer(data, X, y, options)
            judge(data, X, y, options)
    case = report.Case(options.rows, options.steps, FOLDS, options.tol)
    text, wrong = report.text(MEASURED.stored(), REFERENCES.stored(), case, grid_of(options.steps))
    report.write(text, keep=not options.dry)
    if wrong:
        sys.exit(f"With racing another candidate is chosen: {', '.join(wrong)}.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(DATA), help="data sets, by comma")
    parser.add_argument("--only", default=",".join(WAYS), help=f"ways, by comma: {', '.join(WAYS)}")
    parser.add_argument("--rows", type=int, default=ROWS, help="samples of each data set")
    parser.add_argument("--steps", type=int, default=STEPS, help="values of C, and of gamma")
    parser.add_argument("--repeats", type=int, default=3, help="runs of our searches; the others run once")
    parser.add_argument("--tol", type=float, default=TIGHT, help="the tol of the searches whose fold scores are right")
    parser.add_argument(
        "--no-reference", dest="reference", action="store_false", help="make no search at a tight tol that is not there"
    )
    parser.add_argument("--dry", action="store_true", help="print the section and leave RESULTS.md as it is")
    given = parser.parse_args()
    given.everything = len(sys.argv) == 1
    for name, known in (("data", DATA), ("only", WAYS)):
        values = tuple(getattr(given, name).split(","))
        for value in values:
            if value not in known:
                parser.error(f"--{name} got {value!r}; it takes {', '.join(known)}.")
        setattr(given, name, values)
    return given


def grid_of(steps: int) -> dict[str, list[float]]:
    """The grid, the same for all data: powers of ten, as in scikit-learn's example "RBF SVM parameters", around C = 10 and γ = 0.01.

    One over the number of features lies within γ's range for all data. Beyond γ = 10 the kernel of letter is the identity to rounding: decision
    values are then below 1e-12, so that their signs are noise, and fold scores are not comparable.
    """
    return {"C": np.logspace(-2, 4, steps).tolist(), "gamma": np.logspace(-5, 1, steps).tolist()}


def samples(data: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of a data set: all of its classes, shuffled with seed 0, cut and then standardised."""
    X, y = load(data)
    chosen = np.random.default_rng(0).permutation(len(y))[:rows]
    X = X[chosen].toarray() if sp.issparse(X) else X[chosen]
    return np.ascontiguousarray(scaled(X, "standardised")), y[chosen]


def measure(data: str, X: np.ndarray, y: np.ndarray, options: argparse.Namespace) -> None:
    """All ways on one data set, in turns: each once, then our searches again."""
    grid, last = grid_of(options.steps), {}
    runs: dict[str, Callable[[], float]] = {}
    for name in options.only:
        if CONTENDERS[WAYS[name].svc].version is None:
            print(f"  {name} is not installed: its column stays empty.")
            continue
        for n_jobs in WAYS[name].n_jobs:
            runs[report.label(name, n_jobs)] = _run(name, n_jobs, grid, X, y, last)
    print(f"== {data}, {len(y)} rows, load {os.getloadavg()[0]:.1f}", flush=True)
    seconds = interleave(runs, 1)
    ours = {label: run for label, run in runs.items() if label in report.REPEATED}
    again = interleave(ours, options.repeats - 1)
    sizes = [len(test) for _, test in StratifiedKFold(FOLDS).split(X, y)]
    for label, search in last.items():
        found = {"seconds": seconds[label] + again.get(label, []), "sizes": sizes, **_found(search, label in ours)}
        found |= {"features": X.shape[1], "classes": len(np.unique(y))}
        MEASURED.store(report.key(data, len(y), options.steps, label), found)
        print(f"  {label}: {np.median(found['seconds']):.2f} s, {search.best_params_}", flush=True)


def _run(
    name: str, n_jobs: int | None, grid: dict[str, list[float]], X: np.ndarray, y: np.ndarray, last: dict[str, Any]
) -> Callable[[], float]:
    """A function that makes one timed search and returns its seconds; the search is kept in ``last``."""
    way = WAYS[name]

    def run() -> float:
        touch_memory(1.0)
        small = {parameter: values[:2] for parameter, values in grid.items()}
        way.make(small, n_jobs).fit(X[:FIRST], y[:FIRST])
        search = last[report.label(name, n_jobs)] = way.make(grid, n_jobs)
        taken = seconds_of(lambda: search.fit(X, y))
        if way.svc == "sklearnex" and not hasattr(search.best_estimator_, "_onedal_estimator"):
            raise RuntimeError("sklearnex has fallen back to scikit-learn.")
        return taken

    return run


def _found(search: Any, ours: bool) -> dict[str, Any]:
    """What the report needs of a search: its fold scores and its choice, and for ours the proof of them."""
    results, folds = search.cv_results_, search.n_splits_
    found = {"scores": fold_scores(results, folds).tolist(), "index": int(search.best_index_)}
    if ours:
        for bound in ("low", "high"):
            found[bound] = fold_scores(results, folds, bound=f"_{bound}").tolist()
        chosen = search.selection_
        found["selection"] = {"proven": bool(chosen.proven), "tied": [int(k) for k in chosen.tied], "text": str(chosen)}
    return found


def refer(data: str, X: np.ndarray, y: np.ndarray, options: argparse.Namespace) -> None:
    """The fold scores of scikit-learn's SVC at a tight tol, for each C that earlier runs have not stored."""
    grid = grid_of(options.steps)
    for C in grid["C"]:
        key = report.reference_key(data, len(y), options.steps, options.tol, C)
        if key in REFERENCES.stored():
            continue
        # The cache is large, since nobody times this search.
        estimator = CONTENDERS["sklearn"].make(tol=options.tol, cache_size=CACHE_MB)
        search = _THEIRS(estimator, {**grid, "C": [C]}, cv=FOLDS, n_jobs=2, refit=False)
        taken = seconds_of(lambda search=search: search.fit(X, y))
        REFERENCES.store(key, {"seconds": taken, "scores": fold_scores(search.cv_results_, FOLDS).tolist()})
        print(f"  reference, C = {C:g}: {taken:.1f} s", flush=True)


def judge(data: str, X: np.ndarray, y: np.ndarray, options: argparse.Namespace) -> None:
    """Where a fold score of ours is not scikit-learn's at the tight tol: that of the exact optimum, for each that earlier runs have not stored."""
    grid = grid_of(options.steps)
    folds = list(StratifiedKFold(FOLDS).split(X, y))
    case = report.Case(options.rows, options.steps, FOLDS, options.tol)
    for C, gamma, fold, *_ in report.differing(MEASURED.stored(), REFERENCES.stored(), case, grid, data):
        key = report.exact_key(data, len(y), C, gamma, fold)
        if key in REFERENCES.stored():
            continue
        train, test = folds[fold]
        score = exact_score(X[train], y[train], X[test], y[test], C, gamma)
        REFERENCES.store(key, {"seconds": 0.0, **score._asdict()})
        print(f"  exact optimum, C = {C:g}, γ = {gamma:g}, fold {fold}: {score}", flush=True)


if __name__ == "__main__":
    main()
