"""Two versions of Gapless against each other: the one of this interpreter and one installed in another environment, fitted in turns.

    python benchmarks/before.py --python ../before/bin/python
    python benchmarks/before.py --python ../before/bin/python --parts kernel --rows a9a,letter

On a kernel row each version runs with the loosest tol whose own certificate is within the gap, on a linear row with the gap as tol. Seconds are
medians of fits in turns, after one fit that is not counted; megabytes are the peak of the process during a fit.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from _harness import Measurements, write_section
from _kernel_data import ROWS, SPARSE, TABLE
from _linear_data import CASES
from _sweep import TOLS
from _versions import Version

MEASURED = Measurements(Path(__file__).parent / ".before.json")
_SHORT = 0.1  # seconds of a fit before which memory is not touched: it finds the memory of the fit before
_REST = 0.15  # seconds between two fits: threads of the version that has just ended keep a core busy for some 0.1 s
PARTS = ("kernel", "linear", "small")
SMALL = ("iris", "wine", "breast_cancer", "digits", "heart_scale", "australian_scale", "german_numer", "colon_cancer")
TITLE = "Against the version before"


def main() -> None:
    """Measure the parts that the options name, keep the other figures of the last run, and write the section."""
    options = _options()
    if "kernel" in options.parts:
        for row in options.rows:
            with_both(options.python, lambda versions, row=row: kernel_row(versions, row, options.gap))
    if "linear" in options.parts:
        for data in dict.fromkeys(case.data for case in CASES):
            if not options.data or data in options.data:
                with_both(options.python, lambda versions, data=data: linear_rows(versions, data, options.gap))
    if "small" in options.parts:
        with_both(options.python, small_rows)
    write_section(options.title, report(MEASURED.stored()), ("gapless", "numpy", "scikit-learn"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the interpreter of the environment that has the other version")
    parser.add_argument("--parts", default=",".join(PARTS), help="kernel, linear, small")
    parser.add_argument("--rows", default=",".join(TABLE), help="data sets of the kernel table, by comma")
    parser.add_argument("--data", default="", help="data sets of the linear table, by comma; all if empty")
    parser.add_argument("--title", default=TITLE, help="the section of RESULTS.md that the table goes to")
    parser.add_argument("--gap", type=float, default=1e-3, help="the relative gap")
    given = parser.parse_args()
    given.parts, given.rows = given.parts.split(","), given.rows.split(",")
    given.data = given.data.split(",") if given.data else []
    return given


def store(key: str, found: dict[str, Any]) -> None:
    """Keep one measurement."""
    MEASURED.store(key, found)
    print(key, {name: value for name, value in found.items()}, flush=True)


def with_both(python: str, measure: Any) -> None:
    """Run a measurement with a fresh process of each version."""
    versions = {"now": Version(sys.executable), "before": Version(python)}
    try:
        measure(versions)
    finally:
        for version in versions.values():
            version.close()


def kernel_row(versions: dict[str, Version], row: str, gap: float) -> None:
    """Both versions on one data set, for each C."""
    for C in ROWS[row].C:
        setting = {}
        for name, version in versions.items():
            storages = ("dense", "csr") if row in SPARSE else ("dense",)
            tried = {storage: loosest(version, row, storage, C, gap) for storage in storages}
            setting[name] = min(tried.items(), key=lambda item: item[1][1])
        store(f"kernel {row} C={C:g} gap={gap:g}", race(versions, setting_tasks(row, C, setting)))


def setting_tasks(row: str, C: float, setting: dict[str, tuple[str, tuple[float, float]]]) -> dict[str, tuple]:
    """The fit of each version with its storage and its tol."""
    return {name: ("kernel", row, storage, C, tol) for name, (storage, (tol, _)) in setting.items()}


def loosest(version: Version, row: str, storage: str, C: float, gap: float) -> tuple[float, float]:
    """(the loosest tol of the grid whose certificate is within the gap, seconds of that fit); the first fit is not counted."""
    place = TOLS.index(0.02)
    version("kernel", row, storage, C, TOLS[place])
    found = version("kernel", row, storage, C, TOLS[place])
    way = -1 if found["gap"] <= gap else 1
    while 0 <= place + way < len(TOLS):
        next_ = version("kernel", row, storage, C, TOLS[place + way])
        if way < 0 and next_["gap"] > gap:
            break
        place, found = place + way, next_
        if way > 0 and found["gap"] <= gap:
            break
    return TOLS[place], found["seconds"]


def linear_rows(versions: dict[str, Version], data: str, gap: float) -> None:
    """Both versions on all problems of one linear data set."""
    for case in CASES:
        if case.data == data:
            task = ("linear", data, case.squared, case.C, gap)
            for version in versions.values():
                version(*task)
            store(f"linear {case} gap={gap:g}", race(versions, dict.fromkeys(versions, task)))


def small_rows(versions: dict[str, Version]) -> None:
    """This version, the one before and scikit-learn on data sets of fewer than 1,000 samples."""
    for data in SMALL:
        for C in (1.0, 100.0):
            seconds: dict[str, list[float]] = {"now": [], "before": [], "sklearn": []}
            for turn in range(_repeats(0.0)):
                for name, version in versions.items():
                    time.sleep(_REST)
                    taken = version("small", data, C, False)["seconds"]
                    if turn:
                        seconds[name].append(taken)
                time.sleep(_REST)
                taken = versions["now"]("small", data, C, True)["seconds"]
                if turn:
                    seconds["sklearn"].append(taken)
            store(f"small {data} C={C:g}", {name: float(np.median(taken)) for name, taken in seconds.items()})


def race(versions: dict[str, Version], tasks: dict[str, tuple]) -> dict[str, Any]:
    """Fits in turns: medians of seconds, and the peaks of memory."""
    fits: dict[str, list[dict[str, Any]]] = {name: [] for name in versions}
    turn = 0
    while turn == 0 or turn < _repeats(max(fits[name][0]["seconds"] for name in fits)):
        for name, version in versions.items():
            if turn == 0 or fits[name][0]["seconds"] > _SHORT:
                version("touch")
            time.sleep(_REST)
            fits[name].append(version(*tasks[name]))
        turn += 1
    found: dict[str, Any] = {"load": round(os.getloadavg()[0], 1)}
    for name, made in fits.items():
        found[name] = float(np.median([fit["seconds"] for fit in made]))
        found[f"{name} gap"] = made[-1]["gap"]
        found[f"{name} MB"] = max(fit["peak_mb"] for fit in made)
    return found


def _repeats(seconds: float) -> int:
    return 21 if seconds < 0.02 else 9 if seconds < 0.1 else 5 if seconds < 1 else 3


def report(measured: dict[str, Any]) -> str:
    """The text of the section: a line with the means for each part, then all rows."""
    lines = [
        "| part | rows | before / now, geometric mean | least | most memory, now / before |",
        "|---|---|---|---|---|",
    ]
    rows = ["| row | now, s | before, s | before / now | now, MB | before, MB |", "|---|---|---|---|---|---|"]
    parts: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for key, found in measured.items():
        part = f"{key.split()[0]} {key.split()[-1]}" if "gap=" in key else key.split()[0]
        parts.setdefault(part, []).append((key, found))
    for part, members in parts.items():
        ratios = {key: found["before"] / found["now"] for key, found in members}
        least = min(ratios, key=ratios.__getitem__)
        memory = max((found.get("now MB", 0.0) / found.get("before MB", 1.0) for _, found in members), default=0.0)
        mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
        lines.append(f"| {part} | {len(members)} | **{mean:.2f}** | {ratios[least]:.2f} ({least}) | {memory:.2f} |")
        for key, found in members:
            memories = [f"{found[name]:.0f}" if name in found else "" for name in ("now MB", "before MB")]
            rows.append(
                f"| {key} | {found['now']:.4f} | {found['before']:.4f} | {ratios[key]:.2f} | {memories[0]} | {memories[1]} |"
            )
    small = [found for key, found in measured.items() if key.startswith("small")]
    if small:
        against = [found["now"] / found["sklearn"] for found in small]
        mean = float(np.exp(np.mean(np.log(against))))
        lines += ["", f"Below 1,000 samples: {mean:.2f} of scikit-learn's time in the mean, most {max(against):.2f}."]
    return "\n".join([*lines, "", *rows])


if __name__ == "__main__":
    main()
