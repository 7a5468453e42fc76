"""Searches of every estimator, from 116 to 20,000 samples: ours beside scikit-learn's over our estimators, over its own and over sklearnex's.

    python benchmarks/search_sizes.py
    python benchmarks/search_sizes.py --rows "SVRCV;NuSVC" --only "ours,scikit-learn over ours"
    python benchmarks/search_sizes.py --rows "SVC, clusters, 500" --dry

The rows are a sample of what there is, and no full design. Each estimator has a small, a middle and, where one fit of scikit-learn's takes seconds,
a large size; the grid is the finer the smaller the data are (7 × 7 at 500 samples, 3 × 3 at 10,000), as users do it; generated data with known noise
stand beside stored ones, and dense beside sparse, so that each estimator meets each of these at some size. The tuned classes run with their
defaults; their rivals search the grid that these classes begin with, in five folds.

Ours and scikit-learn's search over our estimators are measured anew in each run, in turns: ours for ``--limit`` seconds at most. Rivals have ten
times what ours took (10 s at least), so that a row that is cut off still says which one is faster. The other rivals do not change with our
code: each is measured once for each of its versions, and kept with its date. Every contender has a process of its own for
each row, which loads the data and makes a search of seconds before the clock starts; a process whose time is up is ended.

The exit code is 1 where a row is slower than scikit-learn's search over our estimator.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import _search_report as report
import numpy as np
from _harness import Measurements, interleave, seconds_of, touch_memory
from _process import Process
from _racing import AHEAD, LEAST
from _search_rows import CONTENDERS, FEW, OURS, OVER_OURS, OWN, ROWS, VENDOR, Row, search_of, takes_part

MEASURED = Measurements(Path(__file__).parent / ".search-sizes.json")
LIMIT = 300.0
"""The most seconds of a search."""
SHORT, REPEATS = 4.0, 3
"""Searches that take less than SHORT seconds are run REPEATS times, and the median counts."""
PACKAGES = {OWN: "scikit-learn", VENDOR: "scikit-learn-intelex"}


def main() -> None:
    """Measure the rows and contenders that the options name, and write the section."""
    options = _options()
    for name in options.rows:
        row = ROWS[name]
        print(f"== {name}", flush=True)
        measure_ours(row, options)
        for contender in (OWN, VENDOR):
            if contender in options.only and takes_part(contender, row):
                measure_rival(row, contender, options)
    text, wrong = report.text(MEASURED.stored(), key_of, options.limit)
    report.write(text, keep=not options.dry)
    if wrong:
        sys.exit(f"Slower than scikit-learn's search over our estimator: {'; '.join(wrong)}.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="", help="rows whose names begin with one of these, by semicolon")
    parser.add_argument("--only", default=",".join(CONTENDERS), help=f"contenders, by comma: {', '.join(CONTENDERS)}")
    parser.add_argument("--limit", type=float, default=LIMIT, help="the most seconds of a search")
    parser.add_argument("--again", action="store_true", help="measure scikit-learn's and sklearnex's own anew")
    parser.add_argument("--dry", action="store_true", help="print the section and leave RESULTS.md as it is")
    given = parser.parse_args()
    given.only = tuple(given.only.split(","))
    for value in given.only:
        if value not in CONTENDERS:
            parser.error(f"--only got {value!r}; it takes {', '.join(CONTENDERS)}.")
    starts = tuple(part.strip() for part in given.rows.split(";"))
    given.rows = [name for name in ROWS if name.startswith(starts)]
    if not given.rows:
        parser.error(f"--rows names none; there are {'; '.join(ROWS)}.")
    return given


def key_of(row: str, contender: str) -> str | None:
    """The key of a measurement, with the version of a rival; None where the rival is not installed."""
    if contender not in PACKAGES:
        return f"{row} | {contender}"
    try:
        return f"{row} | {contender} {version(PACKAGES[contender])}"
    except PackageNotFoundError:
        return None


def measure_ours(row: Row, options: argparse.Namespace) -> None:
    """Our search and scikit-learn's over our estimator, in turns."""
    names = [name for name in (OURS, OVER_OURS) if name in options.only]
    processes = {name: Process(Searched, row.name, name) for name in names}
    found: dict[str, dict[str, Any]] = {}
    limits = dict.fromkeys(names, options.limit)

    def run(name: str) -> float:
        answer = _timed(processes[name], limits[name])
        if answer is None:
            found[name] = {"over": limits[name]}
            return np.inf
        found[name] = answer
        if name == OURS:
            limits[OVER_OURS] = _rivals_limit(answer["seconds"], options)
        return answer["seconds"]

    try:
        runs = {name: lambda name=name: run(name) for name in names}
        seconds = interleave(runs, 1)
        if all(each[0] < SHORT for each in seconds.values()):
            again = interleave(runs, REPEATS - 1)
            seconds = {name: seconds[name] + again[name] for name in names}
    finally:
        for process in processes.values():
            process.close()
    for name in names:
        _keep(row, name, found[name] | ({} if "over" in found[name] else {"seconds": seconds[name]}))


