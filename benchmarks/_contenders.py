"""The contenders, each in a process of its own: a fit can be ended at its time limit, and its peak memory is its own."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from _harness import touch_memory
from _kernel_data import ROWS, samples
from _process import Process

CACHE_MB = 2000
"""The cache of kernel rows, the same for every contender: beyond it the larger sets gain nothing."""
LIMIT = 120.0
"""The most seconds of a fit."""
FIRST = 2500
"""Samples of the fit that precedes the timed ones: a rival's library loads and starts its threads in its first fit."""


def _sklearn(**options: Any) -> Any:
    from sklearn.svm import SVC

    return SVC(**options)


def _sklearnex(**options: Any) -> Any:
    from sklearnex.svm import SVC

    return SVC(**options)


def _thundersvm(*, cache_size: float, **options: Any) -> Any:
    from thundersvm import SVC

    return SVC(max_mem_size=int(cache_size), n_jobs=-1, **options)


def _gapless(**options: Any) -> Any:
    from gapless import SVC

    return SVC(**options)


@dataclass(frozen=True)
class Contender:
    """A contender: the function that makes its model, and the package to whose version its remembered settings belong."""

    name: str
    package: str
    make: Callable[..., Any]
    single: bool = False

    @property
    def version(self) -> str | None:
        """The version of the package; None where it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender("gapless", "gapless", _gapless),
        Contender("sklearnex", "scikit-learn-intelex", _sklearnex),
        Contender("sklearnex f32", "scikit-learn-intelex", _sklearnex, single=True),
        Contender("thundersvm", "thundersvm-cpu", _thundersvm),
        Contender("sklearn", "scikit-learn", _sklearn),
    )
}


@dataclass
class Fit:
    """One fit: its seconds, β of every sample, the peak of the process's memory in MB, and the contender's own (primal, dual) if it gives any."""

    seconds: float
    beta: np.ndarray
    peak_mb: float
    claimed: tuple[float, float] | None = None


class Worker:
    """A contender's process. ``ready`` loads the data and fits some of them; ``fit`` and ``predict`` are timed inside the process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process = Process(_Served, name)
        self._holds: tuple[str, str] | None = None

    def ready(self, row: str, storage: str) -> None:
        """Load a row in a storage and fit its first samples once, unless the process has loaded them."""
        if not self._process.runs or self._holds != (row, storage):
            self._process.ask(600.0, "prepare", row, storage)
            self._holds = (row, storage)

    def touch(self) -> None:
        """Touch memory in the process: some virtual machines take back what has been free for seconds."""
        self._process.ask(600.0, "touch")

    def fit(self, C: float, tol: float, limit: float) -> Fit | None:
        """One fit, or None where it did not end within the limit (the process is ended then, and ``ready`` starts another)."""
        return self._process.ask(limit, "fit", C, tol)

    def predict(self, n: int) -> tuple[float, np.ndarray]:
        """Seconds of predicting the first n samples with the last fit, and the labels."""
        return self._process.ask(600.0, "predict", n)

    @property
    def support(self) -> int:
        """The number of support vectors of the last fit."""
        return self._process.ask(60.0, "support")

    def close(self) -> None:
        """End the process."""
        self._process.close()


class _Served:
    """The messages that a contender's process answers, each by the method of its name."""

    def __init__(self, name: str) -> None:
        self.contender = CONTENDERS[name]

    def prepare(self, row: str, storage: str) -> None:
        self.row = ROWS[row]
        self.X, self.y = samples(self.row, storage)
        self._run(self.X[:FIRST], self.y[:FIRST], self.row.C[0], 1e-2)

    def touch(self) -> None:
        touch_memory(1.0)

    def fit(self, C: float, tol: float) -> Fit:
        self.model, seconds, peak = self._run(self.X, self.y, C, tol)
        dual = self.model.dual_coef_
        beta = np.zeros(len(self.y))
        beta[self.model.support_] = np.asarray(dual.toarray() if hasattr(dual, "toarray") else dual).ravel()
        if beta @ self.y < 0:  # the contender's coefficients have the opposite sign
            beta = -beta
        certificate = getattr(self.model, "certificate_", None)
        claimed = None if certificate is None else (certificate.primal, certificate.dual)
        return Fit(seconds, beta, peak, claimed)

    def _run(self, X: Any, y: np.ndarray, C: float, tol: float) -> tuple[Any, float, float]:
        model = self.contender.make(kernel="rbf", gamma=self.row.gamma, C=C, tol=tol, cache_size=CACHE_MB)
        gc.collect()
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the judge tells which gap was reached
            began = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - began
        if self.contender.package == "scikit-learn-intelex" and not hasattr(model, "_onedal_estimator"):
            raise RuntimeError("sklearnex has fallen back to scikit-learn.")
        return model, seconds, _peak_mb()

    def predict(self, n: int) -> tuple[float, np.ndarray]:
        self.model.predict(self.X[:200])
        X = self.X[:n]
        began = time.perf_counter()
        labels = self.model.predict(X)
        return time.perf_counter() - began, np.asarray(labels)

    def support(self) -> int:
        return len(self.model.support_)


def _peak_mb() -> float:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
