"""Linear models to the same certified gap: ours against LIBLINEAR (in scikit-learn and its own package), Snap ML and scikit-learn's SGD.

The problem is min ½(‖w‖² + b²) + C Σ ℓ, with the intercept regularised as in LIBLINEAR. Dense data are standardised, sparse data are taken as they
are. ``fit`` is timed, in turns; our time includes our certificates, and a rival runs with the loosest setting whose P is within the gap of the
optimum.

    python benchmarks/linear.py --data a9a,w8a --cost 1 --gap 1e-3
    python benchmarks/linear.py --kind dense --only ours

measure only these parts and keep the other figures of the last run; without options everything is measured anew. The settings found for rivals are
kept in any case. The exit code is 1 where the judge does not confirm a certificate of ours.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import _linear_report as report
import numpy as np
import scipy.sparse as sp
from _harness import Measurements, touch_memory
from _linear_data import CASES, COSTS, DENSE, EPSILON, GAPS, SPARSE, Case, dual, primal, samples
from _linear_rivals import RIVALS, settings_of, timed

import gapless as gl

MEASURED = Measurements(Path(__file__).parent / ".linear.json")
stored, store = MEASURED.stored, MEASURED.store
LIMIT = 120.0
OURS = "ours"
FAR = 3.0
"""A rival that takes more than so many times the best rival's seconds is fitted once."""
AGREEMENT = 1e-9
"""The largest difference between our gap and the judge's, relative to P: the judge rounds as plain NumPy does, by some 1e-12."""


def main() -> None:
    """Measure the parts that the options name, write the section, and compare our certificates with the judge's."""
    options = _options()
    if options.everything:
        MEASURED.forget()
    warnings.simplefilter("ignore")  # the judge tells which gap was reached
    touch_memory()
    passes: dict[str, tuple[float, float]] = {}
    for case in CASES:
        if case.data not in options.data or case.C not in options.cost:
            continue
        if case.data not in passes:
            passes[case.data] = one_pass(samples(case.data)[0])
        measure(case, options.only, options.gap, passes[case.data], options.limit)
    report.write(stored(), keep=not options.dry)
    wrong = [key for key, found in stored().items() if found.get("difference", 0.0) > AGREEMENT]
    if wrong:
        sys.exit(f"Our certificate differs from the judge's by more than {AGREEMENT:g} of P: {'; '.join(wrong)}.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    contenders = (OURS, *RIVALS)
    parser.add_argument("--data", default="", help="data sets, by comma")
    parser.add_argument(
        "--kind", choices=("dense", "sparse", "all"), default="all", help="all data sets of one storage"
    )
    parser.add_argument("--cost", default=",".join(f"{C:g}" for C in COSTS), help="values of C, by comma")
    parser.add_argument("--gap", default=",".join(f"{gap:g}" for gap in GAPS), help="target relative gaps, by comma")
    parser.add_argument("--only", default=",".join(contenders), help="contenders, by comma")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds of the longest fit of a rival that is looked for a setting"
    )
    parser.add_argument("--dry", action="store_true", help="print the section and leave RESULTS.md as it is")
    given = parser.parse_args()
    given.everything = len(sys.argv) == 1
    kinds = {"dense": DENSE, "sparse": SPARSE, "all": DENSE + SPARSE}
    given.data = tuple(given.data.split(",")) if given.data else kinds[given.kind]
    given.only = tuple(given.only.split(","))
    for name, known in (("data", DENSE + SPARSE), ("only", contenders)):
        for value in getattr(given, name):
            if value not in known:
                parser.error(f"--{name} got {value!r}; it takes {', '.join(known)}.")
    given.cost, given.gap = (tuple(float(v) for v in getattr(given, name).split(",")) for name in ("cost", "gap"))
    return given


def one_pass(X: Any) -> tuple[float, float]:
    """(seconds of one X·w, seconds of one XᵀX where X is dense), each the least of 5."""
    w, seconds = np.ones(X.shape[1]), np.full((5, 2), np.inf)
    for turn in range(5):
        began = time.perf_counter()
        X @ w
        seconds[turn, 0] = time.perf_counter() - began
        began = time.perf_counter()
        if not sp.issparse(X):
            X.T @ X
        seconds[turn, 1] = time.perf_counter() - began if not sp.issparse(X) else 0.0
    return float(seconds[:, 0].min()), float(seconds[:, 1].min())


def problem_of(case: Case) -> gl.Problem:
    """The problem of a case."""
    losses = {
        "hinge": gl.losses.Hinge(),
        "squared_hinge": gl.losses.SquaredHinge(),
        "epsilon_insensitive": gl.losses.EpsilonInsensitive(EPSILON),
        "squared_epsilon_insensitive": gl.losses.SquaredEpsilonInsensitive(EPSILON),
    }
    return gl.Problem(*samples(case.data), loss=losses[case.loss], C=case.C, intercept="regularized")


