"""Several solvers on one problem."""

from __future__ import annotations

import json
import math
import re
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import gapless as gl
from gapless.compare import Comparison, ComparisonInterrupted, Row, score
from gapless.errors import InvalidInputError
from gapless.plot import ConvergenceDisplay, GapDisplay
from gapless.solvers import QP, SDCA, SOLVERS, ProjectedGradient


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    return gl.Problem(
        X, np.where(X[:, 0] + 0.3 * rng.normal(size=50) > 0, "up", "down"), lam_mean=0.1, intercept="regularized"
    )


@pytest.fixture(scope="module")
def comparison(problem):
    return gl.compare(
        problem, ["sdca", QP(form="primal"), ProjectedGradient(acceleration=True), "pegasos"], max_iter=3000
    )


def test_results_by_name_with_the_options_that_differ(comparison):
    assert list(comparison.results) == [
        "sdca", "qp (form='primal')", "projected_gradient (acceleration=True)", "pegasos"
    ]  # fmt: skip
    assert isinstance(comparison, Comparison) and not comparison.refused


def test_rows_tell_what_the_results_hold(problem, comparison):
    row = comparison.rows()[0]
    result = comparison.results["sdca"]
    assert isinstance(row, Row)
    point = result.certificate.point
    slack = np.maximum(0.0, 1.0 - problem.y * (problem.X @ point.w + point.b))
    assert row.primal == pytest.approx(0.05 * (point.w @ point.w + point.b**2) + slack.mean(), rel=1e-12)
    assert (row.primal, row.dual) == (result.certificate.primal, result.certificate.dual)
    assert (row.relative_gap, row.iterations, row.seconds) == (
        result.certificate.relative_gap, result.iterations, result.seconds
    )  # fmt: skip
    assert (row.unit, row.status) == ("epochs", "CONVERGED")
    assert row.score == np.mean(result.predict(problem.X) == problem.classes[(problem.y > 0).astype(int)])


def test_table_is_aligned_and_complete(comparison):
    lines = comparison.table().splitlines()
    assert lines[0].split() == ["solver", "epochs", "seconds", "primal", "dual", "relative", "gap", "accuracy"]
    assert len({len(line) for line in lines}) == 1
    assert lines[2].startswith("qp (form='primal')") and "1 call " in lines[2]
    assert str(comparison) == comparison.table()


def test_disagreement_is_within_the_tolerance_and_skips_the_unconverged(comparison):
    certificates = [r.certificate for n, r in comparison.results.items() if n != "pegasos"]
    primal, dual = [c.primal for c in certificates], [c.dual for c in certificates]
    expected = max(max(primal) - min(primal), max(dual) - min(dual)) / max(primal)
    assert comparison.results["pegasos"].status is gl.Status.MAX_ITER
    assert comparison.disagreement() == pytest.approx(expected, rel=1e-9) and 0 < expected <= 1e-6


def test_disagreement_needs_two(problem):
    assert math.isnan(gl.compare(problem, ["sdca"]).disagreement())


def test_all_solvers_by_default_and_the_refusals_as_sentences():
    problem = gl.Problem([[0.0], [1.0], [2.0]], [0, 0, 1])
    comparison = gl.compare(problem, max_iter=20)
    assert set(comparison.results) | set(comparison.refused) == set(SOLVERS)
    assert set(comparison.refused) == {name for name, solver in SOLVERS.items() if solver().unsupported(problem)} >= {
        "pegasos", "projected_gradient", "coordinate_ascent"
    }  # fmt: skip
    for name, sentence in comparison.refused.items():
        assert sentence == SOLVERS[name]().unsupported(problem)
        assert f"{name}: {sentence}" in comparison.table()


def test_a_missing_package_is_a_refusal(problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "qpsolvers", None)
    comparison = gl.compare(problem, ["qp", "sdca"])
    assert comparison.refused == {"qp": "solver='qp' needs qpsolvers and clarabel; install gapless[qp]."}
    assert list(comparison.results) == ["sdca"]


