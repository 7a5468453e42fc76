"""The loosest tol with which a contender reaches a certified gap, and the storage in which it is fastest; both remembered between runs.

A tolerance is not a gap: each system stops by a rule of its own. All run with the same grid of tols, and the independent judge decides. The gap
shrinks with tol, so the search brackets: it guesses the next tol from the last gap, and ends where a tol that misses the gap and one that reaches it
are neighbours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _contenders import CONTENDERS, Worker
from _kernel_data import ROWS, SPARSE, samples
from _verifier import judge

TOLS = (*(float(f"{digit}e-{power}") for power in range(1, 7) for digit in (10, 5, 2)), 1e-6)
"""1, 0.5, 0.2, 0.1, … 1e-6."""
FIRST_GUESS = 0.02
OURS = "gapless"
SETTINGS = Path(__file__).parent / ".settings.json"
"""Settings by the version of each contender, so that a second run only measures; none of gapless, whose solvers change while its version does not."""

_our_storage: dict[str, str] = {}


def remembered() -> dict[str, Any]:
    """All settings found by earlier runs."""
    return json.loads(SETTINGS.read_text()) if SETTINGS.exists() else {}


def remember(key: str, value: Any) -> None:
    """Keep one setting."""
    SETTINGS.write_text(json.dumps({**remembered(), key: value}, indent=1, sort_keys=True))


def key_of(name: str, row: str, C: float, storage: str) -> str:
    """The key under which the settings of one contender and problem are remembered."""
    return f"{name} {CONTENDERS[name].version} | {row} C={C:g} {storage}"


def storage_of(name: str, row: str) -> str:
    """The storage in which this contender's fit is faster, "dense" or "csr" ("dense32" for a contender that runs on float32)."""
    dense = "dense32" if CONTENDERS[name].single else "dense"
    if row not in SPARSE:
        return dense
    key = f"{name} {CONTENDERS[name].version} | {row} storage"
    if name == OURS and row in _our_storage:
        return _our_storage[row]
    if name == OURS or key not in remembered():
        seconds = {}
        for storage in (dense, "csr"):
            worker = Worker(name)
            worker.ready(row, storage)
            fit = worker.fit(ROWS[row].C[0], FIRST_GUESS, 120.0)
            seconds[storage] = float("inf") if fit is None else fit.seconds
            worker.close()
        fastest = min(seconds, key=seconds.__getitem__)
        if name == OURS:
            _our_storage[row] = fastest
            return fastest
        remember(key, {"fastest": fastest, "seconds": seconds})
    return remembered()[key]["fastest"]


def loosest(
    worker: Worker, row: str, C: float, gap: float, storage: str, limit: float, guess: float = FIRST_GUESS
) -> dict:
    """{"tol", "gap", "seconds"} of the loosest tol that reaches the gap; tol None, with "why", where none does."""
    failed, reached, found = -1, len(TOLS), {"tol": None, "why": f"not reached at tol {TOLS[-1]:g}"}
    before = float("inf")
    index = min(range(len(TOLS)), key=lambda i: abs(TOLS[i] / guess - 1))
    while reached - failed > 1:
        tried = _try(worker, row, C, TOLS[index], storage, limit)
        if tried is None:
            reached, wanted = index, 0.0  # this tol and all tighter ones are left out
            if found["tol"] is None:
                found = {"tol": None, "why": f"not reached in {limit:g} s"}
        else:
            wanted = TOLS[index] * gap / tried["gap"]
            if tried["gap"] <= gap:
                reached, found = index, tried
            elif found["tol"] is None and tried["gap"] > 0.9 * before and TOLS[failed] > 9 * TOLS[index]:
                return {"tol": None, "why": f"stalls at a gap of {before:.0e}"}
            else:
                failed, before = index, tried["gap"]
        index = next((i for i, tol in enumerate(TOLS) if tol <= wanted), len(TOLS) - 1)
        index = min(max(index, failed + 1), reached - 1)
    return found


def _try(worker: Worker, row: str, C: float, tol: float, storage: str, limit: float) -> dict | None:
    """The tol, certified gap and seconds of one fit, as remembered or measured; None where the fit did not end within the limit."""
    key = f"{key_of(worker.name, row, C, storage)} tol={tol:g}"
    if key in (known := remembered()):
        return known[key]
    worker.ready(row, storage)
    fit = worker.fit(C, tol, limit)
    if fit is None:
        return None
    X, y = samples(ROWS[row], storage)
    tried = {
        "tol": tol,
        "gap": judge(X, y, C, ROWS[row].gamma, fit.beta).relative_gap,
        "seconds": round(fit.seconds, 3),
    }
    print(f"    {worker.name} {row} C={C:g} tol={tol:g}: gap {tried['gap']:.2e}, {fit.seconds:.2f} s", flush=True)
    if worker.name != OURS:
        remember(key, tried)
    return tried