def measure_rival(row: Row, contender: str, options: argparse.Namespace) -> None:
    """A search over other people's estimators, once; what an earlier run has found is kept."""
    key = key_of(row.name, contender)
    if key is None:
        print(f"  {contender} is not installed: its column stays empty.")
        return
    ours = MEASURED.stored().get(str(key_of(row.name, OURS)), {})
    limit = _rivals_limit(np.median(ours["seconds"]), options) if "seconds" in ours else options.limit
    known = MEASURED.stored().get(key)
    if known is not None and not known.get("over", limit) < limit and not options.again:
        return
    process = Process(Searched, row.name, contender)
    try:
        answer = _timed(process, limit)
    except Exception as error:  # a rival that cannot is shown as one
        answer = {"why": f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"}
    finally:
        process.close()
    if answer is not None and "seconds" in answer:
        answer["seconds"] = [answer["seconds"]]
    _keep(row, contender, {"over": limit} if answer is None else answer)


def _rivals_limit(ours: float, options: argparse.Namespace) -> float:
    """The seconds of a search beside ours: what it would take beyond tells nothing more."""
    return min(options.limit, max(LEAST, AHEAD * ours))


def _timed(process: Process, limit: float) -> dict[str, Any] | None:
    if not process.runs:
        process.ask(600.0, "prepare")
    return process.ask(limit, "search")


def _keep(row: Row, contender: str, found: dict[str, Any]) -> None:
    key = key_of(row.name, contender)
    assert key is not None
    MEASURED.store(key, found)
    told = f"> {found['over']:g} s" if "over" in found else found.get("why") or f"{np.median(found['seconds']):.2f} s"
    print(f"  {contender}: {told}", flush=True)


class Searched:
    """What a process does: the data of a row and the searches of a contender on them."""

    def __init__(self, row: str, contender: str) -> None:
        self.row, self.contender = ROWS[row], contender

    def prepare(self) -> None:
        """Load the data, and make a search of seconds."""
        warnings.simplefilter("ignore")  # of small classes and of fits that end early
        (self.X, self.y), self.held_out = self.row.split()
        touch_memory(1.0)
        few = slice(0, FEW)
        if (
            self.row.base not in ("LinearSVC", "SVC", "NuSVC")
            or np.bincount(_places(self.y[few])).min() >= self.row.folds
        ):
            first = search_of(self.contender, self.row, self.X[few], self.y[few])
            grid = getattr(first, "param_grid", None)
            first.set_params(
                **({"Cs": 2} if grid is None else {"param_grid": {name: values[:2] for name, values in grid.items()}})
            )
            first.fit(self.X[few], self.y[few])

    def search(self) -> dict[str, Any]:
        """One search: its seconds, the score and the parameters that it chose, and the score of its model on the samples held out."""
        search = search_of(self.contender, self.row, self.X, self.y)
        seconds = seconds_of(lambda: search.fit(self.X, self.y))
        if self.contender == VENDOR and not hasattr(search.best_estimator_, "_onedal_estimator"):
            raise RuntimeError("it falls back to scikit-learn")
        found = {
            "seconds": seconds,
            "score": float(search.best_score_),
            "held_out": float(search.score(*self.held_out)),
        }
        chosen = getattr(search, "selection_", None)
        if chosen is not None:
            found["proven"] = bool(chosen.proven)
        return found | {"chosen": {name: str(value) for name, value in search.best_params_.items()}}


def _places(y: np.ndarray) -> np.ndarray:
    return np.unique(y, return_inverse=True)[1]


if __name__ == "__main__":
    main()
