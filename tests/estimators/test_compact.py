"""compact(): what stays works as before, what was dropped is a sentence.

Bytes of pickles, on data of variance 1, next to those of scikit-learn 1.9:

    data            estimator     fitted    compact()   scikit-learn
    breast cancer   SVC           42,220       32,885         32,206
    breast cancer   LinearSVC      6,659        1,638            840
    breast cancer   SVR           67,752       63,014         62,763
    breast cancer   LinearSVR      6,541        1,522            729
    digits          SVC          780,982      514,988        500,327
    digits          LinearSVC    159,558        8,972          5,860
    digits          SVR          821,486      806,923        806,423
    digits          LinearSVR     16,912        1,798          1,004

What is left above scikit-learn's is the certificate of each subproblem and what decision_interval needs of it, as text
that skops reads too, compressed: at most 500 bytes a subproblem.
"""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import scale
from sklearn.svm import SVC

import gapless as gl
from gapless.errors import DroppedError
from tests.cli.running import csv_text, data, run

TRACE = r"^compact\(\) has dropped the history of the fit \(trace_, traces_\); fit the model again to have it\.$"
ALPHA = r"^compact\(\) has dropped the dual variables of all samples \(alpha_\); fit the model again to have it\.$"
MODELS = [
    (gl.SVC(), "two"),
    (gl.SVC(kernel="linear"), "three"),
    (gl.NuSVC(nu=0.2), "three"),
    (gl.LinearSVC(), "two"),
    (gl.LinearSVC(multi_class="crammer_singer"), "three"),
    (gl.LinearSVC(penalty="l1"), "two"),
    (gl.SVR(), "smooth"),
    (gl.NuSVR(), "smooth"),
    (gl.LinearSVR(C=0.1), "smooth"),
    (gl.OneClassSVM(nu=0.2), "two"),
    (gl.KernelLogisticRegression(), "three"),
    (gl.KernelPerceptron(form="averaged"), "two"),
    (gl.KernelFisherDiscriminant(), "two"),
]


def outputs(model, X):
    names = ("predict", "decision_function", "decision_interval", "predict_proba")
    return {name: np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)}


@pytest.mark.parametrize(("model", "kind"), MODELS, ids=repr)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_predictions_proofs_pickles_and_files_stay(model, kind, storage, tmp_path):
    X, y = data(kind)
    X = storage(X)
    model.fit(X, y)
    before, public = outputs(model, X), {name: value for name, value in vars(model).items() if name.endswith("_")}
    certificate = getattr(model, "certificate_", None)
    size = len(pickle.dumps(model))
    assert model.compact() is model and model.compact() is model
    model.save(tmp_path / "m")
    for again in (model, pickle.loads(pickle.dumps(model)), gl.load(tmp_path / "m")):
        after = outputs(again, X)
        assert after.keys() == before.keys()
        for name in before:
            np.testing.assert_array_equal(after[name], before[name])
        assert repr(getattr(again, "certificate_", None)) == repr(certificate)  # by its text, in which NaN equals NaN
        if certificate is not None:
            for name in ("trace_", "traces_"):
                with pytest.raises(DroppedError, match=TRACE):
                    getattr(again, name)
    assert {name for name in vars(model) if name.endswith("_")} == public.keys()
    if certificate is not None:
        assert len(pickle.dumps(model)) < size


@pytest.mark.parametrize(("model", "kind"), MODELS[:6], ids=repr)
def test_dual_variables_are_dropped_with_a_sentence(model, kind):
    X, y = data(kind)
    model.fit(X, y)
    assert max(np.max(alpha) for alpha in model.alpha_) > 0
    with pytest.raises(DroppedError, match=ALPHA):
        model.compact().alpha_  # noqa: B018
    assert not hasattr(model, "alpha_")


def test_a_regression_has_its_dual_variables_from_its_support_vectors():
    model = gl.SVR().fit(*data("smooth"))
    before = model.alpha_
    np.testing.assert_array_equal(model.compact().alpha_, before)


def test_what_is_not_fitted_has_nothing_to_drop():
    with pytest.raises(NotFittedError, match="SVC"):
        gl.SVC().compact()
    assert not hasattr(gl.SVC(), "trace_") and not hasattr(gl.KernelFisherDiscriminant().fit(*data()), "trace_")


@pytest.mark.parametrize("model", [gl.SVC(), gl.LinearSVC(), gl.LinearSVC(multi_class="crammer_singer")], ids=repr)
def test_a_warm_start_begins_anew(model):
    X, y = data()
    model.set_params(warm_start=True).fit(X, y)
    fresh = model.certificate_
    model.compact().fit(X, y)
    assert model.certificate_ == fresh and len(model.trace_.seconds) and len(model.alpha_)


def test_a_figure_of_the_history_says_what_is_missing():
    with pytest.raises(DroppedError, match=TRACE):
        gl.plot.GapDisplay.from_estimator(gl.SVC().fit(*data()).compact())


@pytest.mark.parametrize(
    ("kind", "model"), [("two", gl.SVC()), ("three", gl.NuSVC(nu=0.2)), ("smooth", gl.SVR())], ids=repr
)
def test_support_vectors_are_still_proven_by_verify(kind, model, tmp_path):
    X, y = data(kind)
    model.fit(X, y).compact().save(tmp_path / "m")
    (tmp_path / "data.csv").write_text(csv_text(X, y))
    done = run("verify", tmp_path / "m", tmp_path / "data.csv", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["holds"] is True
    (tmp_path / "data.csv").write_text(csv_text(X[::-1], y))
    assert run("verify", tmp_path / "m", tmp_path / "data.csv").exit_code == 1
    assert run("info", tmp_path / "m").exit_code == 0


def test_a_linear_model_cannot_be_proven_without_its_dual_variables(tmp_path):
    X, y = data()
    gl.LinearSVC().fit(X, y).compact().save(tmp_path / "m")
    (tmp_path / "data.csv").write_text(csv_text(X, y))
    done = run("verify", tmp_path / "m", tmp_path / "data.csv")
    assert (done.exit_code, done.stderr) == (
        2,
        "gapless: compact() has dropped the dual variables of all samples (alpha_); fit the model again to have it.\n",
    )


def test_a_compact_pickle_is_as_large_as_scikit_learns_and_its_proofs():
    """Beside scikit-learn's arrays: at most 500 bytes a subproblem and 2,000 in all, for as many support vectors."""
    X, y = load_digits(return_X_y=True)
    X = scale(X)
    ours, theirs = gl.SVC().fit(X, y).compact(), SVC().fit(X, y)
    vectors = (len(ours.support_) - len(theirs.support_)) * (8 * 64 + 8 * 9 + 8)
    assert len(pickle.dumps(ours)) <= len(pickle.dumps(theirs)) + 45 * 500 + 2_000 + vectors