def our_fit(case: Case, gap: float) -> tuple[float, Any]:
    """Seconds of one fit of our estimator, and the model."""
    X, y = samples(case.data)
    options: dict[str, Any] = {"loss": case.loss, "C": case.C, "tol": gap, "max_iter": 1_000_000, "max_time": LIMIT}
    model = gl.LinearSVR(epsilon=EPSILON, **options) if case.regression else gl.LinearSVC(**options)
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began, model


def measure(
    case: Case, names: tuple[str, ...], gaps: tuple[float, ...], passes: tuple[float, float], limit: float
) -> None:
    """All contenders on one case, for each gap."""
    print(f"== {case}, load {os.getloadavg()[0]:.1f}", flush=True)
    rivals = [r for r in RIVALS.values() if r.name in names and r.version is not None and r.covers(case)]
    found: dict[str, dict[str, Any]] = {}
    bests: dict[str, float] = {}
    if rivals:
        optimum = dual(case, gl.solve(problem_of(case), tol=1e-9, max_time=LIMIT).beta)
        for rival in rivals:
            found[rival.name] = settings_of(rival, case, optimum, limit, _hopeless(case, rival.name), bests)
            for gap, setting in found[rival.name].items():
                if "seconds" in setting:
                    bests[gap] = min(bests.get(gap, np.inf), setting["seconds"])
    for gap in gaps:
        settings, once = {}, set()
        for name, known in found.items():
            if "setting" in known[f"{gap:g}"]:
                settings[name] = known[f"{gap:g}"]["setting"]
                if known[f"{gap:g}"]["seconds"] > FAR * bests[f"{gap:g}"]:
                    once.add(name)
            else:
                store(report.key(case, gap, name), known[f"{gap:g}"])
        race(case, gap, settings, once, passes, ours=OURS in names)


def _hopeless(case: Case, name: str) -> str | None:
    """Why a rival is not run: it missed the looser gap with a smaller C on the same data and loss. None where it is run."""
    for C in COSTS:
        before = stored().get(report.key(Case(case.data, case.squared, C), GAPS[0], name), {})
        why = before.get("why", "")
        if C < case.C and why and not why.startswith("over"):
            return f"not asked: misses {GAPS[0]:g} at C {C:g}"
    return None


def race(
    case: Case, gap: float, settings: dict[str, int], once: set[str], passes: tuple[float, float], ours: bool
) -> None:
    """Fit in turns, as often as the length of a fit allows (the contenders of ``once`` one time); our model is judged and our other solvers timed."""
    seconds: dict[str, list[float]] = {name: [] for name in ([OURS] if ours else []) + list(settings)}
    turn, model = 0, None
    while names := [name for name, s in seconds.items() if turn < (_repeats(s[0]) if s and name not in once else 1)]:
        for name in names:
            if name == OURS:
                taken, model = our_fit(case, gap)
            else:
                taken, _ = timed(RIVALS[name], case, settings[name])
            seconds[name].append(taken)
        turn += 1
    for name, taken in seconds.items():
        entry: dict[str, Any] = {"seconds": float(np.median(taken)), "fits": len(taken)}
        if name == OURS:
            entry |= _judged(case, gap, model, passes) | _alternatives(case, gap)
        else:
            entry["setting"] = settings[name]
        store(report.key(case, gap, name), entry)
        print(f"  {gap:g} {name}: {entry['seconds']:.4f} s", flush=True)


def _repeats(seconds: float) -> int:
    return 7 if seconds < 0.5 else 3 if seconds < 3 else 2 if seconds < 10 else 1


def _judged(case: Case, gap: float, model: Any, passes: tuple[float, float]) -> dict[str, Any]:
    """The judge's view of our model, by its P and the dual value of β, and the time of a pass over the data."""
    result = gl.solve(problem_of(case), tol=gap, max_time=LIMIT)
    P, D = primal(case, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])), dual(case, result.beta)
    claimed = model.certificate_
    return {
        "gap": float(claimed.relative_gap), "reached": bool(claimed.relative_gap <= gap), "solver": result.solver,
        "iterations": float(result.iterations), "unit": result.trace.unit, "pass": passes[0], "product": passes[1],
        "difference": abs((claimed.primal - claimed.dual) - (P - D)) / abs(P),
    }  # fmt: skip


def _alternatives(case: Case, gap: float) -> dict[str, Any]:
    """Seconds of each of our solvers on the problem, without the estimator; None where a solver takes more than twice as long as ``auto``."""
    found: dict[str, float | None] = {}
    first = None
    for name in ("auto", "sdca", *(("newton",) if case.squared else ("smoothed_newton", "interior_point"))):
        if name in ("smoothed_newton", "interior_point") and samples(case.data)[0].shape[1] > 2000:
            continue
        taken = []
        for _ in range(4):
            began = time.perf_counter()
            most = LIMIT if first is None else 0.05 + 2.0 * first
            reached = gl.solve(problem_of(case), name, tol=gap, max_time=most).certificate.relative_gap <= gap
            taken.append(time.perf_counter() - began if reached else np.inf)
            if taken[-1] > 1.0:
                break
        found[name] = float(min(taken)) if np.isfinite(min(taken)) else None
        first = first or found[name]
    return {"alternatives": found}


if __name__ == "__main__":
    main()
