"""Displays of fitted estimators, and what they say of anything else."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.plot import ConvergenceDisplay, DecisionDisplay, GapDisplay
from tests.estimators.data import iris

X, y = make_moons(80, noise=0.2, random_state=0)
MODEL = gl.SVC(C=5.0, gamma=1.0, tol=1e-6).fit(X, y)
RESULT = gl.solve(gl.Problem(X, y))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("display", [ConvergenceDisplay, GapDisplay])
def test_one_estimator_is_its_trace(display):
    drawn = display.from_estimator(MODEL)
    (curve,) = drawn.curves
    assert curve.label == "SVC" and drawn.xlabel == MODEL.trace_.unit
    np.testing.assert_array_equal(curve.x, MODEL.trace_.iterations)
    np.testing.assert_array_equal(curve.primal, MODEL.trace_.best_primal)
    np.testing.assert_array_equal(curve.dual, MODEL.trace_.best_dual)
    np.testing.assert_array_equal(curve.gap, MODEL.trace_.relative_gap)
    assert curve.primal[-1] == pytest.approx(MODEL.certificate_.primal, rel=1e-9)
    ax = drawn.plot().ax_
    assert ax.get_title(loc="left") and ax.get_xlabel() == MODEL.trace_.unit and ax.get_ylabel() and ax.get_legend()


@pytest.mark.parametrize("display", [ConvergenceDisplay, GapDisplay])
def test_several_estimators_have_looks_of_their_own(display):
    other = gl.SVC(C=0.1).fit(X, y)
    drawn = display.from_estimator({"large C": MODEL, "small C": other}, x="seconds")
    assert [curve.label for curve in drawn.curves] == ["large C", "small C"] and drawn.xlabel == "seconds"
    assert len({curve.color for curve in drawn.curves}) == len({curve.marker for curve in drawn.curves}) == 2
    listed = display.from_estimator([MODEL, gl.LinearSVC().fit(X, y)])
    assert [curve.label for curve in listed.curves] == ["SVC", "LinearSVC"] and listed.xlabel == "seconds"


def test_seconds_of_a_short_span_have_labels():
    display = GapDisplay.from_estimator(MODEL, x="seconds")
    display.curves[0].x[:] = np.linspace(2e-4, 9e-4, len(display.curves[0].x))
    ax = display.plot().ax_
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    shown = [label.get_text() for label in ax.get_xticklabels() if low <= label.get_position()[0] <= high]
    assert shown == ["0.0002", "0.0005"]


def test_pipelines_and_searches_are_their_model():
    pipeline = make_pipeline(StandardScaler(), gl.SVC()).fit(X, y)
    assert GapDisplay.from_estimator(pipeline).curves[0].label == "SVC"
    search = GridSearchCV(pipeline, {"svc__C": [0.1, 1.0]}, cv=2).fit(X, y)
    (curve,) = GapDisplay.from_estimator(search).curves
    np.testing.assert_array_equal(curve.gap, search.best_estimator_[-1].trace_.relative_gap)


def test_of_many_subproblems_the_widest_gap_is_drawn_and_named():
    model = gl.SVC().fit(*iris())
    (curve,) = GapDisplay.from_estimator(model, tol=1e-3).curves
    assert curve.label == "SVC, the widest gap of 3 subproblems"
    assert curve.gap[-1] == pytest.approx(max(each.relative_gap for each in model.certificates_))


TAKES = "results must be what gapless.solve returns, a list of such results, or a dict of them by name"
NEEDS = "from_estimator draws the history (trace_) that an estimator of Gapless keeps of its proof"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GapDisplay.from_results(MODEL), f"{TAKES}; got an estimator, SVC: use from_estimator."),
        (lambda: GapDisplay.from_results(None), f"{TAKES}; got None."),
        (lambda: GapDisplay.from_results("sdca"), f"{TAKES}; got a value of type str."),
        (lambda: GapDisplay.from_results(RESULT.trace), f"{TAKES}; got a value of type Trace."),
        (lambda: GapDisplay.from_results([RESULT, 3.0]), f"{TAKES}; the list holds a value of type float."),
        (lambda: GapDisplay.from_results({"a": MODEL}), f"{TAKES}; 'a' is an estimator, SVC: use from_estimator."),
        (
            lambda: GapDisplay.from_results(gl.compare(RESULT.problem, ["smo"])),
            f"{TAKES}; got a Comparison: give its results.",
        ),
        (
            lambda: ConvergenceDisplay.from_estimator(RESULT),
            "from_estimator takes a fitted estimator; got a Result: use from_result or from_results.",
        ),
        (
            lambda: GapDisplay.from_estimator(gl.SVC),
            "from_estimator takes a fitted estimator; got the class SVC instead of an object of it.",
        ),
        (lambda: GapDisplay.from_estimator(X), "from_estimator takes a fitted estimator; got a value of type ndarray."),
        (lambda: GapDisplay.from_estimator([]), "estimators must hold at least one estimator; got none."),
        (
            lambda: GapDisplay.from_estimator([MODEL, MODEL]),
            "estimators must be given by name, as a dict, when two are of the same class.",
        ),
        (
            lambda: GapDisplay.from_estimator(sklearn.svm.SVC().fit(X, y)),
            f"{NEEDS}; got sklearn's SVC, which has none.",
        ),
        (
            lambda: GapDisplay.from_estimator({"ridge": gl.KernelRidge().fit(X, y)}),
            f"{NEEDS}; got gapless's KernelRidge, which has none.",
        ),
        (
            lambda: GapDisplay.from_estimator([MODEL, gl.LinearSVC(solver="sdca").fit(X, y)], x="iterations"),
            "x='iterations' needs one unit, but the estimators count epochs, pairs; use x='seconds'.",
        ),
        (
            lambda: ConvergenceDisplay.from_estimator(MODEL, sides={"smo": "dual"}),
            "sides names smo, which is not among the estimators.",
        ),
        (
            lambda: DecisionDisplay.from_result(MODEL),
            "result must be what gapless.solve returns; got an estimator, SVC: use from_estimator.",
        ),
        (
            lambda: DecisionDisplay.from_result(RESULT, X, feature_map=3),
            "feature_map must have transform, or be a function of points; got a value of type int.",
        ),
        (
            lambda: DecisionDisplay.from_result(RESULT, grid=1),
            "grid must be a whole number of points along each axis, at least 2; got 1.",
        ),
        (
            lambda: DecisionDisplay.from_estimator(RESULT, X, y),
            "from_estimator takes a fitted estimator; got a Result: use from_result or from_results.",
        ),
        (
            lambda: DecisionDisplay.from_estimator(gl.SVR().fit(X, y), X, y),
            "DecisionDisplay draws a decision function, which SVR has none of.",
        ),
        (
            lambda: DecisionDisplay.from_estimator(gl.SVC().fit(*iris()), iris()[0][:, :2], iris()[1]),
            "DecisionDisplay draws two classes; got SVC of 3.",
        ),
        (
            lambda: DecisionDisplay.from_estimator(MODEL, np.ones((80, 3)), y),
            "DecisionDisplay draws a plane, so X must have 2 columns; got 3.",
        ),
        (
            lambda: DecisionDisplay.from_estimator(MODEL, X),
            "y must be given: the labels of X, which a fitted classifier does not keep.",
        ),
        (
            lambda: DecisionDisplay.from_estimator(MODEL, X, y[:5]),
            "y must have a label for each of the 80 samples; got the shape (5,).",
        ),
        (lambda: DecisionDisplay.from_estimator(MODEL, X, y + 1), "y must hold the labels 0 and 1; got 2."),
        (
            lambda: DecisionDisplay.from_estimator(MODEL, X[:9], y[:9]),
            "X must be the 80 samples that SVC was trained on; got 9.",
        ),
    ],
)
def test_a_sentence_says_what_was_given_and_what_is_taken(call, message):
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("call", [GapDisplay.from_estimator, lambda model: DecisionDisplay.from_estimator(model, X, y)])
def test_an_estimator_that_is_not_fitted(call):
    for estimator in (gl.SVC(), make_pipeline(StandardScaler(), gl.SVC())):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call(estimator)


@pytest.mark.parametrize(
    "model", [MODEL, gl.NuSVC(nu=0.2), gl.LinearSVC(), sklearn.svm.SVC(), gl.SVC(kernel="linear", C=0.01)], ids=str
)
def test_the_decision_function_and_support_vectors_of_a_machine(model):
    model = model.fit(X, y)
    display = DecisionDisplay.from_estimator(model, X, y, grid=20).plot()
    points = np.column_stack([axis.ravel() for axis in np.meshgrid(display.x0, display.x1)])
    np.testing.assert_array_equal(display.f.ravel(), model.decision_function(points))
    if hasattr(model, "support_"):
        np.testing.assert_array_equal(display.support, np.sort(model.support_))
    assert display.alpha.max() == 1.0
    np.testing.assert_array_equal(display.signs, np.where(y == 1, 1, -1))
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["class 0", "class 1", "support vector, area ∝ α", "f = 0", "margins f = ±1"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x₁", "x₂") and display.ax_.get_title(loc="left")


@pytest.mark.parametrize("model", [gl.KernelLogisticRegression(), gl.KernelFisherDiscriminant()], ids=str)
def test_a_model_without_support_vectors_or_margins_shows_none(model):
    display = DecisionDisplay.from_estimator(model.fit(X, y), X, y, grid=20).plot()
    assert len(display.support) == 0 and not display.margins
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["class 0", "class 1", "f = 0"]


def test_a_one_class_machine():
    model = gl.OneClassSVM(nu=0.2, gamma=1.0).fit(X)
    display = DecisionDisplay.from_estimator(model, X, grid=20).plot()
    f = model.decision_function(X)
    np.testing.assert_array_equal(display.signs, np.where(f < -model.tol, -1, 1))
    assert (model.predict(X) != display.signs).any()  # samples on the boundary, a rounding error outside of it
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["sample outside", "sample inside", "support vector, area ∝ α", "f = 0"]


def test_columns_of_a_table_name_the_axes():
    table = pd.DataFrame(X, columns=["length", "width"])
    ax = DecisionDisplay.from_estimator(gl.SVC().fit(table.to_numpy(), y), table, y, grid=20).plot().ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
