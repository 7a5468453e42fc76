"""The fuzzer: two numbers give a problem's specification, a small dictionary that can be printed, edited and replayed.

``draw(seed, index)`` depends on its two numbers alone. A specification holds parameters and the seed of its data, never the data.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Spec = dict[str, Any]

MARGIN_LOSSES = ("hinge", "squared_hinge", "smoothed_hinge", "logistic")
TUBE_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")
INTERCEPTS = ("free", "regularized", "none")
CONVENTIONS = ("C", "C_mean", "lam_mean", "lam_mean_full", "lam_sum")
WEIGHTS = ("ones", "wide", "tiny", "zero")
ESTIMATORS = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR", "KernelLogisticRegression")
SIMPLE_KERNELS = ("linear", "polynomial", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "matern")
SOLVERS = ("smo", "sdca", "qp", "interior_point", "newton", "coordinate_ascent")
TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
LARGE = 0.004  # the share of problems with hundreds or thousands of samples
UNBOUNDED = 0.01  # the share of small problems without max_time, which the watchdog alone would end


def draw(seed: int, index: int) -> Spec:
    """The specification of problem ``index`` of the campaign ``seed``."""
    rng = np.random.default_rng([seed, index])
    form = _choose(rng, ("problem", "one_class", "nu_classification", "nu_regression", "estimator"), (78, 4, 4, 4, 10))
    spec: Spec = {"seed": int(rng.integers(2**31)), "form": form, **_shape(rng), **_values(rng)}
    spec["tol"] = float(rng.choice(TOLERANCES))
    spec["max_time"] = 0.2 if spec["n"] <= 100 else 3.0
    if spec["n"] <= 100 and rng.random() < UNBOUNDED:
        spec["max_time"] = None
    spec["weights"] = _choose(rng, WEIGHTS, (70, 12, 9, 9))
    spec["kernel"] = _kernel(rng, spec["d"], spec["n"])
    if form == "problem":
        spec |= _problem(rng)
    elif form == "estimator":
        spec |= _estimator(rng, spec)
    else:
        spec |= {"nu": float(rng.choice([0.01, 0.1, 0.3, 0.5, 0.9])), "C": _log_uniform(rng, 1e-4, 1e4)}
    return spec


def _problem(rng: np.random.Generator) -> Spec:
    loss = _choose(rng, (*MARGIN_LOSSES, *TUBE_LOSSES), (30, 16, 12, 14, 16, 12))
    spec: Spec = {"loss": loss, "intercept": _choose(rng, INTERCEPTS, (50, 25, 25))}
    if loss == "smoothed_hinge":
        spec["smoothing"] = float(rng.choice([1e-3, 0.5, 1.0, 7.0]))
    if loss in TUBE_LOSSES:
        spec["epsilon"] = float(rng.choice([0.0, 1e-6, 0.1, 3.0]))
    if spec["intercept"] == "regularized":
        spec["intercept_scale"] = float(rng.choice([1.0, 1.0, 0.1, 30.0]))
    spec["convention"] = str(rng.choice(CONVENTIONS))
    wide = rng.random() < 0.4
    spec["value"] = _log_uniform(rng, 1e-8, 1e8) if wide else _log_uniform(rng, 1e-2, 1e2)
    if loss != "logistic" and rng.random() < 0.1:
        spec |= {"convention": "C", "value": math.inf}
    spec["solver"] = "auto" if rng.random() < 0.85 else str(rng.choice(SOLVERS))
    return spec


def _estimator(rng: np.random.Generator, spec: Spec) -> Spec:
    estimator = str(rng.choice(ESTIMATORS))
    kernel = spec["kernel"] if spec["kernel"][0] in SIMPLE_KERNELS else ["rbf", 0.1, "relative"]
    several = estimator in ("SVC", "NuSVC", "LinearSVC", "KernelLogisticRegression")
    return {
        "estimator": estimator,
        "variant": str(rng.choice(["", "l1", "crammer_singer"])) if estimator == "LinearSVC" else "",
        "kernel": ["linear"] if estimator.startswith("Linear") else kernel,
        "classes": int(rng.integers(2, 5)) if several else 0,
        "C": _log_uniform(rng, 1e-3, 1e3),
        "nu": float(rng.choice([0.05, 0.2, 0.5])),
        "epsilon": float(rng.choice([0.0, 0.1])),
        "n": max(spec["n"], 8),
    }


def _shape(rng: np.random.Generator) -> Spec:
    if rng.random() < LARGE:
        return {"n": int(_log_uniform(rng, 100, 3000)), "d": int(_log_uniform(rng, 1, 200))}
    return {"n": int(_log_uniform(rng, 2, 30)), "d": int(_log_uniform(rng, 1, 12 if rng.random() < 0.97 else 200))}


def _values(rng: np.random.Generator) -> Spec:
    """The parameters by which the numbers in X and y are made."""
    scaling = _choose(rng, ("none", "all", "features"), (50, 25, 25))
    spec: Spec = {"entries": _choose(rng, ("normal", "integers", "sparse"), (70, 15, 15)), "scaling": scaling}
    if scaling == "all":
        spec["scale"] = _log_uniform(rng, 1e-8, 1e8)
    if rng.random() < 0.25:
        spec["offset"] = _log_uniform(rng, 1.0, 1e6)
    if rng.random() < 0.25:
        spec["target_scale"] = _log_uniform(rng, 1e-8, 1e8)
    if rng.random() < 0.15:
        spec["target_offset"] = _log_uniform(rng, 1.0, 1e6)
    for name, share in (("duplicates", 0.15), ("near", 0.12), ("constant", 0.08), ("csr", 0.25), ("float32", 0.2)):
        if rng.random() < share:
            spec[name] = True
    spec["labels"] = _choose(rng, ("linear", "noisy", "random"), (30, 40, 30))
    return spec


def _kernel(rng: np.random.Generator, d: int, n: int) -> list[Any]:
    if rng.random() < 0.35:
        return ["linear"]
    kind = _choose(
        rng,
        ("rbf", "polynomial", "laplacian", "sigmoid", "cosine", "chi2", "matern", "precomputed", "function", "map", "composed"),
        (24, 14, 7, 7, 6, 5, 7, 10, 4, 4, 12),
    )  # fmt: skip
    if kind == "precomputed":
        return [kind, _choose(rng, ("valid", "indefinite", "rounded", "skewed", "asymmetric"), (45, 20, 15, 15, 5))]
    if kind == "composed":
        return _composed(rng)
    return _simple(rng, kind)


def _simple(rng: np.random.Generator, kind: str) -> list[Any]:
    gamma, unit = _log_uniform(rng, 1e-2, 1e1), "relative"
    if rng.random() < 0.2:
        gamma, unit = _log_uniform(rng, 1e-8, 1e8), "absolute"
    coef0 = float(rng.choice([0.0, 1.0, 1.0, 100.0, 1e4]))
    match kind:
        case "polynomial":
            return [kind, gamma, unit, int(rng.integers(1, 6)), coef0]
        case "sigmoid":
            return [kind, gamma, unit, float(rng.choice([0.0, 1.0, -1.0]))]
        case "matern":
            return [kind, gamma, unit, float(rng.choice([0.5, 1.5, 2.5, math.inf]))]
        case "rbf" | "laplacian" | "chi2":
            return [kind, gamma, unit]
        case _:
            return [kind]


def _composed(rng: np.random.Generator) -> list[Any]:
    def part() -> list[Any]:
        return _simple(rng, str(rng.choice(["linear", "rbf", "polynomial", "cosine", "matern"])))

    match str(rng.choice(["sum", "product", "scaled", "power", "exp", "series"])):
        case "sum":
            return ["sum", part(), part()]
        case "product":
            return ["product", part(), part()]
        case "scaled":
            return ["scaled", _log_uniform(rng, 1e-6, 1e6), part()]
        case "power":
            return ["power", int(rng.integers(1, 4)), part()]
        case "exp":
            return ["exp", _simple(rng, str(rng.choice(["rbf", "cosine"])))]
        case _:
            return ["series", [float(v) for v in rng.integers(0, 3, size=3)] + [1.0], part()]


def _choose(rng: np.random.Generator, options: tuple[str, ...], shares: tuple[int, ...]) -> str:
    return str(rng.choice(options, p=np.array(shares) / sum(shares)))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))
