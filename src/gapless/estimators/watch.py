"""What happens at each check of a subproblem: the user's callbacks, the progress line, a warning where the fit is slow, and the end after Ctrl-C."""

from __future__ import annotations

import threading
import warnings
from typing import Any

from gapless.estimators.callbacks import FitHooks
from gapless.estimators.progress import ProgressLine, unit_of
from gapless.estimators.report import slow_causes, users_level
from gapless.problems.problem import Problem
from gapless.trace import Callback, Progress

# A fit is slow when it takes more than so many epochs, or pairs for each sample; by hand. Iterations and not seconds count, so that every machine
# gives the same warning. A pair takes little time, and a fit is slow only once its pairs have touched so many entries, some seconds.
_SLOW_EPOCHS = 500
_SLOW_PAIRS = 100
_SLOW_ENTRIES = 2e9
_BLOCK = 512  # the most entries that a pair touches: the block of native/smo/sizes.hpp that it is taken from
_USABLE = 1e-3  # with a smaller gap only the last digits are missing, and nobody is warned: it is the default tol of the kernel estimators


class Watch:
    """Watches one fit. Its subproblems may run on several threads; callbacks and the progress line are called from one thread at a time."""

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

    @property
    def has_watchers(self) -> bool:
        """Whether a callback or a line on the screen waits for the checks."""
        return self._estimator.callback is not None or self._hooks.active or self._line.active

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

        # With nothing to show and nobody to call, certificates of a kernel problem, which are expensive, are computed rarely.
        look.eager = self.has_watchers  # type: ignore[attr-defined]
        look.halted = lambda: self.halted  # type: ignore[attr-defined]
        return look

    def _tell_if_slow(self, problem: Problem, progress: Progress) -> None:
        """Warn that the fit is slow, once, and only where there are causes with a remedy."""
        if progress.iterations <= _SLOW_EPOCHS:  # the smallest of all bounds
            return
        unit = unit_of(progress)
        n = problem.n_samples
        bound = max(_SLOW_PAIRS * n, _SLOW_ENTRIES / min(n, _BLOCK)) if unit == "pairs" else _SLOW_EPOCHS
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
