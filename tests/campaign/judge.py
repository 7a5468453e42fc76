"""One problem of the campaign from its specification to a verdict: solve it, then compare certificate and status with the referee's values."""

from __future__ import annotations

import math
import time
import traceback
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from flint import arb, fmpq
from sklearn.exceptions import ConvergenceWarning

import gapless as gl
from tests.campaign.cases import Case, make_case, make_kernel
from tests.campaign.exact_kernels import entries_needed
from tests.campaign.referee import Referee, ShortfallReferee, Statement, certainly_less, rational, rationals
from tests.campaign.rivals import rival_points
from tests.campaign.separation import separates
from tests.campaign.specs import Spec

# Interval operations of a Gram matrix, and rational numbers in X, up to which values are judged (about a tenth of a second); beyond, only the status
# is.
MOST_ENTRIES = 40_000
MOST_NUMBERS = 200_000
# Parts of the warnings, beside those about convergence, that a fit may give: why it is slow, and that the optimum of a ν-form is zero.
ADVICE = (" is slow to converge: after ", "The optimum of NuSVC ", "The optimum of OneClassSVM ")
CLEARLY = 1e-6  # what entries of a Gram matrix are off by, relative to the largest, where rounding explains it no more
OVERRUN = 5.0  # seconds beyond max_time after which a fit counts as late


@dataclass
class Verdict:
    """The outcome of one problem. ``failures`` holds (kind, sentence, size) of each failure."""

    spec: Spec
    status: str = ""
    judged: bool = False
    certificates: int = 0
    seconds: float = 0.0
    failures: list[tuple[str, str, float]] = field(default_factory=list)
    refusal: str = ""

    def fail(self, kind: str, sentence: str, size: float = math.inf) -> None:
        self.failures.append((kind, sentence, size))


def judge(spec: Spec) -> Verdict:
    """Solve a problem and judge the outcome; every exception becomes part of the verdict."""
    verdict = Verdict(spec)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if spec["form"] == "estimator":
                from tests.campaign.estimators import judge_estimator

                judge_estimator(verdict, make_case(spec), caught)
            else:
                _judge_problem(verdict, make_case(spec), caught)
    except Exception:  # a fault of the campaign itself, which has a kind of its own
        verdict.fail("campaign", traceback.format_exc(limit=-4))
    verdict.seconds = time.perf_counter() - began
    return verdict


def leaked(caught: list[warnings.WarningMessage]) -> list[str]:
    """The warnings that no user should see: all but those about convergence, and the one of a fit that goes on and tells why it is slow."""
    strays = [
        w for w in caught
        if not issubclass(w.category, ConvergenceWarning) and not any(words in str(w.message) for words in ADVICE)
    ]  # fmt: skip
    return [f"{w.category.__name__}: {w.message}" for w in strays]


def solve_guarded(verdict: Verdict, caught: list[warnings.WarningMessage], work: Any) -> Any:
    """The result of ``work``, or None where it raised: an error of Gapless is a refusal, any other exception a failure."""
    outcome = None
    try:
        outcome = work()
    except gl.errors.GaplessError as error:
        verdict.refusal = f"{type(error).__name__}: {error}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        verdict.fail("exception", f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})")
    for sentence in leaked(caught):
        verdict.fail("warning", sentence)
    caught.clear()
    return outcome


def _judge_problem(verdict: Verdict, case: Case, caught: list[warnings.WarningMessage]) -> None:
    spec = verdict.spec

    def work() -> Any:
        problem = make_problem(spec, case)
        return gl.solve(problem, spec.get("solver", "auto"), tol=spec["tol"], max_time=spec["max_time"])

    result = solve_guarded(verdict, caught, work)
    if result is None:
        return
    verdict.status, verdict.certificates = result.status.name, 1
    if spec["max_time"] is not None and result.seconds > spec["max_time"] + OVERRUN:
        verdict.fail("late", f"max_time={spec['max_time']:g} took {result.seconds:.1f} s")
    check_status(verdict, result, spec["tol"])
    statement = state(spec, case, result.problem)
    if not in_reach(statement):
        return
    verdict.judged = True
    proven = replace(result.certified, certificate=result.certificate.internal)  # of ½‖w‖² + Σ cξ, as the statement is
    hold(verdict, statement, proven, rival_points(statement) if spec["form"] == "problem" else [])
    if result.status.name == "CONVERGED":
        hold_returned(verdict, statement, result, spec["tol"])


def hold_returned(verdict: Verdict, statement: Statement, result: Any, tol: float) -> None:
    """Fail where the model that a converged result holds is not within tol of the certified dual value by itself."""
    referee = _referee(statement, result.problem)
    weights = result.w if statement.is_linear else result.expansion
    primal, dual = referee.primal(rationals(weights), rationals(result.offsets)), result.certificate.internal.dual
    if primal is None or not math.isfinite(dual):
        verdict.fail(
            "returned", "CONVERGED, but the returned model misses its margin or its tube, or there is no dual bound"
        )
        return
    if certainly_less(rational(tol) * abs(primal), primal - rational(dual)):
        gap = float((arb(primal - rational(dual)) / abs(arb(primal))).mid())
        verdict.fail(
            "returned", f"CONVERGED, but the returned model has the gap {gap:.3g} (tol={tol:g})", gap / tol - 1.0
        )


