"""gapless compare and demo: what they print, where, and with which exit code."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console

import gapless
from gapless.cli.output import print_rows
from gapless.compare import COLUMNS, Row
from gapless.solvers import SOLVERS
from tests.cli.running import run


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-1, 1, (20, 2)), rng.normal(1, 1, (20, 2))])
    return X, np.repeat(["no", "yes"], 20)


@pytest.fixture
def csv_file(blobs, tmp_path):
    X, y = blobs
    path = tmp_path / "blobs.csv"
    path.write_text(
        "left,right,kind\n" + "".join(f"{a!r},{b!r},{label}\n" for (a, b), label in zip(X.tolist(), y, strict=True))
    )
    return path


def test_version_and_help():
    assert run("--version").stdout == f"gapless {gapless.__version__}\n"
    for command in ("demo", "compare"):
        shown = run(command, "--help")
        assert shown.exit_code == 0 and "Example:" in shown.stdout
    assert "demo" in run("--help").stdout and "compare" in run("--help").stdout


def test_compare_prints_a_table_and_writes_figures(csv_file, tmp_path):
    done = run("compare", csv_file, "--solvers", "sdca,smo,qp", "--figures", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "Problem(40 x 2 dense, hinge, linear, C=1, intercept='regularized')" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[2:5]] == ["sdca", "smo", "qp"]
    assert "Largest relative difference between the objective values of the solvers that converged: " in done.stdout
    assert f"3 figures are in {tmp_path / 'out'}." in done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["gap.png", "objective.png", "regions.png"]


def test_compare_json_is_the_library_s_answer(csv_file, blobs):
    done = run("compare", csv_file, "--json", "--no-figures", "--lam-mean", 0.1, "--max-iter", 50, "--scale")
    content = json.loads(done.stdout)
    assert {row["solver"] for row in content["rows"]} == set(SOLVERS) - {"newton"}
    X, y = blobs
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    result = gapless.solve(gapless.Problem(X, y, lam_mean=0.1, intercept="regularized"), "qp")
    row = next(row for row in content["rows"] if row["solver"] == "qp")
    assert row["primal"] == pytest.approx(result.certificate.primal, rel=1e-6)
    assert content["figures"] == [] and set(content["refused"]) == {"newton"}  # the hinge is no squared loss


def test_compare_kernel_and_refusals(csv_file):
    done = run("compare", csv_file, "--kernel", "rbf", "--gamma", 0.5, "--no-figures", "--json", "--max-iter", 2000)
    content = json.loads(done.stdout)
    assert "RBF(gamma=0.5)" in content["problem"]
    assert set(content["refused"]) == {
        "subgradient",
        "sgd",
        "pegasos",
        "sdca",
        "newton",
        "smoothed_newton",
    }
    shown = run("compare", csv_file, "--kernel", "rbf", "--solvers", "sdca", "--no-figures")
    assert shown.exit_code == 1
    assert "sdca: sdca keeps w as a vector" in shown.stdout
    assert shown.stderr == "gapless: no solver covers this problem.\n"


def test_compare_reads_standard_input_and_libsvm():
    done = run("compare", "-", "--solvers", "sdca", "--no-figures", stdin="+1 1:1\n-1 1:-1\n")
    assert done.exit_code == 0, done.output
    assert "Problem(2 x 1 CSR" in done.stdout


def test_compare_regression(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("x,y\n0,0\n1,2\n2,4\n3,6\n")
    done = run("compare", path, "--task", "regression", "--solvers", "sdca", "--no-figures")
    assert done.exit_code == 0 and "epsilon_insensitive" in done.stdout and "R²" in done.stdout


def test_several_classes_need_a_positive_one(tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("1,a\n2,b\n3,c\n4,a\n")
    done = run("compare", path, "--no-figures")
    assert done.exit_code == 2
    assert done.stderr == (
        "gapless: two classes are needed, but the file has 3: a, b, c; --positive LABEL sets one against the rest, "
        "--task regression takes the labels as numbers.\n"
    )
    assert run("compare", path, "--positive", "b", "--solvers", "sdca", "--no-figures").exit_code == 0
    wrong = run("compare", path, "--positive", "d", "--no-figures")
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "gapless: --positive must be a label of the file (a, b, c); got 'd'.\n",
    )


def test_positive_matches_numbers(tmp_path):
    path = tmp_path / "three.svm"
    path.write_text("0.5 1:1\n1.5 1:2\n2 1:3\n")
    assert run("compare", path, "--positive", "2", "--solvers", "sdca", "--no-figures").exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--loss", "square"], "--loss must be one of hinge, "),
        (["--kernel", "rfb"], "--kernel must be one of linear, rbf, polynomial, laplacian, matern, cosine, chi2, sigmoid; got 'rfb'."),
        (["--gamma", "1"], "--gamma is no parameter of the kernel linear."),
        (["--task", "ranking"], "--task must be classification or regression; got 'ranking'."),
        (["--task", "regression", "--loss", "hinge"], "--loss hinge is for classification; --task says regression."),
        (["--C", "1", "--lam-sum", "2"], "exactly one regularisation may be given; got C, lam_sum."),
        (["--C", "0"], "C must be a positive number; got 0.0."),
        (["--intercept", "maybe"], "intercept must be one of free, regularized, none; got 'maybe'."),
        (["--solvers", "svm"], "solver must be a Solver or one of auto, subgradient, "),
        (["--solvers", ","], "solvers must name at least one solver; got none."),
        (["--tol", "-1"], "tol must be a number of at least 0; got -1.0."),
        (["--label-column", "z"], "label_column 'z' is not in the first line of blobs.csv: left, right, kind."),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_2(csv_file, options, message):
    done = run("compare", csv_file, "--no-figures", *options)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"gapless: {message}") and done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_bad_files(tmp_path):
    missing = run("compare", tmp_path / "none.csv", "--no-figures")
    assert (missing.exit_code, missing.stderr) == (2, f"gapless: {tmp_path / 'none.csv'} does not exist.\n")
    path = tmp_path / "bad.csv"
    path.write_text("a,y\n1,0\nx,1\n")
    bad = run("compare", path, "--no-figures")
    assert bad.stderr == "gapless: bad.csv, line 3, column 'a': expected a finite number; got 'x'.\n"
    path.write_text("a,y\n1,0\n2,0\n")
    assert run("compare", path, "--no-figures").exit_code == 2


def test_a_folder_that_cannot_be_made_shows_before_the_work(csv_file):
    done = run("compare", csv_file, "--figures", csv_file / "below")
    assert done.exit_code == 1
    assert done.stderr.startswith("gapless: ") and done.stderr.count("\n") == 1 and done.stdout == ""


def test_ctrl_c_shows_what_is_there(csv_file, monkeypatch):
    from gapless.solvers.sdca.solver import SdcaEngine

    original = SdcaEngine.step

    def step(self, budget, targets):
        advance = original(self, budget, targets)
        if self.problem.n_samples > 16:  # not yet while it warms up on a few rows
            raise KeyboardInterrupt
        return advance

    monkeypatch.setattr(SdcaEngine, "step", step)
    done = run("compare", csv_file, "--solvers", "smo,sdca", "--no-figures", "--json")
    assert done.exit_code == 130
    assert [row["status"] for row in json.loads(done.stdout)["rows"]] == ["CONVERGED", "INTERRUPTED"]
    assert done.stderr.startswith("gapless: interrupted during sdca; its best certificate so far: primal ")
    monkeypatch.setattr("gapless.cli.compare.read_data", lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt))
    early = run("compare", csv_file, "--no-figures")
    assert (early.exit_code, early.stderr) == (130, "gapless: interrupted.\n")


def test_ctrl_c_during_the_demo(monkeypatch):
    from gapless.demo import EXPERIMENTS, Experiment

    def interrupted(folder, tell):
        raise gapless.Interrupted(gapless.solve(gapless.Problem([[-1.0], [1.0]], [0, 1]), "smo"))

    monkeypatch.setitem(EXPERIMENTS, 1, Experiment("Stopped", interrupted))
    done = run("demo", "--no-figures")
    assert done.exit_code == 130
    words = "gapless: interrupted during smo; its best certificate so far: primal 0.5, dual 0.5, relative gap "
    assert done.stderr.startswith(words) and float(done.stderr.removeprefix(words).rstrip(".\n")) < 1e-12


def test_large_files_leave_qp_out(tmp_path, monkeypatch):
    monkeypatch.setattr("gapless.cli.compare._QP_LIMIT", 3)
    path = tmp_path / "four.csv"
    path.write_text("0,0\n1,0\n2,1\n3,1\n")
    content = json.loads(run("compare", path, "--no-figures", "--json", "--max-iter", 10).stdout)
    assert content["refused"]["qp"] == "left out above 3 samples, where its one call takes long; --solvers qp runs it."
    named = json.loads(run("compare", path, "--no-figures", "--json", "--solvers", "qp").stdout)
    assert named["rows"][0]["solver"] == "qp"


def test_tables_fit_80_columns_with_every_number_whole():
    row = Row(
        "projected_gradient (acceleration=True)",
        10408,
        "pairs",
        10.7,
        4.36600712,
        4.36600703,
        6.1e-7,
        0.98,
        "CONVERGED",
    )
    out = io.StringIO()
    print_rows(Console(file=out, width=80), "A title", COLUMNS, [row])
    lines = out.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    for cell in row.cells()[2:]:
        assert any(cell in line for line in lines)
    assert "…" not in out.getvalue()
