"""One epoch of dual coordinate ascent against one epoch of LIBLINEAR's, on the same rows (hinge, no intercept, C = 1).

An epoch's time is (T(21) − T(1)) / 20, where T(k) is the time of k epochs from zero: set-up and data conversion cancel out. LIBLINEAR shrinks while
it runs, so that its later epochs visit fewer rows; an epoch of ours is n visits, whichever rows they are.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from _harness import interleave, load, touch_memory, write_section
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import gapless as gl

EPOCHS = 20
REPEATS = 25


def main() -> None:
    """Measure all data sets, and write the table."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    touch_memory()
    lines = ["| data | rows | entries a row | ours, ms | LIBLINEAR, ms | ratio |", "|---|---|---|---|---|---|"]
    for name in ("a9a", "w8a", "ijcnn1"):
        X, y = load(name)
        problem = gl.Problem(X, np.where(y == y.max(), 1, -1), C=1.0, intercept="none")
        contenders = {
            "ours": lambda problem=problem: ours(problem, EPOCHS + 1) - ours(problem, 1),
            "liblinear": lambda X=problem.X, y=problem.y: liblinear(X, y, EPOCHS + 1) - liblinear(X, y, 1),
        }
        seconds = interleave(contenders, REPEATS)
        a, b = (1e3 * float(np.median(seconds[key])) / EPOCHS for key in ("ours", "liblinear"))
        entries = problem.entry_work
        lines.append(f"| {name} | {problem.n_samples:,} | {entries:.1f} | {a:.2f} | {b:.2f} | {a / b:.2f} |")
    write_section("sdca: one epoch against LIBLINEAR's", "\n".join(lines), ("gapless", "numpy", "scikit-learn"))


def ours(problem: gl.Problem, epochs: int) -> float:
    """Seconds of so many epochs, set-up included."""
    solver = gl.solvers.SDCA()
    began = time.perf_counter()
    engine, done = solver.init(problem, None, np.random.default_rng(0)), 0.0
    while done < epochs - 1e-9:
        done += engine.step(gl.solvers.Budget(iterations=epochs - done), gl.solvers.Targets()).iterations
    return time.perf_counter() - began


def liblinear(X: object, y: np.ndarray, epochs: int) -> float:
    """Seconds of scikit-learn's LIBLINEAR for so many epochs, set-up included."""
    model = LinearSVC(loss="hinge", dual=True, C=1.0, fit_intercept=False, tol=1e-14, max_iter=epochs)
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
