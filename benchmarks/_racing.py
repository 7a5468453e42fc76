"""Fits of several systems in turns, each system in a process of its own: what ``sizes.py`` and ``vendor.py`` share.

A fit that does not end within the limit is ended with its process. Fits of rivals that take long are kept from one run to the next, with their date.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from _harness import Measurements, touch_memory
from _process import Process
from _promises import Fitted, fitted, quietly

OURS, SKLEARN, SKLEARNEX = "gapless", "scikit-learn", "sklearnex"
PACKAGES = {OURS: "gapless", SKLEARN: "scikit-learn", SKLEARNEX: "scikit-learn-intelex"}
"""The contenders, and the packages to whose versions kept fits belong."""
FIRST = 100
"""Samples, easy ones, of the fit that precedes the timed ones: a library loads and starts its threads in its first fit."""
SHORT, BURST = 0.05, 5
"""A fit of fewer seconds is made so many times in a row."""
LONG = 2.0
"""Seconds of a rival's fit that is made once, and kept."""
LIMIT = 120.0
"""The most seconds of a fit."""
AHEAD, LEAST = 10.0, 10.0
"""A rival's fit is ended after so many times our seconds, but not before so many seconds: what it would take tells nothing more."""
NOT_TIMED = 600.0
"""The most seconds of what is not timed: data, predictions and judgements."""
_MOST = 5  # the most fits of a contender on a row


class Samples(NamedTuple):
    """The samples of a fit, the weights if it gets any, and samples for the score."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    X_test: Any
    y_test: np.ndarray


class Contest(NamedTuple):
    """A benchmark's own part: ``samples(row)`` and ``make(name, row)``, which is None where a contender has no such estimator.

    Both are functions of a module, since every process calls them for itself.
    """

    samples: Callable[[Any], Samples]
    make: Callable[[str, Any], Any]


class Found(NamedTuple):
    """What is known of a contender on a row: the median seconds of its fits, or why there are none; ``date`` where they are of an earlier run."""

    seconds: float | None = None
    why: str = ""
    model: Fitted | None = None
    judged: float | None = None
    date: str = ""


class Fits:
    """What runs in a contender's process."""

    def __init__(self, name: str, contest: Contest) -> None:
        self.name, self.contest = name, contest
        self._model: Any = None

    def prepare(self, row: Any) -> bool:
        """Load the samples of a row, after a fit of others; False where the contender has no such estimator."""
        self._model = None
        model = self.contest.make(self.name, row)
        if model is None:
            return False
        first = np.random.default_rng(0).normal(size=(FIRST, 3))
        # Classes of the same size, so that no ν up to 1 is too large for them.
        quietly(lambda: model.fit(first, np.where(first[:, 0] > np.median(first[:, 0]), 1.0, -1.0)))
        self.samples = self.contest.samples(row)
        touch_memory(0.5)
        return True

    def fit(self, row: Any) -> float:
        """Seconds of a fit; of a short one the median of a few, since the first after a pause finds cold caches and sleeping threads."""
        taken = [self._seconds(row)]
        while taken[0] < SHORT and len(taken) < BURST:
            taken.append(self._seconds(row))
        return float(np.median(taken))

    def _seconds(self, row: Any) -> float:
        model = self.contest.make(self.name, row)
        began = time.perf_counter()
        self._model, self._warned = quietly(
            lambda: model.fit(self.samples.X, self.samples.y, *_given(self.samples.weight))
        )
        seconds = time.perf_counter() - began
        if self.name == SKLEARNEX and not hasattr(model, "_onedal_estimator"):
            raise RuntimeError("sklearnex falls back to scikit-learn.")
        return seconds

    def fitted(self) -> Fitted:
        """What is to be known of the last model."""
        return fitted(self._model, self._warned, self.samples.X_test, self.samples.y_test)

    def judged(self) -> float:
        """The relative gap of the last model, by ``gapless.certify``."""
        import gapless as gl

        weights = {} if self.samples.weight is None else {"sample_weight": self.samples.weight}
        return float(gl.certify(self._model, self.samples.X, self.samples.y, **weights).relative_gap)


