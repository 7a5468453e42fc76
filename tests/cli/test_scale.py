"""--scale: the scaler is part of the model file, and predict, verify and load apply it to data as it is."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless
from gapless.errors import ModelFileError, TooLargeError, UnsupportedError
from gapless.store import model_file, save
from gapless.store.storing import describe
from tests.cli.running import csv_text, data, run

SCALES = np.array([1e4, 1.0, 1e-3, 50.0])


def wide_data(kind="two"):
    """Features on four scales, away from zero."""
    X, y = data(kind)
    return (X * SCALES + SCALES).round(6), y


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("two", []),
        ("two", ["--linear"]),
        ("two", ["--task", "one-class"]),
        ("three", ["--nu", "0.2"]),
        ("smooth", ["--linear", "--loss", "squared_epsilon_insensitive"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else value,
)
def test_a_scaled_model_predicts_and_verifies_on_the_data_as_it_is(kind, options, tmp_path):
    X, y = wide_data(kind)
    path, out = tmp_path / "data.csv", tmp_path / "m"
    one_class = "one-class" in options
    path.write_text(csv_text(X, header="a,b,c,d\n") if one_class else csv_text(X, y))
    done = run("train", path, "--scale", "--out", out, *options)
    assert done.exit_code == 0, done.output
    assert [line.split(maxsplit=1) for line in done.stdout.splitlines()][2] == [
        "scaled",
        "each feature to mean 0 and variance 1",
    ]
    model = gapless.load(out)
    assert isinstance(model, Pipeline)
    np.testing.assert_allclose(model[0].scale_, X.std(axis=0), rtol=1e-12)
    Z = model[0].transform(X)
    ours = type(model[1])(**model[1].get_params()).fit(Z, None if one_class else y)
    assert model[1].certificate_ == ours.certificate_
    assert run("predict", out, path).stdout.split() == [str(value) for value in ours.predict(Z).tolist()]
    assert run("verify", out, path).exit_code == 0
    path.write_text(csv_text(Z, header="a,b,c,d\n") if one_class else csv_text(Z, y))
    wrong = run("verify", out, path)
    assert (wrong.exit_code, wrong.stdout.count("holds")) == (1, 0)


def test_sparse_data_keeps_its_zeros(tmp_path):
    X, y = wide_data()
    X[:, 2] = np.where(X[:, 2] > 0, 0.0, X[:, 2])
    path, out = tmp_path / "data.svm", tmp_path / "m"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    done = run("train", path, "--scale", "--out", out)
    assert "scaled           each feature to variance 1\n" in done.stdout
    scaler, model = gapless.load(out)
    assert not scaler.with_mean and model._sparse
    ours = gapless.SVC().fit(sp.csr_array(scaler.transform(sp.csr_array(X))), y)
    assert model.certificate_ == ours.certificate_
    table = tmp_path / "data.csv"
    table.write_text(csv_text(X, y))
    for file in (path, table):
        assert run("verify", out, file).exit_code == 0
    assert run("predict", out, path).stdout == run("predict", out, table).stdout


def test_info_and_json_tell_of_the_scaler(tmp_path):
    path, out = tmp_path / "data.csv", tmp_path / "m"
    path.write_text(csv_text(*wide_data()))
    assert json.loads(run("train", path, "--scale", "--out", out, "--json").stdout)["scaled"] is True
    content = json.loads(run("info", out, "--json").stdout)
    assert (content["class"], content["scaled"]) == ("SVC", "each feature to mean 0 and variance 1")
    assert "scaled           each feature to mean 0 and variance 1\n" in run("info", out).stdout
    run("train", path, "--out", out)
    assert json.loads(run("info", out, "--json").stdout)["scaled"] is None and "scaled" not in run("info", out).stdout


def test_a_loaded_pipeline_is_saved_again_bit_by_bit(tmp_path):
    X, y = wide_data()
    model = make_pipeline(StandardScaler(), gapless.SVC()).fit(X, y)
    save(model, tmp_path / "a")
    again = gapless.load(tmp_path / "a")
    save(again, tmp_path / "b")
    (one, arrays), (two, copies) = model_file.read(tmp_path / "a"), model_file.read(tmp_path / "b")
    assert one == two and arrays.keys() == copies.keys()
    assert all(arrays[name].tobytes() == copies[name].tobytes() for name in arrays)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again[0].var_, model[0].var_)
    with pytest.raises(
        UnsupportedError,
        match=r"^save takes an estimator of Gapless, or a pipeline of a StandardScaler and one; got Pipeline\.$",
    ):
        save(make_pipeline(StandardScaler(), StandardScaler()), tmp_path / "c")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scale_", np.zeros(4), "its scaler divides by numbers that are not positive"),
        ("scale_", np.full(4, np.nan), "its scaler's scale_ is not finite"),
        ("mean_", np.zeros(3), "its scaler's mean_ does not have a number for each feature"),
        ("mean_", None, "its scaler lacks the numbers to scale by"),
        ("n_features_in_", 5, "its scaler's mean_ does not have a number for each feature"),
    ],
)
def test_a_scaler_that_no_fit_makes_is_refused(name, value, message, tmp_path):
    model = make_pipeline(StandardScaler(), gapless.SVC()).fit(*wide_data())
    setattr(model[0], name, value)
    save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match=message):
        gapless.load(tmp_path / "m")


def test_a_version_without_scalers_refuses_the_file(tmp_path):
    """The class that the file names is no estimator's, so that a reader that does not know of scalers cannot leave them out."""
    save(make_pipeline(StandardScaler(), gapless.SVC()).fit(*wide_data()), tmp_path / "m")
    assert describe(tmp_path / "m")["class"] == "Pipeline"
    description, arrays = model_file.read(tmp_path / "m")
    model_file.write(tmp_path / "m", {**description, "class": "Pipelines"}, arrays)
    with pytest.raises(ModelFileError, match="its class 'Pipelines' is none of"):
        gapless.load(tmp_path / "m")


def test_a_copy_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    from gapless.cli import options

    def refuse(n_bytes, what):
        assert n_bytes == 8 * 90 * 4
        raise TooLargeError(f"{what} needs more than there is.")

    monkeypatch.setattr(options, "require_memory", refuse)
    path = tmp_path / "data.csv"
    path.write_text(csv_text(*wide_data()))
    done = run("train", path, "--scale", "--out", tmp_path / "m")
    assert (done.exit_code, done.stderr) == (1, "gapless: a scaled copy of the data needs more than there is.\n")
