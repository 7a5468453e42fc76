"""Functions that run in a process which a signal will hit: ``python -m tests.campaign.signal_children NAME ARGUMENTS``. Each prints "ready" first."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import gapless as gl


def tell(line: str) -> None:
    print(line, flush=True)


def _interrupted(work: Callable[[], Any], seconds: float) -> Any:
    """What the work returns, or None where SIGINT, raised after so many seconds, has ended it."""
    timer = threading.Timer(seconds, signal.raise_signal, (signal.SIGINT,))
    result = None
    try:
        timer.start()
        result = work()
        timer.join()
    except KeyboardInterrupt:
        pass
    timer.join()
    return result


def _samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def interrupted_searches(rounds: str, path: str) -> None:
    """Print what went wrong with searches that were interrupted, and that then went on from their file."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = _samples(400, 8)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}

    def search(resume: str | None) -> Any:
        found = gl.model_selection.GridSearchCV(gl.SVC(), grid, cv=3, resume=resume).fit(X, y)
        return found.cv_results_["mean_test_score"].tolist(), found.best_params_

    expected = search(None)
    tell("ready")
    rng, wrong = random.Random(0), []
    for _ in range(int(rounds)):
        Path(path).unlink(missing_ok=True)
        for _ in range(3):
            _interrupted(lambda: search(path), rng.uniform(0.0, 0.3))
        if search(path) != expected:
            wrong.append("a search that was interrupted goes on to other scores")
    tell(json.dumps(wrong))


def interrupted_predictions(rounds: str) -> None:
    """Print what went wrong with predictions after others that were interrupted."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = _samples(800, 8)
    with warnings.catch_warnings(action="ignore"):
        models = [
            gl.SVC(probability=True).fit(X, y),
            gl.LinearSVC().fit(X, y),
            gl.KernelLogisticRegression().fit(X[:300], y[:300]),
        ]
    many = np.tile(X, (20, 1))
    expected = [model.decision_function(many) for model in models]
    tell("ready")
    rng, wrong = random.Random(0), []
    for _ in range(3 * int(rounds)):
        for model, values in zip(models, expected, strict=True):
            for work in (model.predict, model.decision_function):
                _interrupted(lambda work=work: work(many), rng.uniform(0.0, 0.2))  # type: ignore[misc]
            if not np.array_equal(model.decision_function(many), values):
                wrong.append(f"{type(model).__name__} decides otherwise after an interruption")
    tell(json.dumps(wrong))


def changed_arrays(rounds: str) -> None:
    """Let a thread write to arrays that fits and predictions read; print True where the process lives."""
    tell("ready")
    rng = np.random.default_rng(0)
    for _ in range(int(rounds)):
        S = sp.random_array((200, 5000), density=0.01, format="csr", rng=rng)
        G, places = np.eye(200), np.arange(200.0)[:, None]
        y = rng.choice([-1, 1], 200)
        stop = threading.Event()
        thread = threading.Thread(target=_write, args=(S, places, stop))
        thread.start()
        try:
            for _ in range(10):
                for work in (
                    lambda S=S, y=y: gl.SVC(max_iter=200).fit(S, y).predict(S),
                    lambda S=S, y=y: gl.LinearSVC(max_iter=20).fit(S, y).predict(S),
                    lambda S=S, y=y: gl.solve(gl.Problem(S, y, kernel=gl.kernels.Laplacian(0.1)), max_iter=200),
                    lambda places=places, y=y, G=G: gl.solve(
                        gl.Problem(places, y, kernel=gl.kernels.Precomputed(G)), max_iter=200
                    ),
                ):
                    odd = contextlib.suppress(gl.errors.GaplessError, ValueError, IndexError)
                    with warnings.catch_warnings(action="ignore"), odd:
                        work()  # type: ignore[no-untyped-call]
        finally:
            stop.set()
            thread.join()
    tell(json.dumps(True))


def _write(S: Any, places: np.ndarray, stop: threading.Event) -> None:
    good, own = S.indices.copy(), places.copy()
    while not stop.is_set():
        S.indices[:], places[:] = 2**30, 1e9
        S.indices[:], places[:] = good, own
        stop.wait(1e-4)


CHILDREN: tuple[Callable[..., None], ...] = (interrupted_searches, interrupted_predictions, changed_arrays)

if __name__ == "__main__":
    {child.__name__: child for child in CHILDREN}[sys.argv[1]](*sys.argv[2:])