def _given(weight: np.ndarray | None) -> tuple[np.ndarray, ...]:
    return () if weight is None else (weight,)


class Race:
    """The contenders of a benchmark, and the fits of theirs that are kept in ``stored``; ``judge`` asks for a judgement of every model."""

    def __init__(
        self, contest: Contest, stored: Measurements, only: tuple[str, ...], limit: float = LIMIT, judge: bool = False
    ) -> None:
        self.processes = {name: Process(Fits, name, contest) for name in only}
        self.stored, self.limit, self.judge = stored, limit, judge

    def run(self, row: Any) -> dict[str, Found]:
        """All contenders on a row; ours begins, if it takes part, and bounds what rivals may take."""
        found: dict[str, Found] = {}
        seconds: dict[str, list[float]] = {}
        limits = dict.fromkeys(self.processes, self.limit)
        for name in sorted(self.processes, key=lambda name: name != OURS):
            if seconds.get(OURS):
                limits[name] = min(self.limit, max(LEAST, AHEAD * seconds[OURS][0]))
            kept = None if name == OURS else self._kept(name, row, limits[name])
            if kept is not None:
                found[name] = kept
            elif not self.processes[name].ask(NOT_TIMED, "prepare", row):
                found[name] = Found(why="–")
            else:
                seconds[name] = []
                self._fit_once(name, row, limits[name], seconds, found)
        for turn in range(1, _MOST):
            for name in [name for name, taken in seconds.items() if taken and turn < _repeats(taken[0])]:
                self._fit_once(name, row, limits[name], seconds, found)
        for name, taken in seconds.items():
            if name not in found:
                found[name] = self._described(name, float(np.median(taken)))
            if name != OURS and (found[name].seconds or limits[name]) > LONG and found[name].why[:1] in ("", ">"):
                self._keep(name, row, found[name], limits[name])
        return {name: found[name] for name in self.processes}

    def _fit_once(
        self, name: str, row: Any, limit: float, seconds: dict[str, list[float]], found: dict[str, Found]
    ) -> None:
        if name in found:
            return
        try:
            taken = self.processes[name].ask(limit, "fit", row)
        except Exception as error:
            found[name] = Found(why=f"{type(error).__name__}: {error}"[:200])
            return
        if taken is None:
            found[name] = Found(why=f"> {limit:.3g}")
        else:
            seconds[name].append(taken)

    def close(self) -> None:
        """End all processes."""
        for process in self.processes.values():
            process.close()

    def _described(self, name: str, seconds: float) -> Found:
        process = self.processes[name]
        model = process.ask(NOT_TIMED, "fitted")
        judged = None
        if self.judge:
            try:
                judged = process.ask(NOT_TIMED, "judged")
            except Exception as error:
                print(f"  {name} is not judged: {error}", flush=True)
        return Found(seconds, "", model, judged)

    def _key(self, name: str, row: Any) -> str:
        return f"{name} {version(PACKAGES[name])} | {row}"

    def _kept(self, name: str, row: Any, limit: float) -> Found | None:
        known = self.stored.stored().get(self._key(name, row))
        if known is None or (known["seconds"] is None and known["limit"] < limit):
            return None
        model = known["model"]
        if model is not None:
            losses = np.frombuffer(bytes.fromhex(model["losses"]), dtype=np.float32).astype(float)
            model = Fitted(**{**model, "warned": tuple(model["warned"]), "losses": losses})
        return Found(known["seconds"], known["why"], model, known["judged"], known["date"])

    def _keep(self, name: str, row: Any, found: Found, limit: float) -> None:
        model = found.model
        told = None
        if model is not None:
            told = {**model._asdict(), "losses": model.losses.astype(np.float32).tobytes().hex()}
        of = {"seconds": found.seconds, "why": found.why, "limit": limit, "judged": found.judged, "model": told}
        self.stored.store(self._key(name, row), of)


def _repeats(seconds: float) -> int:
    return _MOST if seconds < 0.3 else 3 if seconds < 1.5 else 1