def make_problem(spec: Spec, case: Case) -> gl.Problem:
    """The problem as a user would state it."""
    kernel = make_kernel(case.kernel, case.gram)
    if spec["form"] == "problem":
        loss = gl.losses.LOSSES[spec["loss"]]
        given = [spec[name] for name in ("smoothing", "epsilon") if name in spec]
        return gl.Problem(
            case.X, case.y, loss=loss(*given), kernel=kernel, intercept=spec["intercept"], sample_weight=case.weight,
            intercept_scale=spec.get("intercept_scale", 1.0), **{spec["convention"]: spec["value"]},
        )  # fmt: skip
    if spec["form"] == "one_class":
        return gl.nu.one_class(case.X, nu=spec["nu"], kernel=kernel, sample_weight=case.weight)
    if spec["form"] == "nu_classification":
        return gl.nu.nu_classification(case.X, case.y, nu=spec["nu"], kernel=kernel, sample_weight=case.weight)
    return gl.nu.nu_regression(case.X, case.y, nu=spec["nu"], C=spec["C"], kernel=kernel, sample_weight=case.weight)


def unit_cost(spec: Spec, total: float) -> float:
    """cᵢ of a sample of weight one, from the table of conventions."""
    value = spec["value"]
    return {
        "C": value,
        "C_mean": value / total,
        "lam_mean": 1 / (value * total),
        "lam_mean_full": 1 / (2 * value * total),
        "lam_sum": 1 / value,
    }[spec["convention"]]


def state(spec: Spec, case: Case, problem: gl.Problem) -> Statement:
    """The problem in plain numbers. Costs and totals are those that Gapless stores in float64; the costs are checked here to rounding."""
    weight = np.ones(len(case.rows)) if case.weight is None else case.weight
    cost = np.asarray(problem.cost)
    if spec["form"] != "problem":
        signs = np.asarray(problem.y)
        rows, gram = case.rows, case.gram
        if spec["form"] == "nu_regression":
            rows = np.vstack([rows, rows])
            gram = None if gram is None else np.tile(gram, (2, 2))
        return Statement(
            rows, signs, cost, "hinge", 0.0, "free", 1.0, case.kernel, gram, np.asarray(problem.groups),
            tuple(float(t) for t in problem.totals),
        )  # fmt: skip
    unit = unit_cost(spec, float(weight.sum()))
    expected = np.where(weight > 0, unit, 0.0) if math.isinf(unit) else unit * weight
    np.testing.assert_allclose(cost, expected, rtol=1e-14)
    y = case.y if "insensitive" in spec["loss"] else np.where(case.y == case.y.max(), 1.0, -1.0)
    parameter = spec.get("smoothing", spec.get("epsilon", 0.0))
    return Statement(
        case.rows, y, cost, spec["loss"], parameter, spec["intercept"], spec.get("intercept_scale", 1.0), case.kernel, case.gram
    )  # fmt: skip


def in_reach(statement: Statement) -> bool:
    """Whether the problem is small enough for the referee's exact arithmetic."""
    n, d = statement.rows.shape
    if statement.is_linear:
        return n * d <= MOST_NUMBERS
    return entries_needed(statement.kernel, n, d) <= MOST_ENTRIES


def check_status(verdict: Verdict, result: Any, tol: float) -> None:
    """Fail where status, certificate and result contradict each other."""
    certificate, status = result.certificate, result.status.name
    values = (certificate.primal, certificate.dual, certificate.relative_gap)
    if any(math.isnan(v) for v in values):
        verdict.fail("contradiction", f"{status} with NaN in the certificate: {certificate}")
    if certificate.gap < 0:
        size = -certificate.gap / max(abs(certificate.primal), 1e-300)
        verdict.fail("negative_gap", f"{status} with dual above primal: {certificate!r}", size)
    if status == "CONVERGED" and not certificate.relative_gap <= tol:
        verdict.fail("contradiction", f"CONVERGED above tol={tol:g}: {certificate}")
    if (
        status not in ("CONVERGED", "STATIONARY", "NOT_SEPARABLE")
        and certificate.relative_gap <= tol
        and certificate.gap >= 0
    ):
        verdict.fail("contradiction", f"{status} though the gap is within tol={tol:g}: {certificate}")
    for name in ("w", "offsets", "beta", "expansion"):
        stored = getattr(result, name)
        if stored is not None and not np.isfinite(stored).all():
            verdict.fail("contradiction", f"{status} with result.{name} not finite")


