"""Linear models: seconds to a proven gap of 1e-3 and of 1e-6, ours against LIBLINEAR, Snap ML and scikit-learn's SGD, on the same problem.

min ½(‖w‖² + b²) + C Σ ℓ, the intercept regularised as LIBLINEAR has it. Dense data are standardised and stored dense, sparse data as they are.
Ours is ``gl.solve(gl.Problem(...), tol=target)``: the set-up and its own certificates are inside its time. A rival runs with a growing number of
epochs, each time from nothing; the first run whose P is within the target of the optimum counts, with its set-up. The optimum is the best dual
value of ours at 1e-9, and judging a rival is outside its time. What a rival does not reach within the cap is an entry too.

    python benchmarks/linear.py [--cap 120] [--rows dense|sparse|all] [name ...]
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from _harness import load, touch_memory, write_section
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.svm import LinearSVC, LinearSVR

import gapless as gl

DENSE = ("covtype", "ijcnn1", "cod_rna", "susy_30k", "skin_nonskin", "cadata_california", "house_16H")
SPARSE = ("a9a", "w8a", "news20_text_tfidf", "imdb_bigram_hashed", "connect4")
REGRESSION = ("cadata_california", "house_16H")
COSTS = (0.01, 1.0, 100.0)
TARGETS = (1e-3, 1e-6)
EPSILON = 0.1
Model = tuple[np.ndarray, float]
Rival = Callable[[int], Model]


def data(name: str) -> tuple[Any, np.ndarray]:
    """(X, y): standardised where dense; two classes, the last (covtype: the second) against the rest, or standardised targets."""
    X, y = load(name)
    if name in DENSE:
        X = X.toarray() if sp.issparse(X) else X
        X = np.ascontiguousarray((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0))
    if name in REGRESSION:
        return X, (y - y.mean()) / y.std()
    if name == "news20_text_tfidf":
        return X, np.where(y >= 10, 1.0, -1.0)
    return X, np.where(y == (2 if name == "covtype" else y.max()), 1.0, -1.0)


def rivals(X: Any, y: np.ndarray, loss: str, C: float) -> Iterator[tuple[str, Rival]]:
    """Each rival that is installed and knows the loss, as a function of its number of epochs."""
    n, squared, regression = X.shape[0], loss.startswith("squared"), loss.endswith("insensitive")

    def sklearn_liblinear(epochs: int) -> Model:
        options = {"loss": loss, "C": C, "tol": 1e-12, "max_iter": epochs, "dual": True}
        model = (LinearSVR(epsilon=EPSILON, **options) if regression else LinearSVC(**options)).fit(X, y)
        return model.coef_.ravel(), float(np.ravel(model.intercept_)[0])

    def sklearn_newton(epochs: int) -> Model:
        options = {"loss": loss, "C": C, "tol": 1e-12, "max_iter": epochs, "dual": False}
        model = (LinearSVR(epsilon=EPSILON, **options) if regression else LinearSVC(**options)).fit(X, y)
        return model.coef_.ravel(), float(np.ravel(model.intercept_)[0])

    def own_liblinear(digits: int) -> Model:
        from liblinear.liblinearutil import train

        kind = {"hinge": 3, "squared_hinge": 1, "epsilon_insensitive": 13, "squared_epsilon_insensitive": 12}[loss]
        option = f"-s {kind} -c {C:g} -B 1 -e {10.0 ** (-0.25 * digits):g} -q" + (
            f" -p {EPSILON:g}" if regression else ""
        )
        weights, b = train(y, X, option).get_decfun()
        sign = 1.0 if regression or y[0] > 0 else -1.0  # LIBLINEAR's first label is the positive one
        return sign * np.asarray(weights), sign * b

    def snap(epochs: int) -> Model:
        import snapml

        model = snapml.SupportVectorMachine(
            loss=loss,
            regularizer=1.0 / C,
            max_iter=epochs,
            tol=0.0,
            fit_intercept=True,
            n_jobs=2,
            generate_training_history=None,
        )
        model.fit(X, y)
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])

    def sgd(epochs: int) -> Model:
        options = {
            "loss": loss,
            "alpha": 1.0 / (C * n),
            "max_iter": epochs,
            "tol": None,
            "average": True,
            "random_state": 0,
        }
        model = (SGDRegressor(epsilon=EPSILON, **options) if regression else SGDClassifier(**options)).fit(X, y)
        return model.coef_.ravel(), float(np.ravel(model.intercept_)[0])

    yield "LIBLINEAR in scikit-learn", sklearn_liblinear
    if squared:
        yield "LIBLINEAR in scikit-learn, primal", sklearn_newton
    if importlib.util.find_spec("liblinear") is not None:
        yield "LIBLINEAR", own_liblinear
    if not regression and not squared and importlib.util.find_spec("snapml") is not None:
        yield "Snap ML", snap
    yield "SGD in scikit-learn", sgd


def reach(problem: gl.Problem, best: float, rival: Rival, cap: float) -> dict[float, float]:
    """Seconds to each target; those not reached within the cap are absent."""
    found: dict[float, float] = {}
    spent, epochs = 0.0, 1
    while spent < cap and len(found) < len(TARGETS):
        began = time.perf_counter()
        w, b = rival(epochs)
        seconds = time.perf_counter() - began
        spent = max(spent, seconds)
        loss = problem.loss.value(problem.y, problem.expand_weights(w) + b)
        value = 0.5 * float(w @ w + b * b) + float(problem.cost @ loss)
        for target in TARGETS:
            if value - best <= target * value:
                found.setdefault(target, seconds)
        if epochs > 1_000_000 or seconds * 1.6 > cap:
            break
        epochs = max(epochs + 1, int(1.6 * epochs))
    return found


def ours(X: Any, y: np.ndarray, options: dict[str, Any], target: float, repeats: int) -> tuple[float, gl.Result]:
    """The least of some runs, and the last result."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = gl.solve(gl.Problem(X, y, **options), tol=target)
        seconds.append(time.perf_counter() - began)
        if seconds[-1] > 5.0:
            break
    return min(seconds), result


