"""The rows of ``sizes.py``: which option of which estimator meets which kind of data, at which size.

The full product of options, kinds and sizes would take days. The rows are a Latin square instead: each option meets each kind of data once, and the
size moves on by one with the option and by two with the kind, so that every option, and every kind, is there at all sizes. Stored data sets end at as
many samples as they have, and estimators that hold the n × n kernel matrix go to 6,000.
"""

from __future__ import annotations

from typing import Any, NamedTuple

SIZES = (500, 2_500, 6_000, 12_000, 30_000)
CLASSES = ("easy", "noisy", "discrete", "heavy", "wide", "classes", "a9a", "covtype")
BALANCED = ("easy", "noisy", "discrete", "wide", "classes", "letter")
"""Kinds with classes of similar sizes, since ν is bounded by the smallest class of every pair. Where ν/2 is below the share of samples on the wrong
side of the best border, the optimum of NuSVC is zero, and there is no model: heavy tails are left out for that."""
TARGETS = ("friedman", "heavy targets", "discrete targets", "wide targets", "cadata", "cpusmall")
ONE_CLASS = ("easy", "noisy", "discrete", "heavy", "wide", "a9a")
MATRIX = 6_000
"""The most samples where the n × n kernel matrix is held."""
WEIGHTED = "weighted"
"""An option of a row that is no parameter: the fit gets sample weights."""


class Row(NamedTuple):
    """A fit: of an estimator with options, of n samples of a kind of data."""

    estimator: str
    options: tuple[tuple[str, Any], ...]
    kind: str
    n: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return {name: value for name, value in self.options if name != WEIGHTED}

    @property
    def weighted(self) -> bool:
        """Whether the fit gets sample weights."""
        return (WEIGHTED, True) in self.options

    @property
    def words(self) -> str:
        """The options in a table."""
        return ", ".join(name if name == WEIGHTED else f"{name}={value}" for name, value in self.options) or "default"

    def __str__(self) -> str:
        return f"{self.estimator}({self.words}) on {self.n:,} {self.kind}"


OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "SVC": (
        {}, {"C": 100.0}, {"kernel": "linear"}, {"kernel": "linear", "C": 100.0}, {"kernel": "poly"},
        {"C": 10.0, "class_weight": "balanced"}, {WEIGHTED: True},
    ),
    "NuSVC": ({}, {"nu": 0.1}, {"kernel": "poly"}, {"nu": 0.6, "kernel": "linear"}),
    "SVR": ({}, {"C": 100.0}, {"kernel": "linear"}, {"kernel": "poly"}, {"C": 10.0, WEIGHTED: True}),
    "NuSVR": ({}, {"C": 100.0, "nu": 0.2}, {"kernel": "linear"}, {"kernel": "poly", "nu": 0.8}),
    "OneClassSVM": ({"nu": 0.1}, {"nu": 0.3}, {"nu": 0.5, "kernel": "linear"}),
    "LinearSVC": (
        {}, {"loss": "hinge"}, {"penalty": "l1"}, {"loss": "hinge", "C": 100.0}, {"C": 10.0, "class_weight": "balanced"},
        {"multi_class": "crammer_singer"}, {"fit_intercept": False, WEIGHTED: True},
    ),
    "LinearSVR": ({}, {"loss": "squared_epsilon_insensitive"}, {"C": 100.0}, {"fit_intercept": False, WEIGHTED: True}),
    "KernelLogisticRegression": ({}, {"C": 100.0, "class_weight": "balanced"}),
    "KernelPerceptron": ({"form": "averaged", "max_iter": 10},),
    "KernelFisherDiscriminant": ({},),
}  # fmt: skip
"""The options of each estimator; all else is the default."""
KINDS = {
    "SVC": CLASSES, "NuSVC": BALANCED, "SVR": TARGETS, "NuSVR": TARGETS, "OneClassSVM": ONE_CLASS, "LinearSVC": CLASSES, "LinearSVR": TARGETS,
    "KernelLogisticRegression": CLASSES, "KernelPerceptron": CLASSES, "KernelFisherDiscriminant": CLASSES,
}  # fmt: skip
"""The kinds of data that each estimator meets."""
NO_PROBLEM = (
    ("NuSVC", {"nu": 0.1}, "discrete"),
    ("NuSVC", {"nu": 0.6, "kernel": "linear"}, "noisy"),
    *(("OneClassSVM", {"nu": 0.5, "kernel": "linear"}, kind) for kind in ("easy", "noisy", "heavy", "wide")),
)
"""What is left out since its optimum is zero: the same of NuSVC, and half of the samples around the origin of a one-class machine's own features."""
WITH_MATRIX = ("KernelLogisticRegression", "KernelPerceptron", "KernelFisherDiscriminant")
"""Estimators that stop at ``MATRIX`` samples; the perceptron does since its reference holds the matrix."""


def rows(most: dict[str, int]) -> list[Row]:
    """All rows; ``most`` are the samples that stored kinds have."""
    found, turn = [], 0
    for estimator, options in OPTIONS.items():
        sizes = [n for n in SIZES if n <= MATRIX] if estimator in WITH_MATRIX else SIZES
        for given in options:
            for place, kind in enumerate(KINDS[estimator]):
                if (estimator, given, kind) in NO_PROBLEM:
                    continue
                n = min(sizes[(turn + 2 * place) % len(sizes)], most.get(kind, SIZES[-1]))
                found.append(Row(estimator, tuple(given.items()), kind, n))
            turn += 1
    return found
