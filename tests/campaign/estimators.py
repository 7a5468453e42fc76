"""Estimators against the referee: their certificates, their models by their public attributes, and scikit-learn's models as rivals."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning

import gapless as gl
from tests.campaign.cases import Case, make_kernel
from tests.campaign.judge import Verdict, hold_point, hold_values, in_reach, solve_guarded
from tests.campaign.other_machines import primal_value
from tests.campaign.referee import Referee, ShortfallReferee, Statement
from tests.campaign.rivals import MOST_SAMPLES, Point, float_gram
from tests.campaign.specs import Spec


@dataclass(frozen=True)
class Part:
    """One subproblem of an estimator: its statement, its targets in a ν-form, the estimator's own model, and scikit-learn's models."""

    statement: Statement
    targets: np.ndarray | None
    own: Point | None
    rivals: list[Point]


def judge_estimator(verdict: Verdict, case: Case, caught: list[warnings.WarningMessage]) -> None:
    """Fit, then compare every certificate of the fit with exact values of its subproblem."""
    spec = verdict.spec
    warned: list[bool] = []

    def work() -> Any:
        model = getattr(gl, spec["estimator"])(**_options(spec, case), tol=spec["tol"], max_time=spec["max_time"])
        model.fit(case.X, *([] if spec["estimator"] == "OneClassSVM" else [case.y]), sample_weight=case.weight)
        warned.append(any(issubclass(w.category, ConvergenceWarning) for w in caught))
        return model

    model = solve_guarded(verdict, caught, work)
    if model is None:
        return
    certificates = model.certificates_
    verdict.status, verdict.certificates = "WARNED" if warned[0] else "FITTED", len(certificates)
    of_nu = spec["estimator"] in (
        "NuSVC",
        "OneClassSVM",
        "NuSVR",
    )  # a ν-SVR's optimum is zero where all targets are zero
    if not of_nu:
        _check_warning(verdict, certificates, warned[0], spec)
    if spec.get("variant") or (spec["estimator"] == "KernelLogisticRegression" and len(model.classes_) > 2):
        _judge_other(verdict, case, model, certificates)
        return
    parts = list(_parts(spec, case, model))
    if len(parts) != len(certificates):
        verdict.fail("contradiction", f"{len(certificates)} certificates for {len(parts)} subproblems")
        return
    # Entries of which the referee knows no digit (Matérn's between equal rows of huge numbers) tell nothing of an optimum of zero.
    if of_nu and all(in_reach(part.statement) and np.isfinite(float_gram(part.statement)).all() for part in parts):
        zeros = [
            _is_zero(part, certificate, spec["tol"]) for part, certificate in zip(parts, certificates, strict=True)
        ]
        _check_warning(verdict, certificates, warned[0], spec, zeros)
    for part, certificate in zip(parts, certificates, strict=True):
        if not in_reach(part.statement):
            continue
        verdict.judged = True
        referee = Referee(part.statement) if part.targets is None else ShortfallReferee(part.statement, part.targets)
        own = part.own if part.own is not None and all(np.isfinite(v).all() for v in part.own) else None
        hold_values(verdict, referee, certificate, own, None, part.rivals)


def _judge_other(verdict: Verdict, case: Case, model: Any, certificates: list[Any]) -> None:
    """For a machine with an objective of its own: compare its one certificate with P of the model."""
    if len(certificates) != 1 or case.rows.size > 20_000 or len(case.rows) > 100:
        return
    value = primal_value(verdict.spec, case, model)
    if value is None:
        return
    verdict.judged = True
    hold_point(verdict, certificates[0], value)


def _is_zero(part: Part, certificate: Any, tol: float) -> bool:
    """Whether the certificate of a ν-form proves that its optimum is zero, as the pages of NuSVC and OneClassSVM define it.

    No gap is small relative to such an optimum.
    """
    used = part.statement.cost > 0
    if part.targets is not None and part.targets[used].any():
        return False
    K = float_gram(part.statement)[np.ix_(used, used)]
    square = float(K.diagonal().mean()) - (0.0 if len(part.statement.totals) == 1 else float(K.mean()))
    share = 1e-6 if certificate.gap < -certificate.dual else min(max(0.1 * tol, 1e-6), 1e-4)
    size = share * float(np.abs(part.statement.totals).sum())
    bound = 0.5 * size**2 * max(0.0, square) * (1 + 1e-6)
    return bool(max(certificate.gap, -certificate.dual) <= bound)


def _check_warning(
    verdict: Verdict, certificates: list[Any], warned: bool, spec: Spec, zeros: list[bool] | None = None
) -> None:
    """A fit must warn exactly where a certificate is not within tol; that of a ν-form whose optimum is zero (``zeros``) counts as within."""
    tol = spec["tol"]
    if spec.get("variant") == "l1":  # the page of LinearSVC states this tol for the l1 penalty
        tol = min(tol, max(tol**2, 1e-10))
    if spec["kernel"][0] == "sigmoid":  # the kernel is not positive semi-definite, and there is no dual bound
        return
    for certificate in certificates:
        if math.isnan(certificate.relative_gap) or certificate.gap < 0:
            size = -certificate.gap / max(abs(certificate.primal), 1e-300)
            verdict.fail("negative_gap", f"{spec['estimator']}: {certificate!r}", size)
    zeros = [False] * len(certificates) if zeros is None else zeros
    beyond = [c for c, zero in zip(certificates, zeros, strict=True) if not zero and not c.relative_gap <= tol]
    within = not beyond
    if not warned and not within:
        worst = max(c.relative_gap for c in beyond)
        verdict.fail(
            "contradiction", f"{spec['estimator']} fitted without a warning, its worst gap is {worst:.3g} (tol={tol:g})"
        )
    if warned and within and all(not c.kkt_violation > tol for c in certificates):
        verdict.fail("contradiction", f"{spec['estimator']} warns, though every certificate is within tol={tol:g}")


def _options(spec: Spec, case: Case) -> dict[str, Any]:
    name = spec["estimator"]
    options: dict[str, Any] = {} if name.startswith("Linear") else {"kernel": make_kernel(case.kernel, None)}
    if name not in ("NuSVC", "OneClassSVM"):
        options["C"] = spec["C"]
    if spec.get("variant") == "l1":
        options |= {"penalty": "l1", "dual": False}
    elif spec.get("variant"):
        options["multi_class"] = spec["variant"]
    if name in ("NuSVC", "NuSVR", "OneClassSVM"):
        options["nu"] = spec["nu"]
    if name in ("SVR", "LinearSVR"):
        options["epsilon"] = spec["epsilon"]
    return options


def _parts(spec: Spec, case: Case, model: Any) -> Iterator[Part]:
    weight = np.ones(len(case.rows)) if case.weight is None else case.weight
    name = spec["estimator"]
    if name.startswith("Linear"):
        yield from _linear_parts(spec, case, model, weight)
    elif name in ("SVC", "NuSVC"):
        binary = len(model.classes_) == 2
        for low, high in combinations(range(len(model.classes_)), 2):
            labels = model.classes_[[low, high]]
            used = np.flatnonzero(np.isin(case.y, labels) & (weight > 0))
            own = _expansion(model, len(case.y)) if binary and name == "SVC" else None
            own = None if own is None else (own[0][used], own[1])
            y = np.where(case.y[used] == labels[1], 1.0, -1.0)
            yield (_pair if name == "SVC" else _nu_pair)(spec, case, used, y, weight[used], own)
    elif name == "KernelLogisticRegression":
        y = np.where(case.y == model.classes_[1], 1.0, -1.0)
        statement = Statement(case.rows, y, spec["C"] * weight, "logistic", 0.0, "free", 1.0, case.kernel)
        yield Part(statement, None, _as_weights(statement, _expansion(model, len(y))), [])
    elif name == "SVR":
        statement = Statement(
            case.rows, case.y, spec["C"] * weight, "epsilon_insensitive", spec["epsilon"], "free", 1.0, case.kernel
        )
        rival = _fit(
            statement,
            sklearn.svm.SVR(C=spec["C"], epsilon=spec["epsilon"], kernel="precomputed", tol=1e-8, max_iter=20_000),
            weight,
        )
        own = _as_weights(statement, _expansion(model, len(case.y)))
        yield Part(statement, None, own, [] if rival is None else [rival])
    elif name == "OneClassSVM":
        yield _one_class(spec, case, weight, model)
    else:
        yield _nu_regression(spec, case, weight, model)


def _linear_parts(spec: Spec, case: Case, model: Any, weight: np.ndarray) -> Iterator[Part]:
    coef, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    if spec["estimator"] == "LinearSVR":
        statement = Statement(
            case.rows,
            case.y,
            spec["C"] * weight,
            "epsilon_insensitive",
            spec["epsilon"],
            "regularized",
            1.0,
            ["linear"],
        )
        yield Part(statement, None, (coef[0], b[:1]), [])
        return
    labels = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    for k, label in enumerate(labels):
        y = np.where(case.y == label, 1.0, -1.0)
        statement = Statement(case.rows, y, spec["C"] * weight, "squared_hinge", 0.0, "regularized", 1.0, ["linear"])
        yield Part(statement, None, (coef[k], b[k : k + 1]), [])


def _pair(spec: Spec, case: Case, used: np.ndarray, y: np.ndarray, weight: np.ndarray, own: Point | None) -> Part:
    statement = Statement(case.rows[used], y, spec["C"] * weight, "hinge", 0.0, "free", 1.0, case.kernel)
    rival = _fit(statement, sklearn.svm.SVC(C=spec["C"], kernel="precomputed", tol=1e-8, max_iter=20_000), weight)
    return Part(statement, None, _as_weights(statement, own), [] if rival is None else [rival])


def _nu_pair(spec: Spec, case: Case, used: np.ndarray, y: np.ndarray, weight: np.ndarray, own: Point | None) -> Part:
    half = _reachable(_reachable(0.5 * spec["nu"] * float(weight.sum()), weight[y > 0]), weight[y < 0])
    groups = (y < 0).astype(int)
    statement = Statement(
        case.rows[used], y, weight, "hinge", 0.0, "free", 1.0, case.kernel, None, groups, (half, -half)
    )
    rival = _fit(statement, sklearn.svm.NuSVC(nu=spec["nu"], kernel="precomputed", tol=1e-8, max_iter=20_000), weight)
    rivals = []
    if rival is not None and np.abs(rival[0]).sum() > 0 and statement.is_linear is False:
        scale = 2 * half / float(np.abs(rival[0]).sum())  # LIBSVM divides its model by ρ, so that ρ = 1; this undoes it
        b = float(rival[1][0])
        rivals.append((scale * rival[0], scale * np.array([b - 1, b + 1])))
    return Part(statement, np.zeros(len(y)), None, rivals)


def _one_class(spec: Spec, case: Case, weight: np.ndarray, model: Any) -> Part:
    total = (_reachable(spec["nu"] * float(weight.sum()), weight),)
    ones = np.ones(len(case.rows))
    statement = Statement(
        case.rows, ones, weight, "hinge", 0.0, "free", 1.0, case.kernel, None, np.zeros(len(ones), dtype=int), total
    )
    rival = _fit(
        statement, sklearn.svm.OneClassSVM(nu=spec["nu"], kernel="precomputed", tol=1e-8, max_iter=20_000), weight
    )
    return Part(
        statement,
        np.zeros(len(ones)),
        _as_weights(statement, _expansion(model, len(ones))),
        [] if rival is None else [rival],
    )


def _nu_regression(spec: Spec, case: Case, weight: np.ndarray, model: Any) -> Part:
    n = len(case.y)
    half = 0.5 * spec["C"] * spec["nu"] * float(weight.sum())
    signs, groups = np.repeat([1.0, -1.0], n), np.repeat([0, 1], n)
    cost, rows = spec["C"] * np.tile(weight, 2), np.vstack([case.rows, case.rows])
    statement = Statement(rows, signs, cost, "hinge", 0.0, "free", 1.0, case.kernel, None, groups, (half, -half))
    once = Statement(case.rows, case.y, spec["C"] * weight, "epsilon_insensitive", 0.0, "free", 1.0, case.kernel)
    rivals = []
    theirs = _fit(
        once, sklearn.svm.NuSVR(C=spec["C"], nu=spec["nu"], kernel="precomputed", tol=1e-8, max_iter=20_000), weight
    )
    if theirs is not None and not once.is_linear:
        f = _decisions(once, theirs[0]) + theirs[1][0]
        residual = np.abs(case.y - f)[weight > 0]
        if np.isfinite(residual).all():
            epsilon = float(np.quantile(residual, 1 - spec["nu"]))  # a good ε; every ε gives a primal point
            b = float(theirs[1][0])
            rivals.append((np.append(theirs[0], np.zeros(n)), np.array([b + epsilon, b - epsilon])))
    return Part(statement, np.tile(case.y, 2), None, rivals)


def _reachable(total: float, box: np.ndarray) -> float:
    """The total of a ν-form, rounded down to a float64 where the exact sum of the box is less than it."""
    exact = sum(map(Fraction, box.tolist()), Fraction(0))
    total = min(total, float(exact))
    return total if Fraction(total) <= exact else math.nextafter(total, 0.0)


def _expansion(model: Any, n: int) -> Point:
    """(coefficients of all n samples, intercept) of a fitted kernel estimator, by its public attributes."""
    expansion = np.zeros(n)
    coefficients = model.dual_coef_
    coefficients = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    expansion[model.support_] = np.ravel(coefficients)
    return expansion, np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))


def _as_weights(statement: Statement, point: Point | None) -> Point | None:
    """The point for a kernel; None for a linear statement, whose w would be rounded once more and so be another model."""
    return None if statement.is_linear else point


def _decisions(statement: Statement, expansion: np.ndarray) -> np.ndarray:
    return float_gram(statement) @ expansion


def _fit(statement: Statement, model: Any, weight: np.ndarray) -> Point | None:
    """The point of scikit-learn's model on the Gram matrix; None where the problem is large or the fit fails."""
    if len(statement.y) > MOST_SAMPLES or not in_reach(statement):
        return None
    K = float_gram(statement)
    if not np.isfinite(K).all():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(K, statement.y, sample_weight=weight)
        except (ValueError, ArithmeticError):
            return None
    point = _expansion(model, len(statement.y))
    if not (np.isfinite(point[0]).all() and np.isfinite(point[1]).all()):
        return None
    return (statement.rows.T @ point[0], point[1]) if statement.is_linear else point
