"""Kernel logistic regression against two Newton methods on the same problem, Nyström features against their products, and approximate SVCs.

Logistic regression: 5,000 × 20, dense, RBF, C = 1, no intercept (a Gaussian process has none), from the raw data to the model. Our fit ends at a
certified relative gap of 1e-4, the plain Newton method at the same gap, computed from its own iterate. scikit-learn's Gaussian process, whose
mode of the posterior is the same function, ends at its own tolerance; its hyperparameters are fixed.

Nyström: 500 landmarks on 100,000 rows of covtype, fit and transform, against the two products that every such map needs.

Approximation: SVC on rows of covtype (their number after the part's name; 20,000 by default): exact, approximate and polished.

    python benchmarks/kernelised.py logistic nystroem
    python benchmarks/kernelised.py approximation 100000
"""

from __future__ import annotations

import sys

import numpy as np
from _harness import interleave, load, seconds_of, touch_memory, write_section
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.preprocessing import StandardScaler

import gapless as gl

N, D, TOL, REPEATS = 5_000, 20, 1e-4, 3
LANDMARKS, ROWS = 500, 100_000


def plain_newton(X: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
    """Newton's method in plain NumPy, on the full Gram matrix, to the same gap."""
    squares = (X**2).sum(axis=1)
    K = np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0.0))
    a = np.zeros(len(y))
    while True:
        f = K @ a
        wrong = expit(-y * f)
        beta = y * wrong
        residual = a - beta
        if 0.5 * residual @ K @ residual <= TOL * (0.5 * a @ f + np.logaddexp(0.0, -y * f).sum()):
            return a
        h = wrong * (1 - wrong)
        a = a - np.linalg.solve(np.eye(len(y)) + h[:, None] * K, residual)


def logistic() -> None:
    """Time all three, and write the table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=N) > 0, 1, -1)
    gamma = 1.0 / D
    kernel = gl.kernels.RBF(gamma=gamma)
    model = gl.KernelLogisticRegression(kernel=kernel, tol=TOL, fit_intercept=False)
    model.fit(X[:200], y[:200])
    times = interleave(
        {
            "Gapless, certified": lambda: seconds_of(lambda: model.fit(X, y)),
            "Newton in plain NumPy": lambda: seconds_of(lambda: plain_newton(X, y, gamma)),
            "GaussianProcessClassifier": lambda: seconds_of(
                lambda: GaussianProcessClassifier(kernel=RBF(1.0 / np.sqrt(2 * gamma)), optimizer=None).fit(X, y)
            ),
        },
        REPEATS,
    )
    ours = float(np.median(times["Gapless, certified"]))
    lines = ["| method | seconds | against ours |", "|---|---|---|"]
    for name, each in times.items():
        lines.append(f"| {name} | {np.median(each):.2f} | {np.median(each) / ours:.1f} |")
    text = "\n".join(
        [
            f"{N:,} x {D} dense, RBF, C = 1, median of {REPEATS}; ours in {model.n_iter_} Newton steps to a relative gap of "
            f"{model.certificate_.relative_gap:.1e}.",
            "",
            *lines,
        ]
    )
    write_section("Kernel logistic regression", text, ("gapless", "numpy", "scikit-learn"))


def covtype(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Shuffled rows, scaled; the largest class against the others."""
    X, y = load("covtype")
    chosen = np.random.default_rng(0).permutation(len(y))[:rows]
    return StandardScaler().fit_transform(X[chosen]), y[chosen] == 2


def nystroem() -> None:
    """Time the features in both precisions, and the products alone."""
    X, _ = covtype(ROWS)
    kernel = gl.kernels.RBF(gamma=1.0 / X.shape[1])
    lines = ["| precision | method | features, s | two products, s | ratio |", "|---|---|---|---|---|"]
    for dtype in (np.float64, np.float32):
        rows = X.astype(dtype)
        Z, W = rows[:LANDMARKS].T.copy(), np.random.default_rng(0).normal(size=(LANDMARKS, LANDMARKS)).astype(dtype)
        phi = gl.features.Nystroem(LANDMARKS, kernel=kernel, random_state=0)
        times = interleave(
            {
                "features": lambda phi=phi, rows=rows: seconds_of(lambda: phi.fit_transform(rows)),
                "products": lambda rows=rows, Z=Z, W=W: seconds_of(lambda: (rows @ Z) @ W),
            },
            REPEATS,
        )
        a, b = (float(np.median(times[name])) for name in ("features", "products"))
        lines.append(f"| {np.dtype(dtype).name} | uniform | {a:.2f} | {b:.2f} | {a / b:.2f} |")
    text = (
        f"{LANDMARKS} landmarks, {ROWS:,} x {X.shape[1]}, RBF, fit and transform, median of {REPEATS}.\n\n"
        + "\n".join(lines)
    )
    write_section("Nyström features", text, ("gapless", "numpy", "scikit-learn"))


def approximation(rows: int = 20_000) -> None:
    """Fit three times, and write seconds, bounds and accuracy on unseen rows."""
    X, y = covtype(rows + 10_000)
    X, y, unseen, labels = X[:rows], y[:rows], X[rows:], y[rows:]
    options = {"C": 10.0, "kernel": gl.kernels.RBF(gamma=1.0 / X.shape[1])}
    phi = gl.features.Nystroem(LANDMARKS, random_state=0)
    repeats = {"approximate": 5, "polished": 1, "exact": 1}
    models = {
        "approximate": gl.SVC(approximation=phi, **options),
        "polished": gl.SVC(approximation=phi, polish=True, **options),
        "exact": gl.SVC(**options),
    }
    for model in models.values():
        model.fit(X[: rows // 5], y[: rows // 5])  # the first fit, which starts threads, is not counted
    lines = ["| fit | seconds | primal | dual | relative gap | accuracy |", "|---|---|---|---|---|---|"]
    for name, model in models.items():
        took = float(np.median([seconds_of(lambda model=model: model.fit(X, y)) for _ in range(repeats[name])]))
        proof = model.certificate_
        lines.append(
            f"| {name} | {took:.1f} | {proof.primal:.0f} | {proof.dual:.0f} | {proof.relative_gap:.1e} | {model.score(unseen, labels):.3f} |"
        )
    text = (
        f"{LANDMARKS} landmarks, {rows:,} x {X.shape[1]}, RBF, C = 10, tol = 1e-3; the approximate fit: median of 5, the others: one run.\n\n"
        + "\n".join(lines)
    )
    write_section("An approximate machine with an exact proof", text, ("gapless", "numpy", "scikit-learn"))


PARTS = {"logistic": logistic, "nystroem": nystroem, "approximation": approximation}


def main() -> None:
    """Run the parts that are named, or all."""
    touch_memory()
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    for name in [word for word in sys.argv[1:] if not word.isdigit()] or PARTS:
        PARTS[name](*(numbers if name == "approximation" else ()))


if __name__ == "__main__":
    main()
