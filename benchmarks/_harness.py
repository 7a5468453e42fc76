"""Helpers of every benchmark: the data, timed and interleaved repeats in one process, and a section of RESULTS.md for each."""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

RESULTS = Path(__file__).parent / "RESULTS.md"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def load(name: str) -> tuple[np.ndarray | sp.csr_array, np.ndarray]:
    """(X, y) of a stored data set as float64; ends the run with a sentence where it is not there."""
    path = DATA / f"{name}.npz"
    if not path.exists():
        sys.exit(f"The benchmark needs the data set {name}, which is not beside the checkout.")
    with np.load(path, allow_pickle=False) as stored:
        if "indptr" in stored:
            parts = (stored["data"].astype(np.float64), stored["indices"], stored["indptr"])
            return sp.csr_array(parts, shape=tuple(stored["shape"])), stored["y"]
        return stored["X"].astype(np.float64), stored["y"]


def touch_memory(gib: float = 2.0) -> None:
    """Write to fresh memory and free it: the first touch of a page is slow on virtual machines, and no measurement should include it."""
    np.ones(int(gib * 2**27))


def seconds_of(work: Callable[[], object]) -> float:
    """The seconds that one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def interleave(contenders: dict[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """The measurements of each contender, taken in turns, so that a busy moment of the machine affects all alike."""
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            measured[name].append(run())
    return measured


class Measurements:
    """Measurements that a file keeps from one run to the next, by key, each with its date and the load of the machine."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def stored(self) -> dict[str, Any]:
        """The measurements so far, by key."""
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def store(self, key: str, found: dict[str, Any]) -> None:
        """Keep one measurement, in place of an earlier one."""
        stamp = {"date": time.strftime("%Y-%m-%d"), "load": os.getloadavg()[0]}
        self.path.write_text(json.dumps({**self.stored(), key: {**stamp, **found}}, indent=1, sort_keys=True))

    def forget(self) -> None:
        """Begin anew."""
        self.path.unlink(missing_ok=True)


def write_section(title: str, text: str, packages: tuple[str, ...]) -> None:
    """Print a section and put it into RESULTS.md, in the place of a former section with the same title."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    stamp = f"{datetime.date.today()}; Python {platform.python_version()}, {versions}; {os.cpu_count()} cores, {platform.machine()}."
    section = f"## {title}\n\n{stamp}\n\n{text.strip()}\n"
    head, *sections = (RESULTS.read_text() if RESULTS.exists() else "# Benchmark results\n").split("\n## ")
    kept = [part for part in sections if not part.startswith(f"{title}\n")]
    RESULTS.write_text("\n## ".join([head.rstrip() + "\n", *(part.rstrip() + "\n" for part in kept), section[3:]]))
    print(section)