def hold(verdict: Verdict, statement: Statement, result: Any, rivals: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Compare the certificate of a result with exact values."""
    referee = _referee(statement, result.problem)
    if result.status.name == "NOT_SEPARABLE":
        sentence = separates(referee, rivals)
        if sentence:
            verdict.fail("not_separable", f"NOT_SEPARABLE, but {sentence}")
        return
    weights = result.w if statement.is_linear else result.expansion
    if weights is None or not (
        np.isfinite(weights).all() and np.isfinite(result.offsets).all() and np.isfinite(result.beta).all()
    ):
        return
    hold_values(verdict, referee, result.certificate, (weights, result.offsets), result.beta, rivals)


def _referee(statement: Statement, problem: Any) -> Referee:
    targets = getattr(problem.loss, "target", None)
    return Referee(statement) if targets is None else ShortfallReferee(statement, np.asarray(targets))


def hold_values(
    verdict: Verdict,
    referee: Referee,
    certificate: Any,
    model: tuple[np.ndarray, np.ndarray] | None,
    beta: np.ndarray | None,
    rivals: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    """Compare certificate.primal with the stored model's P and an exact dual value, and certificate.dual with every exact primal value."""
    statement = referee.statement
    points = [("a rival's P is", referee.primal(rationals(w), rationals(b))) for w, b in rivals]
    zero = [fmpq(0)] * (statement.rows.shape[1] if statement.is_linear else len(statement.y))
    points.append(("P at w = 0 is", referee.primal(zero, [fmpq(0)] * len(statement.totals))))
    if model is not None:
        own = referee.primal(*map(rationals, model))
        points.append(("the stored model's P is", own))
        _hold_model(verdict, statement, certificate.primal, model[1], own)
    if statement.is_semidefinite:
        _hold_dual(verdict, certificate.dual, points)
        if beta is not None:
            _hold_primal(verdict, referee, certificate.primal, beta)
    elif statement.kernel[0] == "sigmoid" and certificate.dual > -math.inf:
        sentence = f"a dual value, {certificate.dual!r}, for a kernel that is not positive semi-definite"
        verdict.fail("refuted_dual", sentence)
    elif certificate.dual > -math.inf and beta is not None:
        _hold_indefinite(verdict, statement, beta)


def _hold_indefinite(verdict: Verdict, statement: Statement, beta: np.ndarray) -> None:
    """Fail where the numbers at hand refute a precomputed matrix by more than rounding, and a dual value counts all the same."""
    used = statement.rows[:, 0].astype(int)
    gram = np.asarray(statement.gram, dtype=np.float64)[np.ix_(used, used)] if statement.gram is not None else None
    if gram is None or statement.kernel[0] != "precomputed":
        return
    error = CLEARLY * float(np.abs(gram).max())
    roots = np.sqrt(np.maximum(gram.diagonal(), 0.0) + error)
    if (gram.diagonal() < -error).any() or (np.abs(gram) > np.outer(roots, roots) + error).any():
        verdict.fail("refuted_dual", "a dual value, though a minor of two samples refutes the matrix")
    elif float(beta @ gram @ beta) < -error * float(np.abs(beta).sum()) ** 2:
        verdict.fail("refuted_dual", "a dual value, though βᵀKβ is negative")


def hold_point(verdict: Verdict, certificate: Any, own: Any) -> None:
    """Compare both sides of a certificate with P of the stored model alone."""
    _hold_dual(verdict, certificate.dual, [("the stored model's P is", own)])
    if math.isfinite(certificate.primal) and certainly_less(rational(certificate.primal), own):
        sentence = _told("the stored model's P is", own, "certificate.primal", certificate.primal)
        verdict.fail("model", sentence, _excess(own, certificate.primal))


def _hold_model(verdict: Verdict, statement: Statement, primal: float, offsets: np.ndarray, own: Any) -> None:
    if statement.intercept == "none" and offsets.any():
        verdict.fail("model", f"a problem without an intercept has the offset {offsets}")
    if not math.isfinite(primal):
        return
    if own is None:
        verdict.fail("model", "certificate.primal is finite, but the stored model misses its margin or its tube")
    elif certainly_less(rational(primal), own):
        verdict.fail("model", _told("the stored model's P is", own, "certificate.primal", primal), _excess(own, primal))


def _hold_dual(verdict: Verdict, dual: float, points: list[tuple[str, Any]]) -> None:
    if dual == math.inf:
        verdict.fail("refuted_dual", "certificate.dual is infinite without NOT_SEPARABLE")
    elif math.isfinite(dual):
        for name, value in points:
            if value is not None and certainly_less(value, rational(dual)):
                verdict.fail("refuted_dual", _told(name, value, "certificate.dual", dual), _excess(value, dual))


def _hold_primal(verdict: Verdict, referee: Referee, primal: float, beta: np.ndarray) -> None:
    feasible = referee.feasible(beta)
    if feasible is None or not math.isfinite(primal):
        return
    value = referee.dual(feasible)
    if certainly_less(rational(primal), value):
        sentence = _told("an exact dual value is", value, "certificate.primal", primal)
        verdict.fail("refuted_primal", sentence, _excess(value, primal))


def _told(name: str, value: Any, claim: str, claimed: float) -> str:
    exact = float(value.mid() if isinstance(value, arb) else arb(value).mid())
    return f"{name} {exact!r}, {claim} is {claimed!r}"


def _excess(value: Any, claimed: float) -> float:
    difference = float(abs(arb(value) - arb(claimed)).mid())
    return difference / max(abs(claimed), 1e-300)
