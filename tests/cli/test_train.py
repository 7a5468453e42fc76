"""gapless train: what it prints and saves, for which options, and with which exit code."""

from __future__ import annotations

import json

import pytest
import scipy.sparse as sp

import gapless
from tests.cli.running import data, run


def test_help():
    for command in ("train", "predict", "verify", "info"):
        shown = run(command, "--help")
        assert shown.exit_code == 0 and "Example:" in shown.stdout
        assert command in run("--help").stdout


def test_train_prints_the_certificate_and_what_was_saved(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    done = run("train", svm, "--kernel", "rbf", "--gamma", 0.5, "-C", 10, "--out", path)
    assert (done.exit_code, done.stderr) == (0, "")
    model = gapless.load(path)
    assert done.stdout.splitlines()[:4] == [
        "model            SVC with the kernel RBF(gamma=0.5)",
        "data             90 samples, 4 features",
        f"certificate      {model.certificate_}",
        "proven           to 0.001",
    ]
    assert f"saved to         {path} ({path.stat().st_size:,} bytes)" in done.stdout
    ours = gapless.SVC(C=10, gamma=0.5).fit(sp.csr_array(data()[0]), data()[1])
    assert model.certificate_ == ours.certificate_ and model.verbose is False


def test_train_json(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    content = json.loads(run("train", svm, "--tol", 1e-6, "--out", path, "--json").stdout)
    model = gapless.load(path)
    assert content.pop("seconds") > 0
    certificate = model.certificate_
    proof = {
        "primal": certificate.primal,
        "dual": certificate.dual,
        "gap": certificate.gap,
        "relative_gap": certificate.relative_gap,
        "kkt_violation": certificate.kkt_violation,
    }
    assert content == {
        "model": str(path),
        "task": "classification",
        "class": "SVC",
        "scaled": False,
        "solver": "smo",
        "kernel": repr(model._kernel_object),
        "samples": 90,
        "features": 4,
        "classes": [-1, 1],
        "support_vectors": int(model.n_support_.sum()),
        "tol": 1e-6,
        "proven": True,
        "status": "CONVERGED",
        "certificate": proof,
        "certificates": [proof],
    }


def test_a_run_that_stops_early_saves_its_model(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    done = run("train", svm, "--max-iter", 20, "--tol", 1e-9, "--out", path)
    assert done.exit_code == 1
    assert done.stderr == (
        "gapless: the model is saved, but it is not proven to tol. "
        "Stopped at max_iter before tol was reached; the certificate tells how close the best iterate is.\n"
    )
    assert "proven           no" in done.stdout
    gap = gapless.load(path).certificate_.relative_gap
    checked = run("verify", path, svm)
    assert checked.exit_code == 1
    assert checked.stderr.startswith("gapless: The model is not proven to tol on this data: its relative gap is ")
    assert json.loads(run("info", path, "--json").stdout)["certificate"]["relative_gap"] == gap
    json_run = run("train", svm, "--max-iter", 20, "--tol", 1e-9, "--out", path, "--json")
    assert (json_run.exit_code, json.loads(json_run.stdout)["proven"]) == (1, False)


def test_an_indefinite_kernel_has_no_proof(svm, tmp_path):
    path = tmp_path / "model.safetensors"
    done = run("train", svm, "--kernel", "sigmoid", "--out", path, "--json")
    content = json.loads(done.stdout)
    assert done.exit_code == 1 and content["status"] == "STATIONARY" and content["certificate"]["dual"] is None
    checked = run("verify", path, svm)
    assert (checked.exit_code, checked.stderr) == (
        1,
        "gapless: There is no proof to verify: the kernel is not positive semi-definite, so that no dual value bounds the optimum.\n",
    )
    assert "dual none" in run("info", path).stdout


def test_ctrl_c_saves_the_best_model(svm, tmp_path, monkeypatch):
    from gapless.solvers.smo.solver import SmoEngine

    original = SmoEngine.step

    def step(self, budget, targets):
        original(self, budget, targets)
        raise KeyboardInterrupt

    monkeypatch.setattr(SmoEngine, "step", step)
    path = tmp_path / "model.safetensors"
    done = run("train", svm, "--tol", 1e-12, "--out", path)
    assert done.exit_code == 130
    assert done.stderr.startswith("gapless: interrupted during smo; its best certificate so far: primal ")
    assert f"certificate      {gapless.load(path).certificate_}" in done.stdout


def test_warnings_are_sentences(tmp_path, monkeypatch):
    import warnings

    original = gapless.SVC.fit

    def fit(self, X, y):
        warnings.warn("the fit is slow.", stacklevel=2)
        return original(self, X, y)

    monkeypatch.setattr(gapless.SVC, "fit", fit)
    done = run("train", "-", "--out", tmp_path / "m", stdin="+1 1:1\n-1 1:-1\n")
    assert (done.exit_code, done.stderr) == (0, "gapless: the fit is slow.\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "rank"], "--task must be one of auto, classification, regression, one-class; got 'rank'."),
        (["--kernel", "rfb"], "--kernel must be one of linear, rbf, polynomial, laplacian, matern, cosine, chi2, sigmoid; got 'rfb'."),
        (["--kernel", "RBF(gama=1)"], "The kernel expression 'RBF(gama=1)' is not understood:"),
        (["--kernel", "RBF(gamma=1)", "--gamma", "2"], "--gamma belongs into the kernel's expression, as in RBF(gamma=0.1)."),
        (["--kernel", "linear", "--gamma", "1"], "--gamma is no parameter of the kernel linear."),
        (["--kernel", "laplacian", "--gamma", "scale"], "--gamma must be a number for the kernel laplacian; got 'scale'."),
        (["--gamma", "wide"], "--gamma must be a number, scale or auto; got 'wide'."),
        (["--linear", "--kernel", "rbf"], "--kernel is no option of LinearSVC, which the task classification with --linear asks for."),
        (["--loss", "hinge"], "--loss is no option of SVC, which the task classification asks for."),
        (["--nu", "0.5", "-C", "1"], "-C is no option of NuSVC, which the task classification with --nu asks for."),
        (["--linear", "--intercept", "maybe"], "--intercept must be one of regularized, free, none; got 'maybe'."),
        (["--linear", "--task", "one-class"], "--linear is for --task classification and regression; a one-class machine takes --kernel linear."),
        (["--linear", "--loss", "square"], "The 'loss' parameter of LinearSVC must be one of 'hinge', 'squared_hinge'; got 'square'."),
        (["-C", "0"], "The 'C' parameter of SVC must be a positive number; got 0.0."),
        (["--label-column", "z"], "label_column is for CSV and Parquet files; two.svm is in LIBSVM format, where the label comes first."),
        (["--positive", "3"], "--positive must be a label of the file (-1, 1); got '3'."),
        (["--positive", "1", "--task", "regression"], "--positive is for --task classification; got --task regression."),
        (["--solver", "smoo"], "--solver must be one of auto, subgradient, sgd, pegasos, projected_gradient, coordinate_ascent, sdca,"),
        (["--solver", "sdca"], "sdca keeps w as a vector, which a kernel does not have; use solver='smo' or 'coordinate_ascent', or map the"),
    ],
)  # fmt: skip
def test_bad_options_are_one_sentence_and_exit_code_2(svm, tmp_path, options, message):
    done = run("train", svm, "--out", tmp_path / "m", *options)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"gapless: {message}") and done.stderr.count("\n") == 1
    assert done.stdout == "" and not (tmp_path / "m").exists()


def test_bad_files_and_places(svm, tmp_path):
    place = run("train", svm, "--out", tmp_path / "none" / "m")
    assert (place.exit_code, place.stderr) == (
        2,
        f"gapless: --out must be a file in a folder that exists; got '{tmp_path / 'none' / 'm'}'.\n",
    )
    svm.write_text("1 1:1\n-1 1:x\n")
    bad = run("train", svm, "--out", tmp_path / "m")
    assert bad.stderr == "gapless: two.svm, line 2: the value of index 1 must be a finite number; got 'x'.\n"


@pytest.mark.parametrize(
    ("targets", "cls", "told"),
    [
        ([-1, 1], "SVC", ""),
        ([0, 1, 2] * 4, "SVC", "3 different whole numbers, taken as classes; --task regression takes them as numbers."),
        ([0, 1, 2, 3, 3], "SVR", "4 different whole numbers, taken as numbers for a regression; --task classification takes them as classes."),
        (list(range(60)) * 2, "SVR", "60 different whole numbers, taken as numbers for a regression; --task classification takes them as classes."),
        ([0.5, 1, 2] * 2, "SVR", ""),
        (["a", "b", "c"], "SVC", ""),
    ],
)  # fmt: skip
def test_whole_numbers_are_decided_by_the_rule_and_the_decision_is_told(targets, cls, told, tmp_path):
    path, out = tmp_path / "data.csv", tmp_path / "m"
    path.write_text("".join(f"{0.1 * i},{i % 3},{target}\n" for i, target in enumerate(targets)))
    done = run("train", path, "--out", out, "--json")
    content = json.loads(done.stdout)
    assert (content["class"], done.stderr) == (cls, f"gapless: the targets are {told}\n" if told else "")
    assert content["task"] == ("classification" if cls == "SVC" else "regression")
    if all(isinstance(target, int) for target in targets):
        other, name = ("regression", "SVR") if cls == "SVC" else ("classification", "SVC")
        asked = run("train", path, "--out", out, "--json", "--task", other)
        assert (json.loads(asked.stdout)["class"], asked.stderr) == (name, "")


@pytest.mark.parametrize(
    ("loss", "solver"), [("squared_hinge", "newton"), ("hinge", "sdca"), ("hinge", "interior_point")]
)
def test_a_named_solver_is_the_one_that_solves(loss, solver, svm, tmp_path):
    done = run("train", svm, "--linear", "--loss", loss, "--solver", solver, "--out", tmp_path / "m", "--json")
    assert (done.exit_code, json.loads(done.stdout)["solver"]) == (0, solver), done.output
    assert gapless.load(tmp_path / "m").solver == solver


def test_help_lists_every_format():
    for command in ("train", "predict", "verify", "compare"):
        shown = " ".join(run(command, "--help").stdout.replace("│", " ").split())
        for name in ("LIBSVM/SVMlight", "CSV", ".gz", ".bz2", "Parquet", ".npz", "store", "standard input"):
            assert name in shown, (command, name)


def test_train_takes_a_store(svm, tmp_path):
    store = gapless.data.convert(svm, tmp_path / "store")
    path = tmp_path / "linear.safetensors"
    done = run("train", store, "--linear", "--out", path)
    assert (done.exit_code, done.stderr) == (0, "")
    ours = gapless.LinearSVC().fit(sp.csr_array(data()[0]), data()[1])
    assert gapless.load(path).certificate_ == ours.certificate_
