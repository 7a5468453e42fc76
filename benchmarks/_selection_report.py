"""The tables of the benchmark of grid searches, from the measurements of ``selection.py``."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from _agreement import agreement, best_of, choice, difference, outside, undecided
from _contenders import CONTENDERS
from _harness import write_section
from scipy.stats import gmean

OURS, RACING = "ours", "racing"
REPEATED = (OURS, RACING)
"""Searches that are run more than once: the others take too long."""
RIVALS = {"scikit-learn": 15.0, "sklearnex": 5.0, "scikit-learn over ours": 4.0}
"""The rivals, each with the ratio of its seconds to ours that is aimed at."""
RACING_AIM = 2.0
"""The ratio of our seconds without racing to those with it that is aimed at."""
TITLE = "Grid searches"
Measured = dict[str, Any]


class Case(NamedTuple):
    """What is measured besides the data: the rows of each data set, the values of each parameter, the folds, and the tol of the references."""

    rows: int
    steps: int
    folds: int
    tol: float


def label(name: str, n_jobs: int | None) -> str:
    """The name of a way to search with a number of jobs."""
    return name if n_jobs is None else f"{name}, n_jobs={n_jobs}"


def key(data: str, rows: int, steps: int, labelled: str) -> str:
    """The key of one search among the measurements."""
    return f"{data} {rows} rows, {steps} × {steps} | {labelled}"


def reference_key(data: str, rows: int, steps: int, tol: float, C: float) -> str:
    """The key of the fold scores at a tight tol, for one C and all γ."""
    return f"scikit-learn {version('scikit-learn')} tol={tol:g} | {data} {rows} rows, {steps} × {steps}, C={C:g}"


def exact_key(data: str, rows: int, C: float, gamma: float, fold: int) -> str:
    """The key of the score of the exact optimum on one fold."""
    return f"exact optimum | {data} {rows} rows, C={C:g}, γ={gamma:g}, fold {fold}"


def differing(
    measured: Measured, references: Measured, case: Case, grid: dict[str, list[float]], data: str
) -> list[tuple[float, float, int, int, int]]:
    """(C, γ, fold, samples right of ours, of scikit-learn's at the tight tol) of each fold score that is not the same."""
    ours = _by_data(measured, case).get(data, {}).get(OURS)
    reference = _reference(references, data, case, grid["C"])
    if ours is None or reference is None:
        return []
    scores, sizes = np.array(ours["scores"]), np.array(ours["sizes"])
    off = difference(scores, reference, sizes)
    counts, others = np.rint(scores * sizes).astype(int), np.rint(reference * sizes).astype(int)
    return [
        (*_candidate(int(k), grid), int(fold), int(counts[k, fold]), int(others[k, fold]))
        for k, fold in zip(*np.nonzero(off), strict=True)
    ]


def text(measured: Measured, references: Measured, case: Case, grid: dict[str, list[float]]) -> tuple[str, list[str]]:
    """The section, and the data sets on which racing has chosen another candidate than our search without it."""
    found = _by_data(measured, case)
    right = {data: _reference(references, data, case, grid["C"]) for data in found}
    parts = [_method(found, references, case, grid), _times(found), "### Fold scores and choices"]
    parts += [_scores(found, right, grid), _where(measured, references, case, grid, list(found)), _proofs(found, right)]
    both = {data: of for data, of in found.items() if {*REPEATED} <= of.keys()}
    return "\n\n".join(parts), [data for data, of in both.items() if of[OURS]["index"] != of[RACING]["index"]]


def write(section: str, keep: bool) -> None:
    """Put the section into RESULTS.md; without ``keep`` print it only."""
    if keep:
        packages = ("gapless", "scikit-learn", CONTENDERS["sklearnex"].package, "numpy")
        write_section(TITLE, section, packages if CONTENDERS["sklearnex"].version else (*packages[:2], "numpy"))
    else:
        print(section)


def _by_data(measured: Measured, case: Case) -> dict[str, Measured]:
    """The searches of this case: by data set, then by label."""
    found: dict[str, Measured] = {}
    for each, search in measured.items():
        data, labelled = each.split(" ")[0], each.split(" | ")[1]
        if each == key(data, case.rows, case.steps, labelled):
            found.setdefault(data, {})[labelled] = search
    return found


def _reference(references: Measured, data: str, case: Case, costs: list[float]) -> np.ndarray | None:
    """The fold scores at the tight tol, candidates × folds; None where some are not known."""
    keys = [reference_key(data, case.rows, case.steps, case.tol, C) for C in costs]
    return np.concatenate([references[each]["scores"] for each in keys]) if references.keys() >= {*keys} else None


def _seconds(search: Measured) -> float:
    return float(np.median(search["seconds"]))


def _fastest(searches: Measured, name: str) -> tuple[str, float] | None:
    """(number of jobs, seconds) of a way with the number of jobs that is best for it; None where it was not measured."""
    known = {
        each.partition("n_jobs=")[2] or "None": _seconds(search)
        for each, search in searches.items()
        if each.split(", n_jobs")[0] == name
    }
    return min(known.items(), key=lambda item: item[1]) if known else None


def _method(found: dict[str, Measured], references: Measured, case: Case, grid: dict[str, list[float]]) -> str:
    loads = [search["load"] for searches in found.values() for search in searches.values()] or [0.0]
    ends = {name: f"{values[0]:g} to {values[-1]:g}" for name, values in grid.items()}
    mine = [each for each in references if f"{case.rows} rows, {case.steps} × {case.steps}" in each]
    spent = sum(references[each]["seconds"] for each in mine) / 60
    return f"""
RBF kernels on {case.steps} × {case.steps} candidates: C from {ends["C"]} and γ from {ends["gamma"]}, in equal steps of the logarithm, the same
for all data. {case.folds} folds, stratified, the same for everybody; accuracy. {case.rows:,} rows of each data set, shuffled with seed 0, all
features standardised beforehand. Seconds are of the whole `fit` of a search, with the fit of the chosen candidate on all rows. A small search
comes first, untimed, so that libraries are loaded and processes run. Searches take turns; of ours the median counts, a rival runs once. All
parameters are defaults (tol 1e-3, a cache of 200 MB). “scikit-learn over ours” is scikit-learn's `GridSearchCV` with our `SVC`. scikit-learn's
SVC runs with n_jobs=2; of sklearnex and of scikit-learn's search over ours the faster of n_jobs=None and n_jobs=2 counts, and is named. Load
average {min(loads):.1f} to {max(loads):.1f}, the contenders' own threads included.

A fold score is right where it is that of scikit-learn's SVC with tol = {case.tol:g} ({spent:.0f} minutes in all, not timed as a contender,
kept between runs).
""".strip()


def _times(found: dict[str, Measured]) -> str:
    head = ["data", "features", "classes", "ours, s", "racing, s", "ours / racing"]
    for rival in RIVALS:
        head += [f"{rival}, s (n_jobs)", f"{rival} / ours"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    ratios: dict[str, list[float]] = {name: [] for name in (RACING, *RIVALS)}
    for data, searches in found.items():
        ours, racing = _fastest(searches, OURS), _fastest(searches, RACING)
        some = next(iter(searches.values()))
        cells = [data, str(some["features"]), str(some["classes"]), _cell(ours), _cell(racing)]
        cells.append(_ratio(ratios[RACING], ours, racing))
        for rival in RIVALS:
            taken = _fastest(searches, rival)
            cells += [_cell(taken) + (f" ({taken[0]})" if taken else ""), _ratio(ratios[rival], taken, ours)]
        lines.append("| " + " | ".join(cells) + " |")
    for title, shown in (("**geometric mean**", _mean), ("least", _least)):
        last = [title, "", "", "", "", shown(ratios[RACING])]
        for rival in RIVALS:
            last += ["", shown(ratios[rival])]
        lines.append("| " + " | ".join(last) + " |")
    aims = ["aim", "", "", "", "", f"{RACING_AIM:g}"]
    for aim in RIVALS.values():
        aims += ["", f"{aim:g}"]
    return "\n".join([*lines, "| " + " | ".join(aims) + " |"])


def _mean(ratios: list[float]) -> str:
    return f"**{gmean(ratios):.2f}**" if ratios else ""


def _least(ratios: list[float]) -> str:
    return f"{min(ratios):.2f}" if ratios else ""


def _cell(taken: tuple[str, float] | None) -> str:
    return f"{taken[1]:.2f}" if taken else ""


def _ratio(ratios: list[float], longer: tuple[str, float] | None, shorter: tuple[str, float] | None) -> str:
    """The ratio of two times as the table shows it; it is also put to the others of its column."""
    if longer is None or shorter is None:
        return ""
    ratios.append(longer[1] / shorter[1])
    return f"{ratios[-1]:.2f}"


def _scores(found: dict[str, Measured], right: dict[str, np.ndarray | None], grid: dict[str, list[float]]) -> str:
    lines = [
        "| data | search | seconds of each run | best C | best γ | choice | fold scores | differ | by samples, at most | by samples, in all |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for data, searches in found.items():
        reference = right[data]
        if reference is not None:
            C, gamma = _candidate(best_of(reference), grid)
            lines.append(f"| {data} | *right* | | {C:g} | {gamma:g} | | {reference.size} | | | |")
        for labelled, search in searches.items():
            C, gamma = _candidate(search["index"], grid)
            runs = ", ".join(f"{seconds:.2f}" for seconds in search["seconds"])
            scores, verdict = np.array(search["scores"]), " | | | | "
            if reference is not None:
                off = agreement(scores, reference, np.array(search["sizes"]))
                verdict = (
                    f"{choice(search['index'], reference)} | {off.scored} | {off.differ} | {off.most} | {off.total}"
                )
            lines.append(f"| {data} | {labelled} | {runs} | {C:g} | {gamma:g} | {verdict} |")
    return "\n".join(lines)


def _where(measured: Measured, references: Measured, case: Case, grid: dict[str, list[float]], names: list[str]) -> str:
    """What the column of choices means, which fold scores of ours are not the right ones, and which of both the exact optimum has."""
    told = [
        "The column “choice” says what the right scores make of the chosen candidate: the same as theirs, tied with it in the mean, or another one."
    ]
    for data in names:
        cells, ours_right, others_right, judged = [], 0, 0, 0
        for C, gamma, fold, own, other in differing(measured, references, case, grid, data):
            cells.append(f"C {C:g}, γ {gamma:g}, fold {fold}: {own - other:+g}")
            exact = references.get(exact_key(data, case.rows, C, gamma, fold))
            if exact is not None:
                judged += 1
                ours_right += exact["low"] == own == exact["high"]
                others_right += exact["low"] == other == exact["high"]
        if cells:
            told.append(f"Ours minus right on {data}, in samples: {'; '.join(cells)}.")
        if judged:
            told.append(
                "A referee in long double (`_exact_scores.py`: P, D and their distance from the definitions) shows that the exact optimum has our "
                f"score in {ours_right} of these {judged}, and scikit-learn's in {others_right}. "
                "(LIBSVM keeps kernel entries in float32, which may be why.)"
            )
    return "\n".join(told)


def _candidate(index: int, grid: dict[str, list[float]]) -> tuple[float, float]:
    """(C, γ) of a candidate, in scikit-learn's order of a grid."""
    return grid["C"][index // len(grid["gamma"])], grid["gamma"][index % len(grid["gamma"])]


def _proofs(found: dict[str, Measured], right: dict[str, np.ndarray | None]) -> str:
    """What our searches prove of their fold scores and of their choice."""
    lines = [
        "What our searches prove: fold scores that are not proven to the sample; fold scores at the tight tol that are outside of a proven interval,",
        "so that scikit-learn's model is not the optimum; whether the choice is proven, and the sentence of `selection_`.",
        "",
        "| data | search | not proven to the sample | tight tol outside the proof | proven best | candidates tied | `selection_` |",
        "|---|---|---|---|---|---|---|",
    ]
    for data, searches in found.items():
        for name in REPEATED:
            if name not in searches:
                continue
            search, sizes = searches[name], np.array(searches[name]["sizes"])
            low, high, chosen = np.array(search["low"]), np.array(search["high"]), search["selection"]
            reference = right[data]
            beyond = "" if reference is None else str(outside(reference, low, high, sizes))
            lines.append(
                f"| {data} | {name} | {undecided(low, high, sizes)} | {beyond} | {'yes' if chosen['proven'] else 'no'} | "
                f"{len(chosen['tied'])} | {chosen['text']} |"
            )
    return "\n".join(lines)
