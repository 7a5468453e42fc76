"""A fixed short slice of the campaign (``make campaign`` runs the whole), and tests of the referee itself on values known by hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("flint", reason="the exact referee needs python-flint")

from flint import arb, ctx, fmpq

from tests.campaign.cases import make_case, make_kernel
from tests.campaign.exact_kernels import gram_table
from tests.campaign.judge import Verdict, judge
from tests.campaign.referee import Referee, Statement, certainly_less, rational, rationals
from tests.campaign.rivals import rival_points
from tests.campaign.runner import run
from tests.campaign.separation import separates
from tests.campaign.specs import draw
from tests.campaign.summary import KINDS, Summary, table

SLICE, BLOCK = 1200, 100


@pytest.mark.parametrize("first", range(0, SLICE, BLOCK))
def test_slice_of_the_campaign(first: int):
    """No failure of any kind among the first problems of the campaign; a message ends with the argument of ``--replay``."""
    failures = [
        f"{kind} ({size:.1e}): {sentence} --replay '{json.dumps(verdict.spec)}'"
        for verdict in map(judge, (draw(0, index) for index in range(first, first + BLOCK)))
        for kind, sentence, size in verdict.failures
    ]
    assert not failures, "\n".join(failures)


def statement(loss: str = "hinge", **changes: object) -> Statement:
    rows, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    given = {
        "rows": rows,
        "y": y,
        "cost": np.ones(2),
        "loss": loss,
        "parameter": 0.5,
        "intercept": "free",
        "intercept_scale": 1.0,
    }
    return Statement(**{**given, "kernel": ["linear"], **changes})


def test_exact_optimum_by_hand():
    """Two points at distance 1: for a large C the optimum is w = 2, b = −1 with P = D = 2; for C = 1 it is P = D = 3/2."""
    referee = Referee(statement(cost=np.full(2, 10.0)))
    assert referee.primal([fmpq(2)], [fmpq(-1)]) == 2 == referee.dual(rationals([-2.0, 2.0]))
    assert (
        Referee(statement()).dual(rationals([-1.0, 1.0]))
        == fmpq(3, 2)
        == Referee(statement()).primal([fmpq(1)], [fmpq(-1, 2)])
    )


@pytest.mark.parametrize(
    "loss",
    ["hinge", "squared_hinge", "smoothed_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive"],
)
@pytest.mark.parametrize("intercept", ["free", "regularized", "none"])
@pytest.mark.parametrize("kernel", [["linear"], ["rbf", 0.5]])
def test_weak_duality_holds_for_the_referee(loss: str, intercept: str, kernel: list):
    """D ≤ P for random points of both sides, as it must be where both formulas state the same problem."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(6, 2)), np.array([-1.0, 1.0] * 3)
    referee = Referee(
        statement(loss, rows=rows, y=y, cost=rng.random(6), intercept=intercept, intercept_scale=0.5, kernel=kernel)
    )
    for _ in range(20):
        weights = rationals(rng.normal(size=2 if kernel == ["linear"] else 6))
        offset = fmpq(0) if intercept == "none" else rational(rng.normal())
        beta = referee.feasible(rng.normal(size=6))
        assert beta is not None
        assert certainly_less(referee.dual(beta), referee.primal(weights, [offset]))


def test_repair_of_the_sum_is_exact():
    """Where one side of β is lighter by sixteen digits, the repaired sum is exactly zero, and β is in its box."""
    referee = Referee(statement(y=np.array([1.0, -1.0]), cost=np.array([1.0, 1e-16])))
    beta = referee.feasible(np.array([1.0, -1e-16]))
    assert beta is not None and sum(beta, fmpq(0)) == 0
    assert beta[0] == rational(1e-16) == -beta[1]


def test_hard_margin_is_stretched_and_missed():
    hard = Referee(statement(cost=np.full(2, math.inf)))
    assert hard.primal([fmpq(1)], [fmpq(-1, 2)]) == 2  # the margin is ½, and w is stretched twofold
    assert hard.primal([fmpq(-1)], [fmpq(0)]) is None
    assert "separating hyperplane" in separates(hard, [])
    assert separates(Referee(statement(rows=np.zeros((2, 1)), cost=np.full(2, math.inf))), []) == ""


