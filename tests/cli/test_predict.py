"""gapless predict: labels, decisions and values, from files of every format."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import r2_score

import gapless
from tests.cli.running import csv_text, data, run


def test_predict_lines_decisions_json_and_files(svm, model, tmp_path):
    X, y = data()
    fitted = gapless.load(model)
    labels = fitted.predict(sp.csr_array(X))
    done = run("predict", model, svm)
    assert done.exit_code == 0 and done.stdout.split() == [str(label) for label in labels]
    assert done.stderr == f"accuracy {np.mean(labels == y):.6g} on 90 samples\n"
    decided = run("predict", model, svm, "--decision", "--out", tmp_path / "out.txt")
    assert decided.stdout == ""
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "out.txt"), fitted.decision_function(sp.csr_array(X)))
    content = json.loads(run("predict", model, svm, "--json").stdout)
    assert content == {"predictions": labels.tolist(), "accuracy": np.mean(labels == y)}
    assert "decisions" in json.loads(run("predict", model, svm, "--json", "--decision").stdout)


def test_predict_several_classes_and_texts(tmp_path):
    X, y = data("three")
    path, out = tmp_path / "data.csv", tmp_path / "model.safetensors"
    path.write_text(csv_text(X, y))
    run("train", path, "--out", out)
    done = run("predict", out, path, "--decision")
    assert [len(line.split("\t")) for line in done.stdout.splitlines()] == [3] * 90
    assert run("predict", out, path).stdout.split() == gapless.load(out).predict(X).tolist()
    placeholders = run("predict", out, "-", stdin=csv_text(X, np.zeros(90, dtype=int)))
    assert (placeholders.exit_code, placeholders.stderr) == (0, "")


def test_predict_values_and_their_score(tmp_path):
    X, y = data("smooth")
    path, out = tmp_path / "data.csv", tmp_path / "model.safetensors"
    path.write_text(csv_text(X, y))
    run("train", path, "--out", out)
    values = gapless.load(out).predict(X)
    done = run("predict", out, path)
    assert [float(line) for line in done.stdout.split()] == values.tolist()
    assert done.stderr == f"R² {r2_score(y, values):.6g} on 90 samples\n"
    refused = run("predict", out, path, "--decision")
    assert refused.stderr == "gapless: --decision is for classifiers; SVR predicts its values as they are.\n"
    text = run("predict", out, "-", stdin=csv_text(X[:1], np.array(["high"])))
    assert text.exit_code == 2 and "line 2, column 'kind': expected a finite number; got 'high'." in text.stderr


def test_data_without_labels_and_of_other_widths(svm, model, tmp_path):
    X, _ = data()
    fitted = gapless.load(model)
    lines = [str(label) for label in fitted.predict(sp.csr_array(X))]
    bare = run("predict", model, "-", stdin=csv_text(X, header=""))
    assert (bare.exit_code, bare.stdout.split(), bare.stderr) == (0, lines, "")
    short = run("predict", model, "-", stdin="1 1:0.5\n")
    assert short.stdout.split() == [str(fitted.predict(sp.csr_array([[0.5, 0, 0, 0]]))[0])]
    long = run("predict", model, "-", stdin="1 1:0.5 6:1\n")
    assert (long.exit_code, long.stderr) == (2, "gapless: the input has 6 features, but the model was trained on 4.\n")
    narrow = run("predict", model, "-", stdin="1,2,3\n")
    assert (narrow.exit_code, narrow.stderr) == (
        2,
        "gapless: the input has 2 features, but the model was trained on 4.\n",
    )


def test_every_format_gives_one_model(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = data()
    S = sp.csr_array(X)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(csv_text(X, y).encode()))
    pd.DataFrame({**dict(zip("abcd", X.T, strict=True)), "kind": y}).to_parquet(tmp_path / "a.parquet")
    np.savez(tmp_path / "dense.npz", X=X, y=y)
    np.savez(tmp_path / "sparse.npz", data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, y=y)
    names = ["a.svm", "a.csv.gz", "a.parquet", "dense.npz", "sparse.npz"]
    out = tmp_path / "m"
    for name in names:
        assert run("train", tmp_path / name, "--tol", 1e-6, "--out", out).exit_code == 0
        for other in names:
            assert run("verify", out, tmp_path / other).exit_code == 0, (name, other)
            assert run("predict", out, tmp_path / other).stderr.startswith("accuracy ")
    piped = run("verify", out, "-", stdin=(tmp_path / "a.parquet").read_bytes())
    assert piped.exit_code == 0
