"""One installed version of Gapless in a process of its own, under its own interpreter, so that two versions can be fitted in turns.

python benchmarks/_versions.py      # the process at the other end of the pipe: reads tasks from standard input, answers on standard output
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np


class Version:
    """A process that fits with the Gapless of one interpreter."""

    def __init__(self, python: str) -> None:
        own = python == sys.executable
        environment = {name: value for name, value in os.environ.items() if own or name != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [python, str(Path(__file__).resolve())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def __call__(self, task: str, *arguments: Any) -> Any:
        """The answer of ``_TASKS[task]`` in the other process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        pickle.dump((task, arguments), self._process.stdin)
        self._process.stdin.flush()
        answer = pickle.load(self._process.stdout)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def _kernel(row: str, storage: str, C: float, tol: float) -> dict[str, Any]:
    """Fit an SVC of the kernel table."""
    from _contenders import CACHE_MB
    from _kernel_data import ROWS, samples

    from gapless import SVC

    if _held.get("key") != (row, storage):
        _held.update(key=(row, storage), data=samples(ROWS[row], storage))
    X, y = _held["data"]
    model = SVC(kernel="rbf", gamma=ROWS[row].gamma, C=C, tol=tol, cache_size=CACHE_MB)
    return _timed(lambda: model.fit(X, y), lambda: model.certificate_)


def _linear(data: str, squared: bool, C: float, gap: float) -> dict[str, Any]:
    """Fit a linear model of the linear table."""
    from _linear_data import Case, samples
    from linear import our_fit

    samples(data)
    models: list[Any] = []
    return _timed(lambda: models.append(our_fit(Case(data, squared, C), gap)[1]), lambda: models[-1].certificate_)


def _small(name: str, C: float, rival: bool) -> dict[str, Any]:
    """Fit a data set of fewer than 1,000 samples, by Gapless or by scikit-learn."""
    from _kernel_data import small
    from sklearn import svm

    import gapless as gl

    X, y = _held.setdefault("small", small())[name]
    model = (svm if rival else gl).SVC(C=C, gamma="scale")
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - began)
    return {"seconds": float(np.median(seconds))}


def _touch() -> None:
    from _harness import touch_memory

    touch_memory(1.0)


_TASKS = {"kernel": _kernel, "linear": _linear, "small": _small, "touch": _touch}
_held: dict[str, Any] = {}


def _timed(fit: Any, certificate: Any) -> dict[str, Any]:
    from _contenders import _peak_mb

    gc.collect()
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")  # the peak of memory is counted from here on
    before = _peak_mb()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        fit()
        seconds = time.perf_counter() - began
    proof = certificate()
    return {
        "seconds": seconds,
        "gap": proof.relative_gap,
        "primal": proof.primal,
        "peak_mb": _peak_mb(),
        "before_mb": before,
    }


def main() -> None:
    """Answer tasks until the other end of the pipe is closed."""
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # prints must not get into the pipe
    while True:
        try:
            task, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = _TASKS[task](*arguments)
        except Exception as error:
            answer = RuntimeError(f"{type(error).__name__}: {error}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
