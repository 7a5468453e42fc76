"""Every error becomes one sentence on standard error and an exit code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer

from gapless.cli.output import error_console
from gapless.errors import GaplessError, Interrupted, MissingDependencyError, TooLargeError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def fail(message: str, code: int) -> typer.Exit:
    """Print the message and return the exit, which the caller raises."""
    error_console().print(f"gapless: {message}", markup=False)
    return typer.Exit(code)


def interrupted(stop: Interrupted) -> typer.Exit:
    """Print the best certificate of the solve that Ctrl-C has ended, in the problem's own convention, and return the exit."""
    proof = stop.result.certificate
    return fail(
        f"interrupted during {stop.result.solver}; its best certificate so far: "
        f"primal {proof.primal:.10g}, dual {proof.dual:.10g}, relative gap {proof.relative_gap:.2e}.",
        INTERRUPTED,
    )


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that no error of Gapless, no error of the file system and no Ctrl-C shows a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (MissingDependencyError, TooLargeError) as error:
            raise fail(str(error), FAILED) from None
        except GaplessError as error:
            raise fail(str(error), BAD_INPUT) from None
        except Interrupted as stop:
            raise interrupted(stop) from None
        except KeyboardInterrupt:
            raise fail("interrupted.", INTERRUPTED) from None
        except OSError as error:
            raise fail(f"{error}.", FAILED) from None

    return run
