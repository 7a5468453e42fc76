"""The experiments: each claim is checked on the run itself, and a claim that fails is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gapless as gl
from gapless.cli import app
from gapless.demo import EXPERIMENTS, Check, Experiment, Outcome, ascent_or_descent, regularization
from gapless.demo.ascent_or_descent import follow
from gapless.demo.lab_loop import lab_coordinate_ascent, lab_row
from gapless.demo.regularization import toy_sets
from gapless.demo.rings import make_rings

PNG = b"\x89PNG\r\n"


def test_rings_have_their_radii():
    X, y = make_rings(100)
    radius = np.linalg.norm(X, axis=1)
    assert abs(radius[y == 0].mean() - 1) < 0.1 and abs(radius[y == 1].mean() - 2) < 0.1


def test_toy_sets_are_separable_as_they_say():
    for name, (X, y) in toy_sets().items():
        hard = gl.solve(gl.Problem(X, y, C=np.inf))
        assert (hard.status is gl.Status.NOT_SEPARABLE) == (name != "separable")


def test_accuracy_over_epochs_comes_from_one_run(monkeypatch):
    X, y = make_rings(90)
    problem, test = gl.Problem(X[:60], y[:60], lam_mean=0.1, intercept="regularized"), (X[60:], y[60:])
    runs = []
    monkeypatch.setattr(
        ascent_or_descent, "solve", lambda *given, **options: runs.append(given) or gl.solve(*given, **options)
    )
    for solver in ("sdca", "sgd"):
        history = follow(problem, solver, test)
        assert len(runs) == 1 and len(history.accuracy) == len(history.result.trace)
        assert runs.pop()[1] == solver
        epochs = history.result.trace.iterations
        assert epochs == list(range(len(epochs)))
        # A run that is stopped earlier is the beginning of this one.
        for k in (1, 3, len(epochs) - 1):
            stopped = gl.solve(problem, solver, tol=1e-6, max_iter=k, check_every=1)
            assert history.accuracy[k] == np.mean(stopped.predict(test[0]) == test[1])


def test_the_labs_loop_climbs_to_the_optimum_of_the_labs_dual():
    X, y = toy_sets()["overlapping"]
    signs, c = np.where(y == 1, 1.0, -1.0), 3.0
    lam = lab_coordinate_ascent(X, signs, c, 400)
    Q = np.outer(signs, signs) * (X @ X.T)
    optimum = gl.solve(gl.Problem(X, y, lam_sum=c, intercept="none"), tol=1e-9).certificate
    assert (lam >= -1).all() and (lam <= 0).all()
    assert -lam.sum() - lam @ Q @ lam / (2 * c) == pytest.approx(optimum.dual, rel=1e-6)


def test_the_labs_loop_and_coordinate_ascent_are_one_method():
    X, y = toy_sets()["moons"]
    signs, c = np.where(y == 1, 1.0, -1.0), 3.0
    lam = lab_coordinate_ascent(np.column_stack([X, np.ones(len(X))]), signs, c, 7)
    problem = gl.Problem(X, y, lam_sum=c, intercept="regularized")
    ours = gl.solve(problem, gl.solvers.CoordinateAscent(sampling="cyclic"), tol=0.0, max_iter=7)
    np.testing.assert_allclose(ours.alpha(), -lam, rtol=0, atol=1e-12)


def test_the_labs_row_is_proven_like_any_other():
    X, y = toy_sets()["moons"]
    problem = gl.Problem(X, y, lam_sum=5.0, intercept="regularized")
    row, optimum = lab_row("lab", problem, 29.5), gl.solve(problem).certificate
    assert (row.iterations, row.unit) == (30, "epochs") and row.seconds > 0
    assert row.dual <= optimum.primal and optimum.dual <= row.primal
    assert row.relative_gap == pytest.approx((row.primal - row.dual) / row.primal, rel=1e-9)
    assert row.score == gl.compare(problem, ["sdca"]).rows()[0].score


def test_three_algorithms_and_the_labs_loop_by_data_and_strength(monkeypatch):
    monkeypatch.setattr(regularization, "_TOL", 1e-2)  # which takes a tenth of the time
    outcome = EXPERIMENTS[2].run(None, lambda what, share: None)
    labels = [
        f"{name}, c = {c}"
        for c in (1, 3, 5)
        for name in ("subgradient", "projected_gradient", "coordinate_ascent", "the lab's loop")
    ]
    assert [table.title.split(":")[0] for table in outcome.tables] == list(toy_sets())
    for table in outcome.tables:
        assert [row.solver for row in table.rows] == labels
        assert all(row.seconds > 0 for row in table.rows)
        accuracy = [row.score for row in table.rows]
        assert min(accuracy) == 1.0 if "separable" in table.title else 0.8 < min(accuracy) <= max(accuracy) < 0.95
    # The last two speak of seconds, which a busy machine may stretch.
    assert all(check.holds for check in outcome.checks[:2])
    assert "interpreted, masking the k-th entry" in outcome.checks[2].claim
    assert "compiled, and with Qα kept up to date" in outcome.checks[3].claim


def test_rings_through_the_command_line(tmp_path):
    done = CliRunner().invoke(app, ["demo", "--only", "3", "--figures", str(tmp_path / "new" / "folder")])
    assert done.exit_code == 0, done.output
    assert "Experiment 3. Two rings: a line fails, polar coordinates and a kernel succeed" in done.stdout
    for name in ("smo, linear in (x, y)", "smo, linear in polar coordinates", "smo, RBF kernel"):
        assert name in done.stdout
    assert "✓ The line gets 54.2 % right, polar coordinates 100.0 %, the RBF kernel 100.0 %." in done.stdout
    assert f"1 figure is in {tmp_path / 'new' / 'folder'}." in done.stdout
    assert (tmp_path / "new" / "folder" / "3-rings.png").read_bytes().startswith(PNG)


def test_json_without_figures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["demo", "--only", "3", "--no-figures", "--json"])
    (experiment,) = json.loads(done.stdout)["experiments"]
    assert experiment["number"] == 3 and experiment["figures"] == []
    rows = experiment["tables"][0]["rows"]
    assert [row["status"] for row in rows] == ["CONVERGED"] * 3
    assert rows[0]["score"] < 0.75 < 0.98 < min(rows[1]["score"], rows[2]["score"])
    assert not list(tmp_path.iterdir())


def test_a_claim_that_fails_is_an_exit_code(monkeypatch):
    broken = Experiment("Nothing", lambda folder, tell: Outcome((), (Check("Two is three.", False),)))
    monkeypatch.setitem(EXPERIMENTS, 3, broken)
    done = CliRunner().invoke(app, ["demo", "--only", "3", "--no-figures"])
    assert done.exit_code == 1
    assert "✗ Two is three." in done.stdout
    assert done.stderr == "gapless: a check of experiment 3 did not hold.\n"


def test_only_is_one_of_four():
    done = CliRunner().invoke(app, ["demo", "--only", "5"])
    assert done.exit_code == 2
    assert done.stderr == "gapless: --only must be one of 1, 2, 3, 4; got 5.\n"


@pytest.mark.slow
def test_whole_demo(tmp_path):
    done = CliRunner().invoke(app, ["demo", "--figures", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    experiments = json.loads(done.stdout)["experiments"]
    assert [e["number"] for e in experiments] == [1, 2, 3, 4]
    assert all(check["holds"] for e in experiments for check in e["checks"])
    figures = [Path(path) for e in experiments for path in e["figures"]]
    assert sorted(figures) == sorted(tmp_path.glob("*.png")) and len(figures) == 5
    by_name = {row["solver"]: row for row in experiments[3]["tables"][0]["rows"]}
    family = {"subgradient", "sgd", "pegasos"}
    assert all(row["relative_gap"] <= 1e-6 for name, row in by_name.items() if name not in family)
    primal = [row["primal"] for name, row in by_name.items() if name not in family]
    assert len(primal) == 9 and (max(primal) - min(primal)) / min(primal) <= 1e-6