def bandwidth(X: Any) -> tuple[float, float]:
    """Seconds of one X·w and, where X is dense, of one XᵀX, in this run."""
    w = np.ones(X.shape[1])
    passes, products = [], [0.0]
    for _ in range(5):
        began = time.perf_counter()
        X @ w
        passes.append(time.perf_counter() - began)
        if not sp.issparse(X):
            began = time.perf_counter()
            X.T @ X
            products.append(time.perf_counter() - began)
    return min(passes), min(products[1:], default=0.0)


def main() -> None:
    """Measure, print and store the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cap", type=float, default=120.0)
    parser.add_argument("--rows", choices=("dense", "sparse", "all"), default="all")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    touch_memory()
    chosen = {"dense": DENSE, "sparse": SPARSE, "all": DENSE + SPARSE}[arguments.rows]
    names = arguments.names or chosen
    lines = [
        "| data | loss | C | gap | solver | steps | ours, s | passes | best rival | its s | ratio | all rivals, s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    ratios: dict[tuple[str, float], list[float]] = {}
    for name in names:
        X, y = data(name)
        one_pass, product = bandwidth(X)
        losses = (
            ("epsilon_insensitive", "squared_epsilon_insensitive") if name in REGRESSION else ("hinge", "squared_hinge")
        )
        for loss in losses:
            for C in COSTS:
                made = {"hinge": gl.losses.Hinge, "squared_hinge": gl.losses.SquaredHinge}.get(loss)
                tube = {"epsilon_insensitive": gl.losses.EpsilonInsensitive}.get(
                    loss, gl.losses.SquaredEpsilonInsensitive
                )
                options = {"loss": made() if made else tube(EPSILON), "C": C, "intercept": "regularized"}
                problem = gl.Problem(X, y, **options)
                ours(X, y, options, 1e-3, 1)  # compile
                best = gl.solve(problem, tol=1e-9, max_time=arguments.cap).certificate.dual
                times = {title: reach(problem, best, rival, arguments.cap) for title, rival in rivals(X, y, loss, C)}
                for target in TARGETS:
                    seconds, result = ours(X, y, options, target, 5)
                    reached = {title: found[target] for title, found in times.items() if target in found}
                    winner = min(reached, key=reached.__getitem__, default=None)
                    kind = "dense" if name in DENSE else "sparse"
                    ratio = (reached[winner] if winner else arguments.cap) / seconds
                    ratios.setdefault((kind, target), []).append(ratio)
                    shown = ", ".join(
                        f"{title} {reached[title]:.3g}" if title in reached else f"{title} not reached"
                        for title in times
                    )
                    missed = "" if result.status is gl.Status.CONVERGED else ", not reached"
                    lines.append(
                        f"| {name} | {loss} | {C:g} | {target:g} | {result.solver}{missed} | "
                        f"{result.iterations:.0f} | {seconds:.4f} | {seconds / (one_pass + product):.1f} | {winner or 'none'} | "
                        f"{f'{reached[winner]:.3g}' if winner else f'not in {arguments.cap:g}'} | {'' if winner else '> '}{ratio:.1f} | {shown} |"
                    )
                    print(lines[-1], flush=True)
    lines += [
        "",
        "Geometric mean of the ratio to the best rival on each row (the cap where no rival reaches the gap), and the least:",
        "",
    ]
    for (kind, target), values in sorted(ratios.items()):
        lines.append(f"- {kind}, {target:g}: {np.exp(np.mean(np.log(values))):.1f}, least {min(values):.2f}")
    lines += [
        "",
        "`passes` is our time over that of one X·w and, where X is dense, one XᵀX, measured in the same run.",
        "",
    ]
    write_section(
        f"Linear models, {', '.join(names) if arguments.names else arguments.rows}",
        "\n".join(lines),
        ("gapless", "numba", "numpy", "scikit-learn"),
    )


if __name__ == "__main__":
    main()
