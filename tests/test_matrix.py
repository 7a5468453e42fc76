"""Solvers × problems × storages: what every solver reports is proven again, and all agree. No tolerance is chosen for a solver.

Solvers come from the registry and problems from the catalogue, so that a newcomer of either kind is tested unasked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import gapless as gl
from gapless.errors import UnsupportedError
from tests.sample_problems import CATALOGUE, STORAGES, Entry

SOLVERS = [*gl.solvers.SOLVERS, "auto"]
# Work is bounded by iterations in the solver's own unit, never by seconds.
BOUND = {"epochs": 500, "steps": 500, "pairs": 20_000, "calls": 1}
TOL = 1e-6
# These follow gradients of the primal or plain ones of the dual, whose rates do not promise TOL within the bound; all others must reach it.
FIRST_ORDER = {"subgradient", "sgd", "pegasos", "projected_gradient"}
# What summing up some hundred terms in another order changes, relative to their size.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Run:
    solver: str
    storage: str
    found: gl.Result  # as the solver left it

    @property
    def result(self) -> gl.Result:
        """With the certificate's own point, whose values it proves, in the scaling of the reference."""
        return replace(self.found.certified, certificate=self.found.certificate.internal)

    def __str__(self) -> str:
        return f"{self.solver} on {self.storage}: {self.result.status.name}, {self.result.certificate}"


def solver_for(name: str, problem: gl.Problem) -> gl.solvers.Solver:
    return gl.solvers.as_solver(name, problem)


@cache
def runs_of(entry: Entry) -> list[Run]:
    runs = []
    for storage in STORAGES:
        problem = entry.problem(storage)
        for name in SOLVERS:
            solver = solver_for(name, problem)
            if solver.unsupported(problem) is None:
                result = gl.solve(problem, name, tol=TOL, max_iter=BOUND[solver.unit])
                runs.append(Run(name, storage, result))
    return runs


# The scope lets pytest run all tests of one entry before the next entry's, so that a worker solves it once.
@pytest.fixture(scope="module", params=list(CATALOGUE), ids=str)
def entry(request: Any) -> Entry:
    return CATALOGUE[request.param]


@pytest.fixture
def runs(entry: Entry) -> list[Run]:
    return runs_of(entry)


def size(certificate: gl.Certificate) -> float:
    """What rounding is relative to: the larger finite bound."""
    finite = [abs(v) for v in (certificate.primal, certificate.dual) if math.isfinite(v)]
    return max(finite, default=0.0)


def rounding_of(entry: Entry, run: Run) -> float:
    result = run.result
    f_rounding = entry.reference(run.storage).rounding(result.w, result.expansion, result.b)
    return max(ROUNDING * size(result.certificate), 100 * f_rounding)


def test_the_catalogue_covers_what_it_should():
    problems = [entry.problem() for entry in CATALOGUE.values()]
    assert len(problems) >= 30
    assert all(problem.n_samples <= 300 for problem in problems)
    for is_linear in (True, False):
        combinations = {(p.loss.name, p.intercept) for p in problems if p.is_linear == is_linear}
        assert {loss for loss, _ in combinations} == set(gl.losses.LOSSES)
        assert {intercept for _, intercept in combinations} == {"free", "regularized", "none"}
    assert {(p.loss.name, p.intercept) for p in problems} == {
        (loss, intercept) for loss in gl.losses.LOSSES for intercept in ("free", "regularized", "none")
    }
    assert {p.convention for p in problems} == {"C", "C_mean", "lam_mean", "lam_mean_full", "lam_sum"}


def test_the_certificate_is_the_recomputed_one(entry: Entry, runs: list[Run]):
    for run in runs:
        certificate, again = run.found.certificate, gl.certify(entry.problem(run.storage), run.found)
        rounding = rounding_of(entry, run) + certificate.rounding  # which certify may have fewer of
        if not entry.easy and again.primal < certificate.primal:
            # The best multiple of the certified β is looked for anew: far from the optimum, one rounding of such a β may make a better P. What was
            # stated is P of the stated point.
            own = certificate.point
            stated = gl.Point(own.beta if own.expansion is None else own.expansion, own.w, offsets=own.offsets)
            found = gl.certify(entry.problem(run.storage), stated)
            assert found.primal == pytest.approx(certificate.primal, rel=ROUNDING, abs=rounding + found.rounding), run
        else:
            assert again.primal == pytest.approx(certificate.primal, rel=ROUNDING, abs=rounding), run
        assert again.dual == pytest.approx(certificate.dual, rel=ROUNDING, abs=rounding), run


def test_the_certificate_is_the_naive_one(entry: Entry, runs: list[Run]):
    for run in runs:
        result, naive = run.result, entry.reference(run.storage)
        rounding = rounding_of(entry, run)
        primal = naive.primal(result.w, result.expansion, result.b)
        slack = rounding + result.certificate.rounding  # by which the certificate's values are rounded outwards
        if math.isfinite(result.certificate.primal):
            assert primal == pytest.approx(result.certificate.primal, rel=ROUNDING, abs=slack), run
        if math.isfinite(result.certificate.dual):
            assert naive.dual(result.beta) == pytest.approx(result.certificate.dual, rel=ROUNDING, abs=slack), run


