"""Whether targets are classes or numbers: a rule that the help states, and that is told where it decides."""

from __future__ import annotations

import numpy as np

from gapless.cli.output import error_console
from gapless.errors import InvalidInputError

TASKS = ("auto", "classification", "regression", "one-class")
# More different whole numbers than this are targets of a regression, by hand: among the usual data sets in LIBSVM format, letters (26) and digits
# (10) stay below, and years, ages and prices lie above.
MOST_CLASSES = 50
RULE = (
    f"auto: targets with fractions make a regression, and texts are classes. Whole numbers are classes where they have two different values, or at "
    f"most {MOST_CLASSES} of which none occurs only once; otherwise they make a regression. With more than two values the decision is told."
)


def check_task(task: str, positive: str | None) -> None:
    """Refuse an unknown task, and ``--positive`` with a task that has no classes."""
    if task not in TASKS:
        raise InvalidInputError(f"--task must be one of {', '.join(TASKS)}; got {task!r}.")
    if positive is not None and task not in ("auto", "classification"):
        raise InvalidInputError(f"--positive is for --task classification; got --task {task}.")


def settled(task: str, y: np.ndarray) -> str:
    """The task, where ``auto`` is decided by the targets; the user is told where there was something to decide."""
    if task != "auto":
        return task
    task, told = decide(y)
    if told is not None:
        error_console().print(f"gapless: {told}", markup=False)
    return task


def decide(y: np.ndarray) -> tuple[str, str | None]:
    """(task, sentence that tells the user of the decision) for ``--task auto``; the sentence is None where there was nothing to decide.

    >>> from gapless.cli.task import decide
    >>> decide(np.array([0.5, 1.0])), decide(np.array([-1, 1]))
    (('regression', None), ('classification', None))
    >>> decide(np.array([30, 41, 52, 30]))[1]
    'the targets are 3 different whole numbers, taken as numbers for a regression; --task classification takes them as classes.'
    """
    if y.dtype.kind not in "iub":
        return ("regression" if y.dtype.kind == "f" else "classification"), None
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) <= 2:
        return "classification", None
    classes = len(counts) <= MOST_CLASSES and counts.min() > 1
    task, taken, other, otherwise = (
        ("classification", "as classes", "regression", "numbers")
        if classes
        else ("regression", "as numbers for a regression", "classification", "classes")
    )
    told = f"the targets are {len(counts):,} different whole numbers, taken {taken}; --task {other} takes them as {otherwise}."
    return task, told
