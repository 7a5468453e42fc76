"""Estimators on scikit-learn's toy data sets without scaling: seconds against scikit-learn's, each at its default tol.

    python benchmarks/unscaled.py
    python benchmarks/unscaled.py --data wine,iris --estimators SVC

Fits are in turns; where they are short the median of three counts. A fit of ours ends after ``--limit`` seconds; scikit-learn's has no clock, and
ends after as many iterations as take about as long, so that its time is a lower bound where it warns.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from typing import Any

import numpy as np
import sklearn.svm
from _harness import interleave, write_section
from sklearn import datasets

import gapless
from gapless.errors import GaplessError

COSTS = (1e-2, 1.0, 1e2, 1e4)
KERNELS = ("linear", "poly", "rbf", "sigmoid")
CLASSES = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "moons": lambda return_X_y: datasets.make_moons(300, noise=0.3, random_state=0),
    "circles": lambda return_X_y: datasets.make_circles(300, noise=0.1, factor=0.5, random_state=0),
    "blobs": lambda return_X_y: datasets.make_blobs(300, centers=3, cluster_std=3.0, random_state=0),
    "quantiles": lambda return_X_y: datasets.make_gaussian_quantiles(n_samples=300, n_classes=3, random_state=0),
}
TARGETS = {
    "diabetes": datasets.load_diabetes,
    "linnerud": lambda return_X_y: (datasets.load_linnerud().data, datasets.load_linnerud().target[:, 0]),
}
SHORT = 0.5  # seconds of a fit that is repeated
MOST, SLACK = 1.5, 0.005  # the bound on our time: so many times scikit-learn's, and so many seconds more
ITERATIONS_A_SECOND = 400_000  # iterations of scikit-learn a second on these data


def main() -> None:
    """Measure the estimators and data sets that the options name, and write the section."""
    options = _options()
    rows = []
    for name in options.estimators:
        data = TARGETS if name.endswith("SVR") else CLASSES
        for label, load in data.items():
            if options.data and label not in options.data:
                continue
            X, y = load(return_X_y=True)
            for parameters in _grid(name):
                rows.append(_row(name, label, X, y, parameters, options.limit))
                print(*rows[-1], flush=True)
    write_section("Unscaled data", report(rows), ("gapless", "numpy", "scikit-learn"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="", help="data sets by comma; all if empty")
    parser.add_argument("--estimators", default="SVC,SVR,NuSVC,NuSVR,LinearSVC,LinearSVR,OneClassSVM", help="by comma")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of a fit")
    given = parser.parse_args()
    given.estimators = given.estimators.split(",")
    given.data = given.data.split(",") if given.data else []
    return given


def _grid(name: str) -> list[dict[str, Any]]:
    if name.startswith("Linear"):
        return [{"C": C} for C in COSTS]
    if name == "NuSVC":
        return [{"kernel": kernel, "nu": 0.1} for kernel in KERNELS]
    if name == "OneClassSVM":
        return [{"kernel": kernel} for kernel in KERNELS]
    return [{"kernel": kernel, "C": C} for kernel in KERNELS for C in COSTS]


def _row(name: str, label: str, X: Any, y: Any, parameters: dict[str, Any], limit: float) -> tuple[Any, ...]:
    """(estimator, data, parameters, our seconds, theirs, our gap, whether our fit gave no warning, whether theirs warned, their gap)."""
    last: dict[str, Any] = {}

    def run(module: Any, bound: dict[str, Any]) -> float:
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = getattr(module, name)(**parameters, **bound).fit(X, y)
        last[module.__name__] = model, bool(caught)
        return time.perf_counter() - began

    contenders = {
        "ours": lambda: run(gapless, {"max_time": limit}),
        "theirs": lambda: run(
            sklearn.svm, {"max_iter": int(limit * ITERATIONS_A_SECOND)} if "Linear" not in name else {}
        ),
    }
    measured = interleave(contenders, 1)
    if max(measured["ours"] + measured["theirs"]) < SHORT:
        again = interleave(contenders, 3)
        measured = {side: again[side] for side in measured}
    ours, theirs = (float(np.median(measured[side])) for side in ("ours", "theirs"))
    model, warned = last["gapless"]
    words = ", ".join(f"{key}={value}" for key, value in parameters.items())
    their_model, they_warned = last["sklearn.svm"]
    gap = model.certificate_.relative_gap
    return name, label, words, ours, theirs, gap, not warned, they_warned, _gap_of(their_model, X, y)


def _gap_of(model: Any, X: Any, y: Any) -> float:
    """The certified relative gap of scikit-learn's model; NaN of one that keeps no dual variables."""
    try:
        return gapless.certify(model, X, y).relative_gap
    except GaplessError:
        return math.nan


def report(rows: list[tuple[Any, ...]]) -> str:
    """The text of the section: the mean, then each row that misses the bound on time or ends early."""
    ratios = [ours / theirs for _, _, _, ours, theirs, *_ in rows]
    mean = math.exp(float(np.mean(np.log(ratios))))
    slow = [row for row in rows if row[3] > MOST * row[4] + SLACK]
    early = [row for row in rows if not row[6]]
    told = (
        f"{len(rows)} fits: **{mean:.2f}** of scikit-learn's time in the geometric mean; {len(slow)} take more than 1.5 times as long and 5 ms; "
        f"{len(early)} end with a warning, of scikit-learn's {sum(row[7] for row in rows)}."
    )
    if not slow and not early:
        return told
    lines = [
        told,
        "",
        "| estimator | data | parameters | ours, s | scikit-learn, s | our gap | scikit-learn's gap | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in sorted({*slow, *early}, key=lambda row: row[4] / row[3]):
        name, label, words, ours, theirs, gap, proven, warned, their_gap = row
        remarks = ", ".join(word for word, holds in (("early", not proven), ("theirs early", warned)) if holds)
        lines.append(
            f"| {name} | {label} | {words} | {ours:.4f} | {theirs:.4f} | {gap:.1e} | {_shown(their_gap)} | {remarks} |"
        )
    return "\n".join(lines)


def _shown(gap: float) -> str:
    return "unknown" if math.isnan(gap) else f"{gap:.1e}"


if __name__ == "__main__":
    main()