def test_results_and_traces_are_the_iterates_own(entry: Entry, runs: list[Run]):
    for run in runs:
        found, naive = run.found, entry.reference(run.storage)
        scale = found.problem.scale
        if found.problem.is_hard or found.status is gl.Status.INTERRUPTED:
            continue  # an iterate misses the margin, by a little or by much
        rounding = scale * rounding_of(entry, run)
        primal = scale * naive.primal(found.w, found.expansion, found.b)
        slack = rounding + ROUNDING * abs(primal)
        # The sub-gradient method returns its best iterate, the others their last.
        own = min(found.trace.primal) if found.solver == "subgradient" else found.trace.primal[-1]
        if found.status is gl.Status.CONVERGED:  # by the certificate's point, if not by the iterate
            assert primal - found.certificate.dual <= TOL * abs(primal) + slack, run
            if not found.trace.primal[-1] - found.trace.dual[-1] <= TOL * abs(found.trace.primal[-1]):
                assert abs(primal - found.certificate.primal) <= slack + found.certificate.rounding, run
                continue
        assert primal <= own + slack if found.solver == "subgradient" else abs(primal - own) <= slack, run
        if math.isfinite(found.trace.dual[-1]) and found.solver != "subgradient":
            dual = scale * naive.dual(found.beta)
            assert abs(found.trace.dual[-1] - dual) <= rounding + ROUNDING * abs(dual), run


def test_the_free_intercept_is_the_best_one(entry: Entry, runs: list[Run]):
    for run in runs:
        result, naive = run.result, entry.reference(run.storage)
        if naive.intercept != "free" or not math.isfinite(result.certificate.primal):
            continue
        f = naive.decisions(result.w, result.expansion)
        step = 1e-3 * (1.0 + np.abs(f).max())
        least = naive.primal(result.w, result.expansion, result.b)
        for other in (result.b - step, result.b + step):  # P is convex in b: neighbours decide
            assert naive.primal(result.w, result.expansion, other) >= least - rounding_of(entry, run), run


def test_no_dual_value_exceeds_a_primal_value(runs: list[Run]):
    for run in runs:
        assert run.result.certificate.gap >= -1e-10 * size(run.result.certificate), run


def test_dual_variables_are_feasible(entry: Entry, runs: list[Run]):
    for run in runs:
        naive, beta = entry.reference(run.storage), run.result.beta
        lower, upper = naive.box()
        assert (beta >= lower).all() and (beta <= upper).all(), run
        if naive.intercept == "free":
            assert abs(math.fsum(beta)) <= 1e-14 * len(beta) * np.abs(beta).max(), run


def test_all_solvers_and_storages_agree_within_their_gaps(runs: list[Run]):
    for group in ([r for r in runs if r.storage != "float32"], [r for r in runs if r.storage == "float32"]):
        bounded = [run for run in group if math.isfinite(run.result.certificate.gap)]
        for a in bounded:
            for b in bounded:
                p, q = a.result.certificate, b.result.certificate
                rounding = 1e-10 * max(size(p), size(q))
                assert abs(p.primal - q.primal) <= max(0.0, p.gap) + max(0.0, q.gap) + rounding, f"{a}\n{b}"
                # Sharper: P* lies between every dual and every primal value.
                assert p.dual <= q.primal + rounding, f"{a}\n{b}"


def test_dual_methods_converge_where_it_is_easy(entry: Entry, runs: list[Run]):
    if entry.easy:
        missed = [
            str(run) for run in runs if run.solver not in FIRST_ORDER and run.result.status is not gl.Status.CONVERGED
        ]
        assert not missed


def test_the_best_bounds_seen_are_the_ones_reported(runs: list[Run]):
    for run in runs:
        trace, certificate = run.found.trace, run.found.certificate
        primal, dual = trace.best_primal, trace.best_dual
        assert (primal[1:] <= primal[:-1]).all() and (dual[1:] >= dual[:-1]).all(), run
        if (
            run.result.status is not gl.Status.STATIONARY
        ):  # no dual bounds it: the stationary point counts, not the best
            assert certificate.primal <= primal[-1] and certificate.dual >= dual[-1], run


@pytest.mark.parametrize("name", SOLVERS)
def test_a_refusal_is_a_sentence_with_a_way_out(name: str):
    for entry in CATALOGUE.values():
        problem = entry.problem()
        reason = solver_for(name, problem).unsupported(problem)
        if reason is not None:
            assert reason.startswith(name) and reason.endswith(".") and "use solver='" in reason
            with pytest.raises(UnsupportedError) as caught:
                gl.solve(problem, name)
            assert str(caught.value) == reason
