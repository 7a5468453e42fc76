"""The rivals of the linear benchmark, and the loosest setting with which each reaches a gap, remembered between runs.

Each rival is a function of one number, its epochs (for LIBLINEAR's own package: quarters of a digit of its tolerance), and starts from zero every
time. The search raises that number until the judge finds P within the gap of the optimum; a rival need not prove anything.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from _linear_data import EPSILON, GAPS, Case, primal, samples
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.svm import LinearSVC, LinearSVR

SETTINGS = Path(__file__).parent / ".linear-settings.json"
"""Settings by the version of each rival, so that a second run only measures."""
GROWTH = 1.6
"""The factor from one number of epochs to the next in the search; three halvings then find the number to some 8 %."""
BEHIND = 20.0
"""The search for a rival's setting ends where a fit takes so many times the best rival's seconds: it cannot be the best."""
DIGITS = 40
"""The tightest tolerance of LIBLINEAR's own package, in quarters of a digit: 1e-10."""
Model = tuple[np.ndarray, float]


def _liblinear(case: Case, epochs: int, dual: bool = True) -> Model:
    X, y = samples(case.data)
    options: dict[str, Any] = {"loss": case.loss, "C": case.C, "tol": 1e-12, "max_iter": epochs, "dual": dual}
    model = (LinearSVR(epsilon=EPSILON, **options) if case.regression else LinearSVC(**options)).fit(X, y)
    return model.coef_.ravel(), float(np.ravel(model.intercept_)[0])


def _liblinear_primal(case: Case, epochs: int) -> Model:
    return _liblinear(case, epochs, dual=False)


@lru_cache(maxsize=1)
def _as_csr(name: str) -> sp.csr_matrix:
    return sp.csr_matrix(samples(name)[0])


def _own_liblinear(case: Case, digits: int) -> Model:
    from liblinear.liblinearutil import train

    y = samples(case.data)[1]
    kind = (12 if case.squared else 13) if case.regression else (1 if case.squared else 3)
    option = f"-s {kind} -c {case.C:g} -B 1 -e {10.0 ** (0.25 - 0.25 * digits):g} -q"
    weights, b = train(y, _as_csr(case.data), option + (f" -p {EPSILON:g}" if case.regression else "")).get_decfun()
    return np.asarray(weights), b  # get_decfun gives those of the label +1, whichever label comes first


def _snap(case: Case, epochs: int) -> Model:
    import snapml

    model = snapml.SupportVectorMachine(
        loss="hinge", regularizer=1.0 / case.C, max_iter=epochs, tol=0.0, fit_intercept=True, n_jobs=2, generate_training_history=None
    )  # fmt: skip
    model.fit(*samples(case.data))
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def _sgd(case: Case, epochs: int) -> Model:
    X, y = samples(case.data)
    options: dict[str, Any] = {
        "loss": case.loss, "alpha": 1.0 / (case.C * len(y)), "max_iter": epochs, "tol": None, "average": True, "random_state": 0
    }  # fmt: skip
    model = (SGDRegressor(epsilon=EPSILON, **options) if case.regression else SGDClassifier(**options)).fit(X, y)
    return model.coef_.ravel(), float(np.ravel(model.intercept_)[0])


