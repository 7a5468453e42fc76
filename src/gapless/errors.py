"""Every error that Gapless raises by intent: a sentence that names the parameter, what came and what is expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gapless.result import Result


class GaplessError(Exception):
    """Base of all errors that Gapless raises by intent."""


class InvalidInputError(GaplessError, ValueError):
    """An argument or a data set is not what the called function takes."""


class ModelFileError(InvalidInputError):
    """A file is not a saved model, is damaged, or is of a newer format; or it cannot be read or written."""


class UnsupportedError(GaplessError, ValueError):
    """The combination of problem and solver is outside the solver's theory; the message says why and what to use."""


class TooLargeError(GaplessError, MemoryError):
    """An array that an algorithm needs would not fit into the memory that is available now."""


class DroppedError(GaplessError, AttributeError):
    """An attribute of a fitted estimator was dropped by ``compact``; the message says how to have it again."""


class MissingDependencyError(GaplessError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a solve: the exception carries what the solve had reached.

    Attributes
    ----------
    result : Result
        The best iterate so far with its certificate; ``solve(problem, start=result)`` goes on from it.

    Examples
    --------
    A callback that raises KeyboardInterrupt stands in for the key here:

    >>> import gapless as gl
    >>> problem = gl.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> def press_ctrl_c(progress):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     gl.solve(problem, callback=press_ctrl_c)
    ... except gl.Interrupted as stop:
    ...     print(stop.result.status.name, gl.solve(problem, start=stop.result).status.name)
    INTERRUPTED CONVERGED
    """

    def __init__(self, result: Result) -> None:
        super().__init__(str(result.status))
        self.result = result
