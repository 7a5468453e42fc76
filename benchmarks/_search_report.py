"""The table of the benchmark of searches at every size, from the measurements of ``search_sizes.py``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from _harness import write_section
from _racing import AHEAD, LEAST
from _search_rows import HELD_OUT, OURS, OVER_OURS, OWN, ROWS, VENDOR

TITLE = "Searches at every size"
NOISE = 0.95
"""A ratio of seconds below 1 by less than this is not told apart from 1 by medians of few runs."""
AIMS = {OVER_OURS: 2.0, OWN: 6.0}
Measured = dict[str, Any]


def text(measured: Measured, key_of: Callable[[str, str], str | None], limit: float) -> tuple[str, list[str]]:
    """The section, and the rows that are slower than scikit-learn's search over our estimator."""
    lines, wrong = [], []
    ratios: dict[str, list[float]] = {name: [] for name in (OVER_OURS, OWN, VENDOR)}
    for name, row in ROWS.items():
        found = {who: measured.get(str(key_of(name, who))) for who in (OURS, *ratios)}
        ours = found[OURS]
        if ours is None:
            continue
        told = {who: _ratio(ours, other) for who, other in found.items() if who != OURS}
        for who, ratio in told.items():
            if ratio is not None:
                ratios[who].append(ratio)
        over = told[OVER_OURS]
        if "over" in ours or (over is not None and over < NOISE):
            wrong.append(name)
        cells = [row.estimator, row.data, f"{row.n:,}", row.shape, f"**{_seconds(ours)}**", _proven(ours)]
        cells += [_seconds(found[who]) for who in ratios]
        cells += [_shown(told[who], found[who]) for who in ratios]
        cells += [
            f"{_number(ours, 'held_out')} ({_number(found[OVER_OURS], 'held_out')}, {_number(found[OWN], 'held_out')})"
        ]
        lines.append("| " + " | ".join(cells) + " |")
    head = [
        "| estimator | data | n | grid | ours, s | proven | scikit-learn over ours, s | scikit-learn, s | sklearnex, s | over ours ÷ ours | "
        "scikit-learn ÷ ours | sklearnex ÷ ours | score on samples held out: ours (over ours, scikit-learn) |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    means = [
        f"{who}: **{np.exp(np.mean(np.log(of))):.2f}×** in the geometric mean of {len(of)} rows, {min(of):.2f}× at least"
        + (f" (aim of the mean: {AIMS[who]:g}×)" if who in AIMS else "")
        for who, of in ratios.items()
        if of
    ]
    slower = f"Slower than scikit-learn's search over our estimator: {'; '.join(wrong) if wrong else 'no row'}."
    return "\n\n".join([_method(limit), *means, slower, "\n".join([*head, *lines])]), wrong


def _method(limit: float) -> str:
    return f"""
Whole searches, with the fit of the best candidate on all samples: ours, scikit-learn's `GridSearchCV` over our estimator, over its own on two
processors, and over sklearnex's. Three folds, five of the tuned classes, whose rivals search the grid that these begin with. Ours and the search over
our estimator are interleaved in this run, each in a process of its own (medians of three where they are short); what does not depend on our code is
measured once for each version and kept. "> s" is a search that was ended then ({limit:g} s at the latest, a rival's after {AHEAD:g} times our
seconds, {LEAST:g} s at least): its ratio, with "≥", is the least that it can be, and counts as that in the mean. "proven" says that no other
candidate can have a better score at the exact optima. Scores are those of the final models on {HELD_OUT:,} further samples.
""".strip()


def _ratio(ours: dict[str, Any], other: dict[str, Any] | None) -> float | None:
    """How many times our seconds another search takes, at least; None where it was not measured or could not run, or where neither ended."""
    if other is None or "why" in other or ("over" in ours and "over" in other):
        return None
    return _least(other) / _least(ours)


def _least(found: dict[str, Any]) -> float:
    return found["over"] if "over" in found else float(np.median(found["seconds"]))


def _seconds(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    if "why" in found:
        return found["why"]
    value = _least(found)
    shown = f"{value:.3f}" if value < 1 else f"{value:.1f}"
    return f"> {value:.0f}" if "over" in found else shown


def _shown(ratio: float | None, other: dict[str, Any] | None) -> str:
    if ratio is None or other is None:
        return ""
    return f"{'≥ ' if 'over' in other else ''}{ratio:.2f}"


def _proven(ours: dict[str, Any]) -> str:
    return {True: "yes", False: "no"}.get(ours.get("proven"), "–")  # type: ignore[arg-type]


def _number(found: dict[str, Any] | None, name: str) -> str:
    return f"{found[name]:.4f}" if found and name in found else "–"


def write(section: str, keep: bool) -> None:
    """Put the section into RESULTS.md; without ``keep`` print it only."""
    if not keep:
        print(section)
        return
    packages = ["gapless", "scikit-learn", "scikit-learn-intelex", "numpy"]
    write_section(TITLE, section, tuple(name for name in packages if _is_installed(name)))


def _is_installed(name: str) -> bool:
    try:
        return bool(version(name))
    except ImportError:
        return False