@dataclass(frozen=True)
class Rival:
    """A rival: the function that fits it, the package to whose version its remembered settings belong, and the cases that it covers."""

    name: str
    package: str
    fit: Callable[[Case, int], Model]
    covers: Callable[[Case], bool] = lambda case: True

    @property
    def version(self) -> str | None:
        """The version of the package; None where it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


RIVALS = {
    rival.name: rival
    for rival in (
        Rival("sklearn", "scikit-learn", _liblinear),
        Rival("sklearn primal", "scikit-learn", _liblinear_primal, lambda case: case.squared),
        Rival("liblinear", "liblinear-official", _own_liblinear),
        Rival("snapml", "snapml", _snap, lambda case: not (case.squared or case.regression)),
        Rival("SGD", "scikit-learn", _sgd),
    )
}
"""The rivals in the order in which they are run: those that are likely to be the fastest come first."""


def timed(rival: Rival, case: Case, setting: int) -> tuple[float, Model]:
    """One fit and its seconds."""
    began = time.perf_counter()
    model = rival.fit(case, setting)
    return time.perf_counter() - began, model


def settings_of(
    rival: Rival, case: Case, optimum: float, limit: float, skip: str | None, bests: dict[str, float]
) -> dict[str, dict[str, Any]]:
    """For each gap {"setting", "seconds"}, or {"why", "tried"} with the seconds of the longest fit, as an earlier run found them or by a search.

    ``bests`` holds, for each gap, the seconds of the best rival so far.
    """
    key = f"{rival.name} {rival.version} | {case}"
    known = json.loads(SETTINGS.read_text()) if SETTINGS.exists() else {}
    if key not in known:
        skipped = {f"{gap:g}": {"why": skip, "tried": 0.0} for gap in GAPS}
        found = skipped if skip else _search(rival, case, optimum, limit, bests)
        known[key] = found
        SETTINGS.write_text(json.dumps(known, indent=1, sort_keys=True))
        shown = ", ".join(f"{gap}: {v.get('setting', v.get('why'))}" for gap, v in found.items())
        print(f"    {rival.name} {case}: {shown}", flush=True)
    return known[key]


def _search(
    rival: Rival, case: Case, optimum: float, limit: float, bests: dict[str, float]
) -> dict[str, dict[str, Any]]:
    """Raise the setting until each gap is reached, or until a fit of ``limit`` seconds does not reach it."""
    found: dict[str, dict[str, Any]] = {}
    setting, longest, why = 1, 0.0, ""
    by_digits = rival.name == "liblinear"
    rival.fit(case, 1)  # the first fit loads the library, which the others find loaded
    missed = 0
    # LIBLINEAR's own package stops after a number of iterations whatever its tolerance: this is the gap that its tightest tolerance reaches.
    best = 0.0
    if by_digits and not case.squared:
        _, best = _reached(rival, case, DIGITS, optimum)
    for gap in sorted(GAPS, reverse=True):
        if best > gap:
            found[f"{gap:g}"] = {"why": f"stops by itself at {best:.0e}", "tried": math.inf}
            continue
        while not why:
            seconds, now = _reached(rival, case, setting, optimum)
            longest = max(longest, seconds)
            if now <= gap:
                found[f"{gap:g}"] = _loosest(rival, case, optimum, gap, missed, setting, seconds)
                break
            missed = setting
            if seconds > BEHIND * bests.get(f"{gap:g}", math.inf):
                why = f"over {BEHIND:g} times the best rival's"
            elif setting > (DIGITS if by_digits else 1_000_000):
                why = f"stalls at {now:.0e}"
            elif seconds > 0.8 * limit:
                why = f"not reached in {limit:g} s"
            grown = setting + 1 if by_digits else setting + max(1, int((GROWTH - 1) * setting))
            last = max(setting + 1, int(setting * limit / max(seconds, 1e-9)))  # a fit of just the limit
            setting = grown if by_digits else min(grown, last)
    return {f"{gap:g}": found.get(f"{gap:g}", {"why": why, "tried": longest}) for gap in GAPS}


def _reached(rival: Rival, case: Case, setting: int, optimum: float) -> tuple[float, float]:
    """(seconds, relative gap) of one fit."""
    seconds, (w, b) = timed(rival, case, setting)
    value = primal(case, w, b)
    return seconds, max((value - optimum) / value, 1e-16) if math.isfinite(value) else math.inf


def _loosest(
    rival: Rival, case: Case, optimum: float, gap: float, missed: int, setting: int, seconds: float
) -> dict[str, Any]:
    """The loosest setting that reaches the gap, by three halvings between ``setting``, which reaches it, and ``missed``, which does not."""
    for _ in range(3):
        middle = (missed + setting) // 2
        if middle in (missed, setting):
            break
        taken, now = _reached(rival, case, middle, optimum)
        if now <= gap:
            setting, seconds = middle, taken
        else:
            missed = middle
    return {"setting": setting, "seconds": seconds}
