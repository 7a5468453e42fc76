"""The experiments: each claim is checked on the run itself, and a claim that fails is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gapless.cli import app
from gapless.demo import EXPERIMENTS, Check, Experiment, Outcome
from gapless.demo.regularization import toy_sets
from gapless.demo.rings import make_rings

PNG = b"\x89PNG\r\n"


def test_rings_have_their_radii():
    X, y = make_rings(100)
    radius = np.linalg.norm(X, axis=1)
    assert abs(radius[y == 0].mean() - 1) < 0.1 and abs(radius[y == 1].mean() - 2) < 0.1


def test_toy_sets_are_separable_as_they_say():
    import gapless as gl

    for name, (X, y) in toy_sets().items():
        hard = gl.solve(gl.Problem(X, y, C=np.inf))
        assert (hard.status is gl.Status.NOT_SEPARABLE) == (name != "separable")


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
    assert len(primal) == 8 and (max(primal) - min(primal)) / min(primal) <= 1e-6
