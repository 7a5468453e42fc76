"""Stores in the place of files: every command that reads data takes them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import gapless
from tests.cli.running import csv_text, data, run


@pytest.fixture(params=["sparse", "dense"])
def pair(request, tmp_path):
    """The same samples as a file and as a store."""
    X, y = data()
    if request.param == "sparse":
        file = tmp_path / "data.svm"
        dump_svmlight_file(X, y, str(file), zero_based=False)
    else:
        file = tmp_path / "data.csv"
        file.write_text(csv_text(X, y))
    return file, gapless.data.convert(file, tmp_path / "store")


@pytest.mark.parametrize("options", [[], ["--linear"], ["--scale"], ["--scale", "--linear"]], ids="-".join)
def test_files_and_stores_are_the_same_data(pair, options, tmp_path):
    out = tmp_path / "m"
    for trained in pair:
        done = run("train", trained, "--out", out, *options)
        assert (done.exit_code, done.stderr) == (0, "")
        proofs, labels = set(), set()
        for other in pair:
            verified = run("verify", out, other)
            assert verified.exit_code == 0, verified.output
            proofs.add(verified.stdout)
            predicted = run("predict", out, other)
            assert predicted.stderr.startswith("accuracy ")
            labels.add(predicted.stdout)
        assert len(proofs) == len(labels) == 1


def test_compare_takes_a_store(pair, tmp_path):
    _, store = pair
    done = run("compare", store, "--solvers", "sdca,smo", "--no-figures")
    assert done.exit_code == 0 and "sdca" in done.stdout


def test_a_narrow_sparse_store_is_padded_and_a_wide_one_refused(tmp_path):
    X, y = data()
    for name, width in (("wide", 4), ("narrow", 3)):
        dump_svmlight_file(X[:, :width], y, str(tmp_path / f"{name}.svm"), zero_based=False)
        gapless.data.convert(tmp_path / f"{name}.svm", tmp_path / name)
        assert run("train", tmp_path / name, "--out", tmp_path / f"{name}.model").exit_code == 0
    padded = run("predict", tmp_path / "wide.model", tmp_path / "narrow")
    assert padded.stdout == run("predict", tmp_path / "wide.model", tmp_path / "narrow.svm").stdout
    assert len(padded.stdout.split()) == 90
    refused = run("predict", tmp_path / "narrow.model", tmp_path / "wide")
    expected = f"gapless: {tmp_path / 'wide'} has 4 features, but the model was trained on 3.\n"
    assert (refused.exit_code, refused.stderr) == (2, expected)


def test_what_a_store_cannot_be_asked_for(tmp_path):
    X, _ = data()
    (tmp_path / "data.csv").write_text(csv_text(X, np.array(["no", "yes"])[np.arange(90) % 2]))
    store = gapless.data.convert(tmp_path / "data.csv", tmp_path / "store")
    labels = run("train", store, "--label-column", "a", "--out", tmp_path / "m")
    assert (labels.exit_code, labels.stderr) == (
        2,
        f"gapless: --label-column is for CSV and Parquet files; the store {store} keeps its labels apart.\n",
    )
    texts = run("train", store, "--task", "regression", "--out", tmp_path / "m")
    assert (texts.exit_code, texts.stderr) == (
        2,
        f"gapless: a regression takes numbers as targets; the store {store} has texts, such as 'no'.\n",
    )
    (store / "store.json").write_text("{}")
    broken = run("predict", tmp_path / "m", store)
    assert broken.exit_code == 2 and not (tmp_path / "m").exists()
