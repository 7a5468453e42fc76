"""gapless tune: what it tries, prints and saves, how it goes on after Ctrl-C, and which options it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless
from gapless.cli.grids import default_gammas, read_values
from gapless.model_selection import GridSearchCV
from tests.cli.running import csv_text, data, run

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_help():
    shown = run("tune", "--help")
    assert shown.exit_code == 0 and "Example:" in shown.stdout and "--resume" in shown.stdout
    assert "tune" in run("--help").stdout


def test_the_best_candidates_and_the_model_are_told(svm, path):
    done = run("tune", svm, "-C", "0.1,1,10", "--gamma", "0.01:1:3", "--top", 4, "--out", path)
    assert (done.exit_code, done.stderr) == (0, "")
    X, y = data()
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
    search = GridSearchCV(gapless.SVC(), grid, cv=FOLDS).fit(sp.csr_array(X), y)
    lines = done.stdout.splitlines()
    assert lines[0] == "SVC, accuracy over 5 folds"
    assert lines[1].split() == ["candidate", "parameters", "score", "spread", "proven"]
    best = f"C={search.best_params_['C']:g}, gamma={search.best_params_['gamma']:g}"
    assert (
        lines[2].split()[0] == str(search.best_index_)
        and best in lines[2]
        and f" {search.best_score_:.6g} " in lines[2]
    )
    assert lines[6] == "… and 5 more; --top shows more of them."
    assert lines[7] == str(search.selection_)
    model = gapless.load(path)
    assert model.get_params()["C"] == search.best_params_["C"] and model.verbose is False
    assert model.certificate_ == search.best_estimator_.certificate_
    assert f"certificate      {model.certificate_}" in lines


def test_json(svm, path):
    done = run(
        "tune", svm, "-C", "0.1,1", "--gamma", "scale,0.5", "--cv", 3, "--scoring", "f1", "--json", "--model", path
    )
    content = json.loads(done.stdout)
    assert (content["class"], content["scoring"], content["folds"], content["proven"]) == ("SVC", "f1", 3, True)
    assert content["selection"] is None  # F₁ has no intervals
    assert content["model"] == str(path) and path.exists()
    scores = [each["score"] for each in content["candidates"]]
    assert scores == sorted(scores, reverse=True) and len(scores) == 4
    first = content["candidates"][0]
    assert first["params"] == content["best"] and first["score"] == pytest.approx(np.mean(first["splits"]))
    assert first["low"] is None and len(first["splits"]) == 3


def test_json_has_the_proof_of_the_choice(svm, path):
    content = json.loads(run("tune", svm, "-C", "0.1,1", "--gamma", 0.5, "--json", "-o", path).stdout)
    selection, first = content["selection"], content["candidates"][0]
    assert selection["index"] == first["candidate"] and selection["index"] in selection["tied"]
    assert selection["score"] == [first["low"], first["high"]] and selection["words"].startswith("Candidate ")


def test_a_grid_is_chosen_where_none_is_given(svm, path):
    content = json.loads(run("tune", svm, "--json", "--out", path, "--cv", 2).stdout)
    tried = [each["params"] for each in content["candidates"]]
    assert len({each["C"] for each in tried}) == 7 and len({each["gamma"] for each in tried}) == 7 and len(tried) == 49
    X = sp.csr_array(data()[0])
    gammas = default_gammas(X)
    assert sorted({each["gamma"] for each in tried}) == gammas
    assert gammas[3] == pytest.approx(1 / (4 * X.toarray().var()), rel=1e-5) and default_gammas(X.toarray()) == gammas
    linear = json.loads(run("tune", svm, "--linear", "--json", "--out", path, "--cv", 2).stdout)
    assert linear["class"] == "LinearSVC" and [*linear["best"]] == ["C"] and len(linear["candidates"]) == 7


def test_scaling_is_learnt_in_each_fold(tmp_path, path):
    X, y = data("three")
    table = tmp_path / "three.csv"
    table.write_text(csv_text(X * [1.0, 100.0, 1.0, 0.01], y))
    done = run("tune", table, "--scale", "-C", "0.1,1", "--gamma", "0.1,1", "--json", "--out", path)
    content = json.loads(done.stdout)
    pipeline = make_pipeline(StandardScaler(), gapless.SVC())
    search = GridSearchCV(pipeline, {"svc__C": [0.1, 1.0], "svc__gamma": [0.1, 1.0]}, cv=FOLDS).fit(
        X * [1.0, 100.0, 1.0, 0.01], y
    )
    assert content["best"] == {name.removeprefix("svc__"): value for name, value in search.best_params_.items()}
    assert content["candidates"][0]["score"] == search.best_score_ and content["scaled"] is True
    model = gapless.load(path)
    assert [name for name, _ in model.steps] == ["standardscaler", "svc"]
    assert run("verify", path, table).exit_code == 0


def test_regressions_and_racing(tmp_path, path):
    X, y = data("smooth")
    table = tmp_path / "smooth.csv"
    table.write_text(csv_text(X, y))
    options = ("-C", "1e-3,1,10", "--gamma", "30,0.3", "--epsilon", "0.01,0.1", "--scoring", "neg_mean_squared_error")
    content = json.loads(run("tune", table, *options, "--json", "--out", path).stdout)
    assert content["class"] == "SVR" and [*content["best"]] == ["C", "epsilon", "gamma"]
    folds = KFold(5, shuffle=True, random_state=0)
    grid = {"C": [1e-3, 1.0, 10.0], "gamma": [30.0, 0.3], "epsilon": [0.01, 0.1]}
    search = GridSearchCV(gapless.SVR(), grid, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    assert content["best"] == search.best_params_
    raced = json.loads(run("tune", table, *options, "--racing", "--json", "--out", path).stdout)
    assert raced["best"] == content["best"] and len(raced["candidates"]) < len(content["candidates"])


def test_kernels_that_are_objects(svm, path):
    done = run("tune", svm, "--kernel", "laplacian", "--gamma", "0.1,1", "-C", 1, "--json", "--out", path)
    assert json.loads(done.stdout)["best"].keys() == {"C", "kernel__gamma"}
    done = run(
        *("tune", svm, "--kernel", "RBF(gamma=0.1) + Linear()", "-C", 1, "--param", "kernel__left__gamma=0.1,1"),
        *("--param", "class_weight=balanced,none", "--json", "--out", path),
    )
    tried = [each["params"] for each in json.loads(done.stdout)["candidates"]]
    assert len(tried) == 4 and {each["class_weight"] for each in tried} == {"balanced", None}


def test_a_second_run_goes_on_from_the_file(svm, path, tmp_path):
    fits = tmp_path / "fits"
    options = ("--gamma", 0.5, "--resume", fits, "--json", "--out", path, "--scoring", "f1")
    first = json.loads(run("tune", svm, "-C", "0.1,1", *options).stdout)
    size = fits.stat().st_size
    again = json.loads(run("tune", svm, "-C", "0.1,1", *options).stdout)
    assert again["candidates"] == first["candidates"] and fits.stat().st_size == size
    more = json.loads(run("tune", svm, "-C", "0.1,1,10", *options).stdout)
    assert len(more["candidates"]) == 3 and fits.stat().st_size > size
    other = run("tune", svm, "-C", "0.1,1", *options, "--seed", 1)
    assert other.exit_code == 2 and "has the fits of another search: its folds are others" in other.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--task", "one-class"), "--task must be one of auto, classification, regression; got 'one-class'."),
        (
            ("-C", "1,x"),
            "-C takes numbers separated by commas, and ranges such as 1e-3:1e3:7, low to high with a constant ratio; got 'x'.",
        ),
        (("-C", "10:1:3"), "-C takes numbers separated by commas"),
        (("-C", "1:2:3:4"), "-C takes numbers separated by commas"),
        (("--gamma", "small"), "--gamma takes numbers separated by commas, scale or auto, and ranges"),
        (("--degree", "2.5"), "--degree takes whole numbers; got 2.5."),
        (("--epsilon", "0.1"), "SVC has no parameter 'epsilon' to tune; its parameters are C, "),
        (("--linear", "--gamma", "1"), "LinearSVC has no parameter 'gamma' to tune"),
        (("--kernel", "linear", "--param", "kernel__gamma=1"), "SVC has no parameter 'kernel__gamma' to tune"),
        (("--param", "C"), "--param takes NAME=VALUES, as in kernel__left__gamma=0.1,1; got 'C'."),
        (("--scoring", "best"), "--scoring must be a name of a scorer of scikit-learn, as accuracy; got 'best'."),
        (("-C", "-1"), "The 'C' parameter of SVC must be"),
        (("--cv", "60"), "n_splits=60 cannot be greater than the number of members in each class."),
    ],
)
def test_bad_options_are_one_sentence(svm, path, options, message):
    done = run("tune", svm, *options, "--out", path)
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith(f"gapless: {message}") and done.stderr.count("\n") == 1
    assert not path.exists()


def test_ranges():
    assert read_values("1e-3:1e3:7", "-C") == [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0]
    assert read_values("1,0.5:2:3,1", "-C") == [1.0, 0.5, 2.0] and len(read_values("1:2", "-C")) == 7


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_and_going_on(tmp_path, path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 10)).round(3)
    file, fits = tmp_path / "large.svm", tmp_path / "fits"
    dump_svmlight_file(X, rng.integers(2, size=len(X)), str(file), zero_based=False)
    # The second and the third C take minutes; the first one takes a moment.
    command = [
        *(
            sys.executable,
            "-c",
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from gapless.cli import app; app()",
        ),
        *(
            "tune",
            str(file),
            "--linear",
            "--loss",
            "hinge",
            "-C",
            "1e-6,1e6,1e7",
            "--cv",
            "2",
            "--tol",
            "1e-12",
            "--scoring",
            "f1",
        ),
        *("--resume", str(fits), "--out", str(path)),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        while not (fits.exists() and fits.read_bytes().count(b"\n") > 1):
            assert child.poll() is None, child.stderr.read()
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=60)
    assert child.returncode == 130
    assert told.endswith("fits are done; the same command goes on from here.\n") and "interrupted: " in told
    assert not path.exists()
    done = fits.read_bytes().count(b"\n") - 1
    again = run(
        "tune",
        file,
        "--linear",
        "--loss",
        "hinge",
        "-C",
        "1e-6",
        "--cv",
        2,
        "--tol",
        1e-12,
        "--scoring",
        "f1",
        "--resume",
        fits,
        "--out",
        path,
        "--json",
    )
    assert again.exit_code == 0 and len(json.loads(again.stdout)["candidates"]) == 1 and done >= 1


def test_a_score_that_the_targets_do_not_allow(tmp_path, path):
    table = tmp_path / "three.csv"
    table.write_text(csv_text(*data("three")))
    done = run("tune", table, "-C", 1, "--gamma", 1, "--scoring", "f1", "--out", path)
    assert done.exit_code == 2 and done.stderr.startswith("gapless: Target is multiclass but average='binary'.")
