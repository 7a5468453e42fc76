"""The table of a GPU paper on this machine: 10 folds × 50 values of λ, tuned and trained, as TorchKM reports it (arXiv 2606.06742).

    python benchmarks/train_and_tune.py
    python benchmarks/train_and_tune.py --sizes 10000 --features 1000 --torchkm never
    python benchmarks/train_and_tune.py --sizes 500 --features 10 --lambdas 5 --dry        # a trial of seconds

The data come from the package ``torchkm``, which ``make bench-tune`` installs. TorchKM itself runs beside ours on the CPU, for 20 minutes at most;
what it found, or that it found nothing, is kept from one run to the next ("--torchkm always" measures it anew).
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from _contenders import _peak_mb
from _harness import Measurements, seconds_of, touch_memory, write_section
from _torchkm import costs, folds_of

import gapless as gl
from gapless.model_selection import GridSearchCV

MEASURED = Measurements(Path(__file__).parent / ".tune.json")
SIZES = (10_000, 20_000)
FEATURES = (10, 100, 1000)
LAMBDAS = 50
LIMIT = 1200.0
"""The most seconds of TorchKM on the CPU."""
GAP = 1e-3
PUBLISHED = {
    (10_000, 1000): {"scikit-learn": 14322.8, "ThunderSVM": 279.4, "TorchKM": 37.7},
    (20_000, 1000): {"ThunderSVM": 580.8, "TorchKM": 129.3},
}
"""Seconds of the paper's table, on its authors' machine; ThunderSVM and TorchKM ran on one GPU."""
TITLE = "Train and tune: the table of a GPU paper"


def main() -> None:
    """Measure the cells that the options name, and write the section."""
    options = _options()
    try:
        version("torchkm")
    except PackageNotFoundError:
        print("The package torchkm, which makes the data, is not installed: make bench-tune installs it.")
        return
    touch_memory(6.0)
    with tempfile.TemporaryDirectory() as folder:
        for n in options.sizes:
            for p in options.features:
                path = Path(folder) / f"{n}-{p}.npz"
                _torchkm("data", path, n, p, options.lambdas)
                measure(path, n, p, options)
                if options.torchkm != "never":
                    rival(path, n, p, options)
                path.unlink()
    section = text(MEASURED.stored(), options)
    if options.dry:
        print(section)
    else:
        write_section(TITLE, section, ("gapless", "numpy", "scikit-learn", "torchkm", "torch"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of samples, by comma")
    parser.add_argument("--features", default=",".join(map(str, FEATURES)), help="numbers of features, by comma")
    parser.add_argument("--lambdas", type=int, default=LAMBDAS, help="values of λ")
    parser.add_argument("--repeats", type=int, default=3, help="runs of ours; the median counts")
    parser.add_argument("--torchkm", choices=("once", "always", "never"), default="once", help="when TorchKM runs")
    parser.add_argument("--limit", type=float, default=LIMIT, help="the most seconds of TorchKM")
    parser.add_argument("--dry", action="store_true", help="print the section and leave RESULTS.md as it is")
    given = parser.parse_args()
    given.sizes, given.features = ([int(each) for each in value.split(",")] for value in (given.sizes, given.features))
    return given


def key(n: int, p: int, lambdas: int, who: str) -> str:
    """The key of one cell among the measurements."""
    return f"n={n} p={p} {lambdas} λ | {who}"


def _torchkm(task: str, *arguments: Any, limit: float | None = None) -> None:
    command = [sys.executable, str(Path(__file__).with_name("_torchkm.py")), task, *map(str, arguments)]
    subprocess.run(command, check=True, timeout=limit, stdout=subprocess.DEVNULL)


def measure(path: Path, n: int, p: int, options: argparse.Namespace) -> None:
    """Our search on one problem: its seconds with everything in them, then the gaps of all of its fits."""
    with np.load(path) as problem:
        X, y, lam = problem["X"].astype(np.float64), problem["y"].astype(int), problem["lam"]
        gamma, folds = 2.0 * float(problem["sigma"]), folds_of(problem["fold"])
    estimator, grid = gl.SVC(gamma=gamma, tol=GAP), {"C": costs(lam, n)}
    seconds = []
    for _ in range(options.repeats):
        gc.collect()
        touch_memory(2.0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak of memory is counted from here on
        search = GridSearchCV(estimator, grid, cv=folds)
        seconds.append(seconds_of(lambda search=search: search.fit(X, y)))
    peak = _peak_mb()
    results, chosen = search.cv_results_, search.selection_
    right = sum(results[f"split{k}_test_score"] * len(test) for k, (_, test) in enumerate(folds))
    # Which gap a fit has is not among the results of a search: one more search has the certificates in the place of scores.
    proofs = GridSearchCV(estimator, grid, scoring=relative_gap, refit=False, cv=folds).fit(X, y).cv_results_
    gaps = np.concatenate([proofs[f"split{k}_test_score"] for k in range(len(folds))])
    found = {
        "seconds": seconds, "refit": search.refit_time_, "peak_mb": peak, "gamma": gamma, "fits": len(gaps),
        "certified": int((gaps <= GAP).sum()), "largest": float(gaps.max()), "refit_gap": search.best_estimator_.certificate_.relative_gap,
        "index": int(search.best_index_), "lam": lam.tolist(), "wrong": np.rint(n - right).astype(int).tolist(),
        "proven": bool(chosen.proven), "tied": [int(k) for k in chosen.tied], "text": str(chosen),
    }  # fmt: skip
    MEASURED.store(key(n, p, options.lambdas, "ours"), found)
    print(
        f"n={n} p={p}: {np.median(seconds):.1f} s, {found['certified']} of {len(gaps)} certified, {chosen}", flush=True
    )


def relative_gap(estimator: Any, X: Any, y: Any) -> float:
    """A scorer: the certified gap of a fitted model."""
    return estimator.certificate_.relative_gap


def rival(path: Path, n: int, p: int, options: argparse.Namespace) -> None:
    """TorchKM on the same problem, in a process that is ended at the limit; what an earlier run has found is kept."""
    name = key(n, p, options.lambdas, f"torchkm {version('torchkm')}")
    known = MEASURED.stored().get(name)
    if known is not None and options.torchkm == "once":
        return
    answer = path.with_suffix(".json")
    try:
        _torchkm("tune", path, answer, limit=options.limit)
        found = json.loads(answer.read_text())
    except subprocess.TimeoutExpired:
        found = {"why": f"not finished in {options.limit / 60:g} minutes"}
    except subprocess.CalledProcessError as error:
        found = {"why": "out of memory" if error.returncode == -9 else f"ended with code {error.returncode}"}
    MEASURED.store(name, found)
    print(f"  TorchKM: {found.get('why') or round(found['seconds'], 1)}", flush=True)


def text(measured: dict[str, Any], options: argparse.Namespace) -> str:
    """The section: a table of seconds, and one of proofs and choices."""
    times = [
        "| n | p | ours, s | runs, s | the final fit, s | peak, GB | TorchKM on this CPU, s | TorchKM on this CPU / ours | "
        "published: scikit-learn, s | published: ThunderSVM, GPU, s | published: TorchKM, GPU, s | published TorchKM / ours |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    proofs = [
        "| n | p | γ | fits with a gap ≤ 1e-3 | largest gap | gap of the final fit | λ | proven best | tied | `selection_` | λ of TorchKM | "
        "TorchKM's choice | λ's with other errors | by samples, at most |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    loads = []
    # Cells of the table that other runs have measured are shown as well.
    for n, p in sorted({*product(SIZES, FEATURES), *product(options.sizes, options.features)}):
        ours = measured.get(key(n, p, options.lambdas, "ours"))
        if ours is None:
            continue
        theirs = measured.get(key(n, p, options.lambdas, f"torchkm {version('torchkm')}"), {"why": "not run"})
        loads.append(ours["load"])
        times.append(_times(n, p, ours, theirs))
        proofs.append(_proofs(n, p, ours, theirs))
    span = f"{min(loads):.1f} to {max(loads):.1f}" if loads else "unknown"
    return "\n".join([_method(options.lambdas, span), "", *times, "", *proofs])


def _method(lambdas: int, load: str) -> str:
    return f"""
