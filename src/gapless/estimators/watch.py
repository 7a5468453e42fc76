"""What looks on while subproblems are solved: the user's callbacks, the progress line, a warning where the fit turns out slow, and Ctrl-C."""

from __future__ import annotations

import threading
import warnings
from typing import Any

from gapless.estimators.callbacks import FitHooks
from gapless.estimators.progress import ProgressLine, unit_of
from gapless.estimators.report import slow_causes, users_level
from gapless.problems.problem import Problem
from gapless.trace import Callback, Progress

# A fit is slow when it takes more than these many pairs a sample, or epochs. Iterations and not seconds: the same on every machine. Where samples are
# few, a pair takes little: it is slow from where its pairs have passed over so many entries, some seconds.
_SLOW_PAIRS = 100
_SLOW_ENTRIES = 2e9
_SLOW_EPOCHS = 500
_USABLE = 1e-3  # a gap from where on the last digits are being polished, slowly or not


class Watch:
    """One for a fit. Its subproblems may run on several threads: whatever it calls, it calls from one at a time."""

    def __init__(self, estimator: Any, X: Any, hooks: FitHooks, line: ProgressLine, bounded: bool) -> None:
        self._estimator = estimator
        self._X = X
        self._hooks = hooks
        self._line = line
        self._lock = threading.RLock()
        self._slow_told = bounded  # a fit with a bound is told of causes when it hits the bound
        self.halted = False

    def halt(self) -> None:
        """Stop every subproblem at its next check."""
        self.halted = True

    def on(self, k: int, problem: Problem) -> Callback:
        """The callback of subproblem k."""

        def look(progress: Progress) -> bool:
            with self._lock:
                if self.halted:
                    return True
                self._line.show(k, progress)
                self._tell_if_slow(problem, progress)
                stop = self._hooks.check(k)
                if self._estimator.callback is not None:
                    stop |= bool(self._estimator.callback(progress))
                return stop

        # Where nobody looks on, a kernel's certificate is too dear to be computed for the show.
        look.eager = self._estimator.callback is not None or self._hooks.active or self._line.active  # type: ignore[attr-defined]
        look.halted = lambda: self.halted  # type: ignore[attr-defined]
        return look

    def _tell_if_slow(self, problem: Problem, progress: Progress) -> None:
        """Once, and only of causes that have a remedy."""
        if progress.iterations <= _SLOW_EPOCHS:  # the least of all bounds
            return
        unit = unit_of(progress)
        n = problem.n_samples
        bound = max(_SLOW_PAIRS * n, _SLOW_ENTRIES / n) if unit == "pairs" else _SLOW_EPOCHS
        if self._slow_told or progress.iterations <= bound or progress.certificate.relative_gap <= _USABLE:
            return
        self._slow_told = True
        causes = slow_causes(problem, self._X)
        if causes:
            warnings.warn(
                f"{type(self._estimator).__name__} is slow to converge: after {progress.iterations:,.0f} {unit} the relative duality gap "
                f"is {progress.certificate.relative_gap:.2g} (tol is {progress.tol:g}). Likely causes: {'; '.join(causes)}.",
                stacklevel=users_level(),
            )
