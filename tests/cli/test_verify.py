"""gapless verify: every way to train is verified, and every change of the model or of its data is found."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import gapless
from tests.cli.running import csv_text, data, run

# What each set of options trains, on which data.
WAYS = [
    ("two", [], "SVC(kernel=RBF)"),
    ("two", ["--kernel", "linear", "-C", "0.1"], "SVC(kernel=Linear)"),
    ("two", ["--kernel", "poly", "--degree", "2", "--coef0", "1"], "SVC(kernel=Polynomial)"),
    ("two", ["--kernel", "laplacian", "--gamma", "0.3"], "SVC(kernel=Laplacian)"),
    ("two", ["--kernel", "0.5 * RBF(gamma=0.1) + Linear()"], "SVC(kernel=Sum)"),
    ("two", ["--nu", "0.3"], "NuSVC(kernel=RBF)"),
    ("two", ["--linear"], "LinearSVC"),
    ("two", ["--linear", "--loss", "hinge", "--intercept", "free", "--seed", "3"], "LinearSVC"),
    ("two", ["--linear", "--intercept", "none"], "LinearSVC"),
    ("two", ["--task", "one-class", "--nu", "0.2"], "OneClassSVM(kernel=RBF)"),
    ("two", ["--tol", "1e-8", "-C", "100"], "SVC(kernel=RBF)"),
    ("three", ["--n-jobs", "2"], "SVC(kernel=RBF)"),
    ("three", ["--nu", "0.2"], "NuSVC(kernel=RBF)"),
    ("three", ["--linear"], "LinearSVC"),
    ("three", ["--positive", "yes"], "SVC(kernel=RBF)"),
    ("smooth", [], "SVR(kernel=RBF)"),
    ("smooth", ["--nu", "0.5", "-C", "2"], "NuSVR(kernel=RBF)"),
    ("smooth", ["--epsilon", "0.2", "--linear", "--max-iter", "100000"], "LinearSVR"),
    ("smooth", ["--linear", "--loss", "squared_epsilon_insensitive"], "LinearSVR"),
]


def other_label(kind, label):
    """Another label; a target far away."""
    if kind == "smooth":
        return label + 10.0
    return -label if kind == "two" else {"no": "yes", "yes": "perhaps", "perhaps": "no"}[label]


@pytest.mark.parametrize(("kind", "options", "expected"), WAYS, ids=lambda value: "-".join(value) if isinstance(value, list) else None)  # fmt: skip
def test_every_way_to_train_verifies_and_a_flipped_label_does_not(kind, options, expected, tmp_path):
    X, y = data(kind)
    path, out = tmp_path / "data.csv", tmp_path / "model.safetensors"
    path.write_text(csv_text(X, y))
    one_class = "one-class" in options
    positive = options if "--positive" in options else []
    if one_class:
        path.write_text(csv_text(X, header="a,b,c,d\n"))
    done = run("train", path, "--out", out, *options)
    assert done.exit_code == 0, done.output
    model = gapless.load(out)
    kernel = f"(kernel={type(model._kernel_object).__name__})" if hasattr(model, "_kernel_object") else ""
    assert f"{type(model).__name__}{kernel}" == expected
    good = run("verify", out, path, *positive)
    assert (good.exit_code, good.stderr) == (0, ""), good.output
    assert good.stdout.splitlines()[-1] == f"The proof holds: the relative gap is at most {model.tol:g}."
    for i in () if one_class else range(0, len(y), 17):
        flipped = y.copy()
        flipped[i] = other_label(kind, y[i])
        if positive and (flipped[i] == "yes") == (y[i] == "yes"):
            continue
        path.write_text(csv_text(X, flipped))
        bad = run("verify", out, path, *positive)
        assert bad.exit_code == 1, (i, bad.output)
        assert "does not hold on this data: " in bad.stderr and bad.stderr.count("\n") == 1


@pytest.mark.parametrize("options", [["--kernel", "linear"], ["--gamma", "0.1"], ["--linear"]], ids="-".join)
def test_a_hard_margin_verifies(options, tmp_path):
    X, y = data()
    X = X + 4 * y[:, None]
    path, out = tmp_path / "data.csv", tmp_path / "model.safetensors"
    path.write_text(csv_text(X, y))
    assert run("train", path, "-C", "inf", "--out", out, *options).exit_code == 0
    assert run("verify", out, path).exit_code == 0
    y[5] = -y[5]
    path.write_text(csv_text(X, y))
    assert run("verify", out, path).exit_code == 1


def test_every_flipped_label_is_found(svm, model):
    lines = svm.read_text().splitlines()
    for i in range(0, len(lines), 3):
        label, _, rest = lines[i].partition(" ")
        svm.write_text("\n".join([*lines[:i], f"{-int(label)} {rest}", *lines[i + 1 :]]) + "\n")
        assert run("verify", model, svm).exit_code == 1, i


def test_every_flipped_byte_is_found(svm, model):
    content = model.read_bytes()
    for place in np.linspace(0, len(content) - 1, 60).astype(int):
        changed = bytearray(content)
        changed[place] ^= 1
        model.write_bytes(changed)
        bad = run("verify", model, svm)
        assert bad.exit_code == 2, place
        assert bad.stderr.startswith(f"gapless: The file '{model}'") and bad.stderr.count("\n") == 1


def test_verify_json_and_other_data(svm, model, tmp_path):
    content = json.loads(run("verify", model, svm, "--json").stdout)
    assert content["holds"] is True and content["objection"] is None and content["tol"] == 1e-3
    for side in ("primal", "dual"):
        assert content["recomputed"][side] == pytest.approx(content["stored"][side], rel=1e-9)
    assert content["parts"] == [{"stored": content["stored"], "recomputed": content["recomputed"]}]
    lines = svm.read_text().splitlines()
    svm.write_text("\n".join(lines[:-1]) + "\n")
    fewer = run("verify", model, svm)
    assert (fewer.exit_code, fewer.stderr) == (
        1,
        "gapless: The proof does not hold on this data: the model was trained on 90 samples, and the data has 89.\n",
    )
    svm.write_text("\n".join(["7 1:1", *lines[1:]]) + "\n")
    label = run("verify", model, svm, "--json")
    assert label.stderr == (
        "gapless: The proof does not hold on this data: y has labels that the model was not trained on.\n"
    )
    svm.write_text("\n".join(reversed(lines)) + "\n")
    assert "the model's support vectors are not rows of X" in run("verify", model, svm).stderr
    foreign = run("verify", svm, svm)
    assert foreign.exit_code == 2 and "is not a model file of Gapless" in foreign.stderr
    missing = run("verify", tmp_path / "none", svm)
    assert (missing.exit_code, missing.stderr) == (2, f"gapless: There is no model file '{tmp_path / 'none'}'.\n")


def test_verify_says_which_models_it_does_not_read(svm, tmp_path):
    X, y = data()
    path = tmp_path / "l1.safetensors"
    gapless.LinearSVC(penalty="l1", dual=False).fit(X, y).save(path)
    done = run("verify", path, svm)
    assert done.exit_code == 2
    assert done.stderr.startswith("gapless: certify reads LinearSVC with penalty='l2' and multi_class='ovr';")


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "options"), [(None, ["--linear"]), (2000, ["--kernel", "rbf", "-C", "10"])], ids=["linear", "rbf"])  # fmt: skip
def test_a9a(shared_data, tmp_path, rows, options):
    X, y, _, _ = shared_data("a9a")
    X, y = X[:rows], y[:rows].astype(int)
    path, out = tmp_path / "a9a.svm", tmp_path / "model.safetensors"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    done = run("train", path, "--out", out, *options)
    assert done.exit_code == 0 and "relative gap" in done.stdout, done.output
    assert run("verify", out, path).exit_code == 0
    lines = path.read_text().splitlines()
    for i in np.linspace(0, len(lines) - 1, 4).astype(int):
        label, _, rest = lines[i].partition(" ")
        path.write_text("\n".join([*lines[:i], f"{-int(label)} {rest}", *lines[i + 1 :]]) + "\n")
        assert run("verify", out, path).exit_code == 1, i
