"""Kernel SVMs to the same certified gap: gapless, scikit-learn, scikit-learn-intelex and ThunderSVM on the same rows and cores.

Each contender runs with the loosest tol of one grid with which an independent float64 judge (``_verifier``) finds the target gap reached. ``fit``
alone is timed, in turns; our time includes our certificate.

    python benchmarks/kernel.py --rows a9a,ijcnn1 --only gapless --gap 1e-3
    python benchmarks/kernel.py --parts small,growth

measure only these parts and keep the other figures of the last run; without options everything is measured anew. The exit code is 1 where a
certificate of ours differs from the judge's by more than 1e-9 of P.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import _kernel_report as report
import numpy as np
from _contenders import CONTENDERS, LIMIT, Fit, Worker
from _harness import Measurements, interleave, touch_memory
from _kernel_data import GROWTH, ROWS, TABLE, samples, small
from _limit import limit
from _sweep import TOLS, loosest, storage_of
from _verifier import judge

MEASURED = Measurements(Path(__file__).parent / ".kernel.json")
stored, store = MEASURED.stored, MEASURED.store
GAPS = (1e-3, 1e-5)
PREDICTED = 10_000
PATIENCE = 20.0
"""scikit-learn's SVC is not run to the tighter gap where the looser one took more than so many seconds."""
SINGLE = ("sklearnex f32", "thundersvm")
"""Contenders whose arithmetic is float32, which stalls before the tighter gap: they are not run to it."""
PARTS = ("fits", "small", "growth")


def main() -> None:
    """Measure the parts that the options name, write the section and the figure, and compare our certificates with the judge's."""
    options = _options()
    if options.everything:
        MEASURED.forget()
    touch_memory(6.0)
    names = [name for name in options.only if CONTENDERS[name].version is not None]
    if "fits" in options.parts:
        for row in options.rows:
            measure_row(row, names, options.gap)
    if "small" in options.parts:
        measure_small()
    if "growth" in options.parts:
        for size in GROWTH:
            row = f"covtype-{size // 1000}k"
            if row not in options.rows or "fits" not in options.parts:
                measure_row(row, names, (GAPS[0],), ROWS[row].C[:1])
    measured = stored()
    report.write(measured, keep=not options.dry)
    wrong = [key for key, found in measured.items() if found.get("difference", 0.0) > report.AGREEMENT]
    if wrong:
        sys.exit(
            f"Our certificate differs from the judge's by more than {report.AGREEMENT:g} of P: {'; '.join(wrong)}."
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(TABLE), help="data sets, by comma")
    parser.add_argument("--only", default=",".join(CONTENDERS), help="contenders, by comma")
    parser.add_argument("--gap", default=",".join(f"{gap:g}" for gap in GAPS), help="target relative gaps, by comma")
    parser.add_argument("--parts", default=",".join(PARTS), help="fits, small, growth")
    parser.add_argument("--dry", action="store_true", help="print the section and leave RESULTS.md as it is")
    given = parser.parse_args()
    given.everything = len(sys.argv) == 1
    for name, known in (("rows", ROWS), ("only", CONTENDERS), ("parts", PARTS)):
        values = tuple(getattr(given, name).split(","))
        for value in values:
            if value not in known:
                parser.error(f"--{name} got {value!r}; it takes {', '.join(known)}.")
        setattr(given, name, values)
    given.gap = tuple(float(gap) for gap in given.gap.split(","))
    return given


def measure_row(
    row: str, names: list[str], gaps: tuple[float, ...], strengths: tuple[float, ...] | None = None
) -> None:
    """All contenders on one data set, for each C and gap; predictions at the first C and gap."""
    workers = {name: Worker(name) for name in names}
    storages = {name: storage_of(name, row) for name in names}
    for C in strengths or ROWS[row].C:
        guess = None
        for gap in sorted(gaps, reverse=True):
            print(f"== {row} C={C:g} gap={gap:g}, load {os.getloadavg()[0]:.1f}", flush=True)
            tols: dict[str, float] = {}
            for name in names:
                if why := _skipped(name, row, C, gap):
                    store(report.key(row, C, gap, name), {"why": why})
                    continue
                found = loosest(
                    workers[name], row, C, gap, storages[name], LIMIT, guess or _last_tol(row, C, gap) or gap
                )
                if found["tol"] is None:
                    store(report.key(row, C, gap, name), {"why": found["why"]})
                    continue
                tols[name] = guess = found["tol"]
            race(workers, row, C, gap, storages, tols)
            if row in TABLE and (C, gap) == (ROWS[row].C[0], GAPS[0]):
                predict(row, {name: workers[name] for name in tols})
            guess = None if guess is None else max(TOLS[-1], guess * min(gaps) / gap)
    for worker in workers.values():
        worker.close()


