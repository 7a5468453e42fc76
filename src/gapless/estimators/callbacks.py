"""scikit-learn's callback API, from its version 1.9 on: ``set_callbacks``, and the tasks of a fit that callbacks are told of.

A fit is the root task; each subproblem is a task below it; each certificate that a solve computes is a leaf below that. A callback that returns True
at the end of a leaf stops that subproblem, which keeps its best iterate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9 has no callbacks, so that none are ever set

    class CallbackSupport:  # type: ignore[no-redef]
        """An empty base class, where scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method as it is."""
        return method


__all__ = ["CallbackSupport", "FitHooks", "with_callbacks"]


class FitHooks:
    """Tells scikit-learn's callbacks of the tasks of a fit; does nothing where no callbacks are set."""

    def __init__(self, estimator: Any, subproblems: int, data: tuple[Any, Any, Any]) -> None:
        self._estimator = estimator
        self._tasks: dict[int, Any] = {}
        self._root = None
        if getattr(estimator, "_skl_callbacks", None):
            X, y, sample_weight = data
            metadata = None if sample_weight is None else {"sample_weight": sample_weight}
            self._data = {"X": X, "y": y, "metadata": metadata}
            self._root = estimator._init_callback_context(max_subtasks=subproblems, sequential_subtasks=False)
            self._root.call_on_fit_task_begin(estimator=estimator, **self._data)

    @property
    def active(self) -> bool:
        """Whether any callback is set."""
        return self._root is not None

    def check(self, k: int) -> bool:
        """Tell the callbacks that a certificate of subproblem k was computed; return whether one of them wants to stop the subproblem."""
        if self._root is None:
            return False
        if k not in self._tasks:
            self._tasks[k] = self._root.subcontext("solve", task_id=k, max_subtasks=None)
            self._tasks[k].call_on_fit_task_begin(estimator=self._estimator)
        leaf = self._tasks[k].subcontext("certificate")
        leaf.call_on_fit_task_begin(estimator=self._estimator)
        return bool(leaf.call_on_fit_task_end(estimator=self._estimator))

    def end(self) -> None:
        """Tell the callbacks that the estimator is fitted."""
        if self._root is not None:
            for task in self._tasks.values():
                task.call_on_fit_task_end(estimator=self._estimator)
            self._root.call_on_fit_task_end(estimator=self._estimator, **self._data, reconstruction_attributes={})
