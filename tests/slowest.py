"""The slowest tests first, so that parallel workers end together.

xdist's ``worksteal`` gives each worker a contiguous share of the collected tests, and a worker that is idle takes tests from the end of another's
share. A long test near that end would run alone, so the long ones stand at the beginning of the shares. ``slowest.txt`` names their functions, the
slowest first: ``make slowest`` writes it from a run, and what it does not name runs in the usual order.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("slowest.txt")
COUNT = 40  # functions that are listed: the next one takes less than a hundredth of a worker's time, and evens out by itself


def read(path: Path = LIST) -> list[str]:
    """The listed functions."""
    return path.read_text(encoding="utf-8").splitlines()


def function(name: str) -> str:
    """A test without its parameters.

    >>> function("tests/test_a.py::test_b[free-1]")
    'tests/test_a.py::test_b'
    """
    return name.partition("[")[0]


def ordered(names: Sequence[str], listed: Sequence[str], workers: int) -> list[int]:
    """The places of the tests in the order in which they are to be collected: each worker's share begins with listed ones.

    >>> ordered(["a", "b", "c", "d[1]", "d[2]", "e"], ["d", "b"], workers=2)
    [3, 1, 0, 4, 2, 5]
    """
    rank = {name: k for k, name in enumerate(listed)}
    slow = sorted((k for k, name in enumerate(names) if function(name) in rank), key=lambda k: rank[function(names[k])])
    others = [k for k, name in enumerate(names) if function(name) not in rank]
    order: list[int] = []
    for worker in range(workers):
        head = slow[worker::workers]
        share = (len(names) - len(order)) // (workers - worker)
        taken = max(0, share - len(head))
        order += head + others[:taken]
        del others[:taken]
    return order + others


class Recorder:
    """A plugin that writes the list anew when a run ends."""

    def __init__(self, path: Path = LIST) -> None:
        self.path = path
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        # The call alone: what a module's fixture costs is paid by whichever of its tests comes first.
        if report.when == "call":
            name = function(report.nodeid)
            self.seconds[name] = max(report.duration, self.seconds.get(name, 0.0))

    def pytest_sessionfinish(self) -> None:
        slowest = sorted(self.seconds, key=lambda name: -self.seconds[name])[:COUNT]
        self.path.write_text("".join(f"{name}\n" for name in slowest), encoding="utf-8")