Data, kernel width, folds and λ as in the example of `torchkm.cvksvm`, made by its own functions: `data_gen` (five clusters a class, shift 2,
deviation 3, seed 42), `standardize`, `sigest`; 10 folds; {lambdas} values of λ from 1e3 to 1e-3, C = 1/(2nλ) with n all rows. Ours is one call
of `gapless.model_selection.GridSearchCV`: its seconds have everything from the samples to the final model in them, the kernel matrix,
{10 * lambdas} fits with their proofs, their scores and the fit on all data. The gaps are from one more search, untimed, that asks for
certificates in the place of scores. TorchKM on this CPU runs in a process of its own, from the samples to the choice, with the settings of its
example, once, and is ended after 20 minutes. Published seconds are those of the paper, on another machine with one GPU. “λ's with other errors”
compares the cross-validated errors of TorchKM with ours. Load average {load}, our own threads included.
""".strip()


def _times(n: int, p: int, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    seconds, published = float(np.median(ours["seconds"])), PUBLISHED.get((n, p), {})
    runs = ", ".join(f"{each:.1f}" for each in ours["seconds"])
    here = (
        [theirs["why"], ""] if "why" in theirs else [f"{theirs['seconds']:.1f}", f"{theirs['seconds'] / seconds:.1f}"]
    )
    paper = [
        f"{published[name]:,.1f}" if name in published else "–" for name in ("scikit-learn", "ThunderSVM", "TorchKM")
    ]
    paper.append(f"**{published['TorchKM'] / seconds:.2f}**" if published else "")
    cells = [f"{n:,}", f"{p:,}", f"**{seconds:.1f}**", runs, f"{ours['refit']:.1f}", f"{ours['peak_mb'] / 1024:.1f}"]
    return "| " + " | ".join([*cells, *here, *paper]) + " |"


def _proofs(n: int, p: int, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    cells = [
        f"{n:,}", f"{p:,}", f"{ours['gamma']:.3g}", f"{ours['certified']} of {ours['fits']}", f"{ours['largest']:.1e}", f"{ours['refit_gap']:.1e}",
        f"{ours['lam'][ours['index']]:.3g}", "yes" if ours["proven"] else "no", str(len(ours["tied"])), ours["text"],
    ]  # fmt: skip
    if "why" in theirs:
        return "| " + " | ".join([*cells, "", "", "", ""]) + " |"
    index, off = theirs["index"], np.abs(np.subtract(ours["wrong"], theirs["wrong"]))
    verdict = "same" if index == ours["index"] else "tied by our proof" if index in ours["tied"] else "other"
    cells += [f"{ours['lam'][index]:.3g}", verdict, f"{(off > 0).sum()} of {len(off)}", str(off.max())]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
