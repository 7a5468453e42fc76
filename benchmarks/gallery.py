"""scikit-learn's own examples that use an SVM, unchanged, run with scikit-learn's classes and with ours in their place.

    python benchmarks/gallery.py --examples ../scikit-learn/examples
    python benchmarks/gallery.py --examples ../scikit-learn/examples --only svm/plot_rbf_parameters.py

The list is ``tests/gallery/examples.txt``. Each example runs in a process of its own, in turns. An example fails where our run raises, gives a
warning of a kind that scikit-learn's run does not give, or takes more than 1.5 times as long and a second.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from _harness import write_section

LIST = Path(__file__).resolve().parents[1] / "tests" / "gallery" / "examples.txt"
_WARNING = re.compile(r"\b([A-Z]\w*Warning): ")
_TURNS = 3  # the most pairs of runs of an example that misses the bound of time
_FACTOR, _MORE = 1.5, 1.0  # the bound of time: so many times scikit-learn's seconds, and so many seconds more
_PATIENCE = 600.0  # seconds after which a run is ended


class Run(NamedTuple):
    """One run of an example."""

    seconds: float
    failure: str
    warnings: frozenset[str]


def main() -> int:
    """Run the listed examples and write the table; returns 1 where one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", required=True, type=Path, help="the folder examples/ of scikit-learn's sources")
    parser.add_argument("--only", default="", help="examples, by comma; all that are listed if empty")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else LIST.read_text(encoding="utf-8").split()
    lines = ["| example | ours, s | scikit-learn, s | ratio | |", "|---|---|---|---|---|"]
    failed = 0
    for name in names:
        ours, theirs = compare(options.examples / name)
        wrong = verdict(ours, theirs)
        failed += bool(wrong)
        lines.append(
            f"| {name} | {ours.seconds:.1f} | {theirs.seconds:.1f} | {ours.seconds / theirs.seconds:.2f} | {wrong} |"
        )
        print(lines[-1], flush=True)
    if not options.only:
        write_section(
            "scikit-learn's gallery",
            "\n".join([*lines, "", f"{failed} of {len(names)} fail."]),
            ("gapless", "scikit-learn"),
        )
    return 1 if failed else 0


def compare(script: Path) -> tuple[Run, Run]:
    """(our run, scikit-learn's run); a pair that misses the bound of time is repeated, and the fastest run of each counts."""
    ours, theirs = (
        run("-m", "gapless.testing", script.name, folder=script.parent),
        run(script.name, folder=script.parent),
    )
    for _ in range(_TURNS - 1):
        if ours.failure or theirs.failure or ours.seconds <= _FACTOR * theirs.seconds + _MORE:
            break
        ours = min(ours, run("-m", "gapless.testing", script.name, folder=script.parent))
        theirs = min(theirs, run(script.name, folder=script.parent))
    return ours, theirs


def run(*arguments: str, folder: Path) -> Run:
    """One run in the folder of the example, without showing figures."""
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True,
            timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Run(_PATIENCE, "no end", frozenset())
    failure = done.stderr.strip().splitlines()[-1][:100] if done.returncode else ""
    return Run(time.perf_counter() - began, failure, frozenset(_WARNING.findall(done.stderr)))


def verdict(ours: Run, theirs: Run) -> str:
    """What is wrong with our run, in words; empty where nothing is, and where the example fails with scikit-learn's classes too."""
    if ours.failure and not theirs.failure:
        return ours.failure
    if theirs.failure:
        return ""
    if ours.warnings - theirs.warnings:
        return f"gives {', '.join(sorted(ours.warnings - theirs.warnings))}"
    return "slow" if ours.seconds > _FACTOR * theirs.seconds + _MORE else ""


if __name__ == "__main__":
    sys.exit(main())