@pytest.mark.parametrize("kernel", [
    ["polynomial", 0.5, 3, 1.0], ["rbf", 0.7], ["laplacian", 0.3], ["sigmoid", 0.2, 0.1], ["cosine"], ["chi2", 0.4],
    ["matern", 0.5, 0.5], ["matern", 0.5, 1.5], ["matern", 0.5, 2.5], ["matern", 0.5, math.inf], ["function"], ["map"],
    ["sum", ["rbf", 0.7], ["linear"]], ["product", ["rbf", 0.7], ["linear"]], ["scaled", 3.0, ["cosine"]],
    ["power", 2, ["linear"]], ["exp", ["cosine"]], ["series", [1.0, 0.0, 2.0], ["cosine"]],
], ids=str)  # fmt: skip
def test_intervals_contain_what_the_kernel_computes(kernel: list):
    """Each interval agrees with the library's float64 entry to rounding: both compute the same kernel."""
    ctx.prec = 256
    rows = np.abs(np.random.default_rng(1).normal(size=(5, 3)))
    rows[3] = rows[0]
    ours = make_kernel(kernel, None)(rows)
    exact = np.array([[float(v.mid()) for v in row] for row in gram_table(kernel, rows, None)])
    np.testing.assert_allclose(ours, exact, rtol=1e-13, atol=1e-15)


def test_gram_of_a_skewed_matrix_covers_both_halves():
    gram = np.array([[1.0, 0.5], [0.25, 1.0]])
    entry = gram_table(["precomputed", "skewed"], np.zeros((2, 1)), gram)[0][1]
    assert entry.contains(arb(0.5)) and entry.contains(arb(0.25))


def test_rivals_are_near_the_optimum():
    for kernel in (["linear"], ["rbf", 1.0]):
        given = statement(cost=np.full(2, 1.0), kernel=kernel)
        ((weights, offsets),) = rival_points(given)
        value = float(arb(Referee(given).primal(rationals(weights), rationals(offsets))).mid())
        assert value == pytest.approx(1.5 if kernel == ["linear"] else 2 - (1 - math.exp(-1)), rel=1e-5)


def test_specifications_are_small_and_repeat():
    """A specification survives JSON, gives the same numbers each time, and the draw reaches every form, loss and kernel."""
    for index in range(50):
        spec = draw(3, index)
        assert spec == draw(3, index) == json.loads(json.dumps(spec))
        first, second = make_case(spec), make_case(spec)
        np.testing.assert_array_equal(first.rows, second.rows)
        np.testing.assert_array_equal(first.y, second.y)
    drawn = [draw(0, index) for index in range(3000)]
    assert len(Counter(spec["form"] for spec in drawn)) == 5
    assert len(Counter(spec.get("loss") for spec in drawn)) == 7
    assert len(Counter(spec["kernel"][0] for spec in drawn)) == 17
    assert {spec["kernel"][1] for spec in drawn if spec["kernel"][0] == "precomputed"} >= {
        "indefinite",
        "asymmetric",
        "skewed",
    }
    assert max(spec["n"] for spec in drawn) > 1000 and math.inf in {spec.get("value") for spec in drawn}


def test_watchdog_tells_crash_and_hang(monkeypatch: pytest.MonkeyPatch):
    """A worker that dies and a worker that hangs give one failed verdict each, and the campaign goes on."""
    from tests.campaign import runner

    monkeypatch.setattr(runner, "_work", _dies_then_hangs)
    monkeypatch.setattr(runner, "HANG", 1.0)
    verdicts = list(run(0, 0, 3, 1))
    kinds = [[kind for kind, _, _ in verdict.failures] for verdict in verdicts]
    assert kinds == [["crash"], ["hang"], []]


def _dies_then_hangs(seed: int, indices: list[int], pipe: object) -> None:
    import os
    import time

    pipe.send(None)
    if indices[0] == 0:
        os.abort()
    if indices[0] == 1:
        time.sleep(600)
    pipe.send(Verdict(draw(seed, indices[0])))


def test_summary_counts_and_keeps_the_worst(tmp_path: Path):
    summary = Summary(seed=0)
    for index, size in enumerate([1e-16, 1e-3, math.inf]):
        verdict = Verdict(draw(0, index), status="CONVERGED", judged=True, certificates=1)
        verdict.fail("refuted_dual", "told", size)
        summary.add(verdict)
    summary.write(tmp_path)
    stored = json.loads((tmp_path / "summary.json").read_text())
    assert stored["failures"] == {"refuted_dual": 3} and stored["beyond_rounding"] == {"refuted_dual": 2}
    assert [case["size"] for case in stored["worst"]["refuted_dual"]] == [None, 1e-3, 1e-16]
    assert f"| {KINDS['refuted_dual']} | 3 | 2 |" in table(stored)