def _last_tol(row: str, C: float, gap: float) -> float | None:
    """The tol at which the search begins: that of another contender in an earlier run."""
    tols = [stored().get(report.key(row, C, gap, name), {}).get("tol") for name in CONTENDERS if name != "gapless"]
    return next((tol for tol in tols if tol is not None), None)


def _skipped(name: str, row: str, C: float, gap: float) -> str | None:
    """Why a contender is not run, or None."""
    if name in SINGLE and gap < GAPS[0]:
        return "not run: float32"
    if name != "sklearn":
        return None
    if row.startswith("covtype-") and (ROWS[row].n or 0) > 40_000:
        return "not run: too slow"
    seconds = stored().get(report.key(row, C, GAPS[0], name), {}).get("seconds", 0.0)
    return f"not run: {seconds:.0f} s for {GAPS[0]:g}" if gap < GAPS[0] and seconds > PATIENCE else None


def race(
    workers: dict[str, Worker], row: str, C: float, gap: float, storages: dict[str, str], tols: dict[str, float]
) -> None:
    """Fit in turns, as often as the length of a fit allows; the last fit of each contender is judged, and where it misses the gap the contender runs
    again with the next tighter tol."""
    seconds: dict[str, list[float]] = {name: [] for name in tols}
    last: dict[str, Fit | None] = {}
    turn = 0
    while names := [name for name in tols if turn < (_repeats(seconds[name][0]) if seconds[name] else turn == 0)]:
        for name in names:
            workers[name].ready(row, storages[name])
            workers[name].touch()
            last[name] = fit = workers[name].fit(C, tols[name], LIMIT)
            if fit is not None:
                seconds[name].append(fit.seconds)
        turn += 1
    again: dict[str, float] = {}
    for name in tols:
        fit = last[name]
        if fit is None:
            store(report.key(row, C, gap, name), {"why": f"not reached in {LIMIT:g} s"})
            continue
        X, y = samples(ROWS[row], storages[name])
        verdict = judge(X, y, C, ROWS[row].gamma, fit.beta)
        if verdict.relative_gap > gap and tols[name] > TOLS[-1]:
            again[name] = TOLS[TOLS.index(tols[name]) + 1]
            continue
        found: dict[str, Any] = {
            "seconds": float(np.median(seconds[name])), "fits": len(seconds[name]), "tol": tols[name], "storage": storages[name],
            "gap": verdict.relative_gap, "support": verdict.n_support, "peak_mb": fit.peak_mb,
            "limit": limit(*X.shape, verdict.n_support), "n": X.shape[0], "d": X.shape[1],
        }  # fmt: skip
        if fit.claimed is not None:
            claimed = fit.claimed[0] - fit.claimed[1]
            found["difference"] = abs(claimed - (verdict.primal - verdict.dual)) / verdict.primal
        store(report.key(row, C, gap, name), found)
        print(f"  {name}: {found['seconds']:.3f} s, tol {tols[name]:g}, gap {verdict.relative_gap:.1e}", flush=True)
    if again:
        race(workers, row, C, gap, storages, again)


def _repeats(seconds: float) -> int:
    return 5 if seconds < 1 else 3 if seconds < 10 else 2 if seconds < 20 else 1


def predict(row: str, workers: dict[str, Worker]) -> None:
    """Measure each contender's ``predict`` with its last model, in turns, and the share of samples on which its labels agree with ours."""
    n = min(PREDICTED, len(samples(ROWS[row])[1]))
    answers: dict[str, Any] = {}
    seconds: dict[str, list[float]] = {name: [] for name in workers}
    for turn in range(5):
        for name, worker in workers.items():
            if turn == 0 or sum(seconds[name]) < 3.0:
                taken, answers[name] = worker.predict(n)
                seconds[name].append(taken)
    for name, labels in answers.items():
        found = {"seconds": float(np.median(seconds[name])), "samples": n, "support": workers[name].support}
        if "gapless" in answers:
            found["agree"] = float(np.mean(labels == answers["gapless"]))
        store(f"predict {row} {name}", found)


def measure_small() -> None:
    """Fits of fewer than 1,000 samples with default tol, in one process: ours and scikit-learn's in turns."""
    contenders = [("gapless", CONTENDERS["gapless"].make), ("sklearn", CONTENDERS["sklearn"].make)]
    for name, (X, y) in small().items():
        for C in (1.0, 100.0):
            runs = {who: (lambda make=make: _seconds(make(C=C, gamma="scale"), X, y)) for who, make in contenders}  # noqa: B023
            interleave(runs, 3)
            repeats = int(np.clip(2.0 / sum(run() for run in runs.values()), 7, 101))
            medians = {who: float(np.median(taken)) for who, taken in interleave(runs, repeats).items()}
            store(f"small {name} C={C:g}", {**medians, "n": len(y), "d": X.shape[1], "fits": repeats})


def _seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
