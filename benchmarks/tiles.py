"""The time of a kernel entry: f[j] += Σᵢ cᵢ exp(−γ‖xᵢ − xⱼ‖²) in float32, product, exponential and sum in one pass, against a product alone.

python benchmarks/tiles.py                        # all, into RESULTS.md
python benchmarks/tiles.py --other PYTHON         # beside the Gapless of another interpreter
python benchmarks/tiles.py --sums NAME            # one measurement, in ns an entry: what --other runs in the other interpreter

Dense rows are compared with OpenBLAS's float32 product of the same shape, in turns. The ratio asked for is that of the first design of these tiles
to the OpenBLAS of its machine. Sparse rows are compared with another version of Gapless where one is named.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from _harness import interleave, load, seconds_of, touch_memory, write_section

from gapless.kernels import RBF, Panels

# d: the ratio of the fused tile's time to that of OpenBLAS's product when the tiles were designed.
DESIGNED = {3: 0.33 / 0.79, 8: 0.32 / 0.67, 24: 0.47 / 0.82, 54: 0.78 / 1.21, 123: 1.50 / 1.99, 784: 9.3 / 9.8}
ALLOWED = 1.15  # how many times the designed ratio is allowed
RIGHT, LEFT = 16384, 1024  # the samples of f, and those of the sum
REPEATS = 15
SETTLED = 0.25  # seconds of the same work before a measurement (``_settled``)
SPARSE = ("a9a", "w8a", "news20_text_tfidf")


def main() -> None:
    """Measure all rows, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--other", metavar="PYTHON", help="an interpreter that has another version of Gapless")
    parser.add_argument("--sums", metavar="NAME", help="measure one data set and print ns an entry")
    arguments = parser.parse_args()
    if arguments.sums:
        run, entries = sums(samples(arguments.sums))
        print(_least(run, entries))
        return
    touch_memory()
    write_section(
        "A kernel entry", f"{_dense()}\n\n{_sparse(arguments.other)}\n\n{_other_work()}", ("gapless", "numpy", "scipy")
    )


def _dense() -> str:
    lines = [
        f"RBF, dense rows, float32: ns an entry of the sum over {LEFT:,} samples for each of {RIGHT:,}, all threads; medians of {REPEATS},",
        f"in turns, each after {SETTLED} s of its own kind.",
        "",
        "| features | fused | GFlop/s of the product | OpenBLAS product alone | ratio | asked |",
        "|---|---|---|---|---|---|",
    ]
    for d, designed in DESIGNED.items():
        X = np.random.default_rng(0).normal(size=(RIGHT, d)) / np.sqrt(d)
        run, entries = sums(X)
        A, B, out = X.astype(np.float32), X[:LEFT].astype(np.float32).T.copy(), np.empty((RIGHT, LEFT), np.float32)
        product_alone = partial(seconds_of, partial(np.matmul, A, B, out=out))
        seconds = interleave({"fused": partial(_settled, run), "product": partial(_settled, product_alone)}, REPEATS)
        ours, product = (1e9 * float(np.median(seconds[key])) / entries for key in ("fused", "product"))
        ratio = float(np.median(np.array(seconds["fused"]) / np.array(seconds["product"])))
        lines.append(
            f"| {d} | {ours:.2f} | {2 * d / ours:.0f} | {product:.2f} | {ratio:.2f} | ≤ {ALLOWED * designed:.2f} |"
        )
    return "\n".join(lines)


def _sparse(other: str | None) -> str:
    lines = [
        "RBF, sparse rows, float32: ns an entry, the least of two seconds' runs.",
        "",
        "| data | entries a row | features | ours | other version | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for name in SPARSE:
        X = samples(name)
        run, entries = sums(X)
        ours = _least(run, entries)
        theirs = _elsewhere(other, name) if other else None
        rival, ratio = ("–", "–") if theirs is None else (f"{theirs:.2f}", f"{ours / theirs:.2f}")
        lines.append(f"| {name} | {X.nnz / X.shape[0]:.0f} | {X.shape[1]:,} | {ours:.2f} | {rival} | {ratio} |")
    return "\n".join(lines)


def _elsewhere(python: str, name: str) -> float:
    """The measurement of another version, whose process must not find this version by PYTHONPATH."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return float(subprocess.check_output([python, __file__, "--sums", name], cwd=Path(__file__).parent, env=clean))


def _other_work() -> str:
    """The time of other work of solvers and of the proof, on dense rows of 24 features."""
    X = np.random.default_rng(0).normal(size=(RIGHT, 24)) / 5.0
    single, double = Panels(RBF(0.5), X), Panels(RBF(0.5), X, np.float64)
    chosen, c = np.arange(4096), np.ones(RIGHT)
    out = np.empty((4096, 4096), dtype=np.float32)
    columns = np.ones((RIGHT, 45))
    few = Panels(RBF(0.5), X[:200], np.float64)
    cases: dict[str, tuple[Callable[[], object], float]] = {
        "Gram matrix of 4,096 (float32)": (lambda: single.extend(chosen, 0, out), 4096.0**2),
        "sum in float64": (lambda: double.expand(chosen, c[:4096], np.zeros(RIGHT), slice(None)), 4096.0 * RIGHT),
        "symmetric sum in float64": (lambda: double.own(c), float(RIGHT) ** 2),
        "sum with a proven error": (lambda: single.apply_bounded(X[:2048], c[:, None]), 2048.0 * RIGHT),
        "45 models at once": (lambda: single.apply(X[:2048], columns), 2048.0 * RIGHT),
        "Gram matrix of 200, panels included (µs in all)": (
            lambda: Panels(RBF(0.5), X[:200], np.float64).square(chosen[:200]),
            1e3,
        ),
        "sum of 200 for 200 (µs in all)": (lambda: few.own(c[:200]), 1e3),
    }
    lines = ["Other work on RBF of 24 features: ns an entry, the median.", "", "| work | ns |", "|---|---|"]
    for name, (work, entries) in cases.items():
        work()
        ns = 1e9 * float(np.median([seconds_of(work) for _ in range(REPEATS)])) / entries
        lines.append(f"| {name} | {ns:.2f} |")
    return "\n".join(lines)


def samples(name: str) -> object:
    """The rows of a stored data set."""
    return load(name)[0]


def sums(X: object) -> tuple[Callable[[], float], float]:
    """(a function that returns the seconds of one sum, the number of kernel entries in it)."""
    n = X.shape[0]  # type: ignore[attr-defined]
    panels = Panels(RBF(0.5), X)
    rng = np.random.default_rng(0)
    left, c = np.sort(rng.choice(n, LEFT, replace=False)), rng.normal(size=LEFT)
    f = np.zeros(n)
    panels.expand(left, c, f, slice(None))  # the first call packs the rows
    return lambda: seconds_of(lambda: panels.expand(left, c, f, slice(None))), float(LEFT) * n


def _least(run: Callable[[], float], entries: float) -> float:
    """The ns an entry of the fastest run within about two seconds."""
    began, least = time.perf_counter(), float("inf")
    while least == float("inf") or time.perf_counter() - began < 2.0:
        least = min(least, 1e9 * run() / entries)
    return least


def _settled(run: Callable[[], float]) -> float:
    """A measurement after others of the same work: for some 0.1 s after a product OpenBLAS's threads keep a core busy."""
    began = time.perf_counter()
    while time.perf_counter() - began < SETTLED:
        run()
    return run()


if __name__ == "__main__":
    main()