def test_held_out_accuracy_and_r2(problem):
    result = gl.solve(problem)
    test = (np.array([[9.0, 0, 0], [-9.0, 0, 0], [9.0, 0, 0]]), ["up", "up", "up"])
    assert score(result, test) == pytest.approx(2 / 3)
    assert gl.compare(problem, ["sdca"], test=test).rows()[0].score == pytest.approx(2 / 3)
    line = gl.Problem([[0.0], [1.0], [2.0]], [0.0, 2.0, 4.0], loss="epsilon_insensitive", C=100.0)
    comparison = gl.compare(line, ["smo"])
    f = comparison.results["smo"].predict(line.X)
    assert comparison.rows()[0].score == pytest.approx(1 - ((f - line.y) ** 2).sum() / 8)
    assert comparison.columns()[-1] == "R²" and "R²" in comparison.table()


def test_row_as_json():
    row = Row("smo", 3, "pairs", 0.1, math.inf, math.nan, math.inf, 0.5, "NOT_SEPARABLE")
    content = json.loads(json.dumps(row.as_dict(), allow_nan=False))
    assert content["primal"] is None and content["dual"] is None and content["score"] == 0.5
    assert row.cells()[1] == "3 pairs" and row.cells()[3] == "inf"


def test_plots(comparison):
    convergence = comparison.plot()
    assert isinstance(convergence, ConvergenceDisplay)
    assert convergence.ax_.get_xlabel() == "seconds"  # epochs and calls
    _, ax = plt.subplots()
    gap = comparison.plot("gap", ax)
    assert isinstance(gap, GapDisplay) and gap.ax_ is ax and gap.tol == comparison.tol
    with pytest.raises(InvalidInputError) as caught:
        comparison.plot("bar")
    assert str(caught.value) == "kind must be 'convergence' or 'gap'; got 'bar'."
    plt.close("all")


@pytest.mark.parametrize(
    ("solvers", "message"),
    [
        ([], "solvers must name at least one solver; got none."),
        (["sdca", SDCA()], "solvers must differ; sdca is given twice."),
    ],
)
def test_refused_lists(problem, solvers, message):
    with pytest.raises(InvalidInputError) as caught:
        gl.compare(problem, solvers)
    assert str(caught.value) == message


def test_progress_is_told_by_label_and_can_stop(problem):
    told = []

    def progress(label, state):
        told.append(label)
        return label == "sdca" and state.iterations > 0

    comparison = gl.compare(problem, ["sdca", QP(form="primal")], tol=0.0, progress=progress)
    assert comparison.results["sdca"].status is gl.Status.CALLBACK
    assert set(told) == {"sdca", "qp (form='primal')"}


def test_interruption_keeps_what_was_finished(problem):
    def progress(label, state):
        if label == "subgradient" and state.iterations > 0:
            raise KeyboardInterrupt

    with pytest.raises(ComparisonInterrupted) as caught:
        gl.compare(problem, ["sdca", "subgradient", "smo"], progress=progress)
    kept = caught.value.comparison
    assert [r.status.name for r in kept.results.values()] == ["CONVERGED", "INTERRUPTED"]
    assert caught.value.result is kept.results["subgradient"]


@pytest.mark.parametrize(
    "test, message",
    [
        ([1.0, 2.0, 3.0], "test must be a pair (X, y) of held-out samples; got list."),
        (([[1.0, 2.0, 3.0]], [0]), "the X of test must have 2 features as in training; got 3."),
        (([[1.0, 2.0]], [0, 1]), "the y of test must have an entry for each of its 1 samples; got the shape (2,)."),
    ],
)
def test_held_out_samples_that_cannot_be_scored_are_refused_before_any_solve(test, message):
    """They were refused by rows(), after all solvers had run."""
    asked = []
    problem = gl.Problem([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 2.0]], [0, 0, 1, 1])
    with pytest.raises(InvalidInputError, match=f"^{re.escape(message)}$"):
        gl.compare(problem, ["smo"], test=test, progress=lambda label, state: asked.append(label))
    assert not asked
