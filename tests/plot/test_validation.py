"""Validation curves: the line, the certified band, the spread of the folds, and the marks."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.model_selection
import sklearn.svm
from sklearn.model_selection import StratifiedGroupKFold

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.model_selection import GridSearchCV
from gapless.plot import ValidationCurveDisplay
from gapless.plot.style import CHOSEN
from tests.estimators.data import iris
from tests.plot.results import cv_results, grid

NAN = float("nan")
CS = [0.1, 1.0, 10.0, 100.0]
MEAN, LOW, HIGH = [NAN, 0.8, 0.9, 0.85], [0.3, 0.8, 0.84, 0.83], [0.6, 0.8, 0.95, 0.86]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def named(ax, label):
    return next(each for each in [*ax.lines, *ax.collections, *ax.patches] if each.get_label() == label)


def band(ax, label):
    """(low, high) of a band at each x of its corners."""
    corners = np.concatenate([path.vertices for path in named(ax, label).get_paths()])
    return {
        x: (corners[corners[:, 0] == x, 1].min(), corners[corners[:, 0] == x, 1].max())
        for x in np.unique(corners[:, 0])
    }


def test_the_line_its_bands_and_its_marks():
    results = cv_results(grid(C=CS), MEAN, LOW, HIGH, train=[NAN, 0.91, 0.92, 0.93])
    display = ValidationCurveDisplay.from_cv_results(results).plot()
    ax = display.ax_
    np.testing.assert_array_equal(named(ax, "held-out rows").get_xdata(), CS)
    np.testing.assert_array_equal(named(ax, "held-out rows").get_ydata(), MEAN)
    np.testing.assert_array_equal(named(ax, "training rows").get_ydata(), [NAN, 0.91, 0.92, 0.93])
    assert band(ax, "certified interval") == {1.0: (0.8, 0.8), 10.0: (0.84, 0.95), 100.0: (0.83, 0.86)}
    spread = band(ax, "± standard deviation of the folds")
    assert spread == {C: (mean - 0.01, mean + 0.01) for C, mean in zip(CS[1:], MEAN[1:], strict=True)}
    alphas = [named(ax, label).get_alpha() for label in ("certified interval", "± standard deviation of the folds")]
    assert alphas[0] > 2 * alphas[1]
    undecided = named(ax, "undecided")
    np.testing.assert_array_equal(undecided.get_xdata(), [10.0, 100.0])
    assert undecided.get_markerfacecolor() == "white"
    dropped = named(ax, "dropped: score is at most this")
    assert (dropped.get_xdata().tolist(), dropped.get_ydata().tolist()) == ([0.1], [0.6])
    chosen = named(ax, "chosen")
    assert (chosen.get_xdata().tolist(), chosen.get_ydata().tolist()) == ([10.0], [0.9])
    assert chosen.get_markeredgecolor() == CHOSEN
    tied = named(ax, "tied")
    assert (tied.get_x(), tied.get_x() + tied.get_width()) == pytest.approx((10**0.5, 10**2.5))
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "C", "mean score of 3 folds")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.1", "1", "10", "100"]
    assert ax.get_title(loc="left") == "C = 10, tied with 1 other"


def test_a_decided_curve_has_no_certified_band_to_show():
    mean = [0.5, 0.6, 0.9, 0.7]
    ax = ValidationCurveDisplay.from_cv_results(cv_results(grid(C=CS), mean, mean, mean)).plot().ax_
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["± standard deviation of the folds", "proven best"]
    assert ax.get_title(loc="left") == "Proven best: C = 10"


def test_words_are_points_with_bars():
    params = grid(kernel=["linear", "rbf", "poly"])
    ax = (
        ValidationCurveDisplay.from_cv_results(cv_results(params, [0.7, 0.8, 0.6], [0.7, 0.79, 0.6], [0.7, 0.81, 0.6]))
        .plot()
        .ax_
    )
    assert ax.lines[0].get_linestyle() == "None" and ax.lines[0].get_xdata().tolist() == [0, 1, 2]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["linear", "rbf", "poly"]
    bars = np.array(named(ax, "certified interval").get_segments())
    np.testing.assert_array_equal(bars[:, :, 1], [[0.7, 0.7], [0.79, 0.81], [0.6, 0.6]])


def test_long_words_are_turned():
    params = grid(kernel=[f"a kernel with a long name {k}" for k in range(6)])
    ax = ValidationCurveDisplay.from_cv_results(cv_results(params, np.arange(6))).plot().ax_
    assert {tick.get_rotation() for tick in ax.get_xticklabels()} == {30}


def test_many_values_leave_the_ticks_to_the_axis():
    params = grid(C=np.logspace(-3, 3, 50).tolist())
    ax = ValidationCurveDisplay.from_cv_results(cv_results(params, np.arange(50))).plot().ax_
    assert len(ax.get_xticks()) < 12 and ax.lines[0].get_markersize() < 4
    params = grid(coef0=[-10.0, -1.0, 0.0, 1.0, 10.0])
    assert ValidationCurveDisplay.from_cv_results(cv_results(params, np.arange(5))).plot().ax_.get_xscale() == "symlog"


@pytest.mark.parametrize("search_class", [GridSearchCV, sklearn.model_selection.GridSearchCV])
def test_the_best_over_the_other_parameters_of_a_search(search_class):
    search = search_class(gl.SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1]}, cv=3).fit(*iris())
    display = ValidationCurveDisplay.from_estimator(search, param_name="gamma").plot()
    mean = search.cv_results_["mean_test_score"].reshape(3, 2)
    np.testing.assert_array_equal(display.table.mean[0], mean.max(axis=0))
    assert display.ax_.get_ylabel().endswith("\nbest over C")


@pytest.mark.parametrize("estimator", [gl.SVC(), sklearn.svm.SVC()])
def test_an_estimator_is_cross_validated(estimator):
    X, y = iris()
    groups = np.arange(len(y)) % 7
    options = {"cv": StratifiedGroupKFold(3), "scoring": "balanced_accuracy"}
    display = ValidationCurveDisplay.from_estimator(
        estimator, X, y, param_name="C", param_range=np.array([0.1, 1.0]), params={"groups": groups}, **options
    )
    train, test = sklearn.model_selection.validation_curve(
        estimator, X, y, param_name="C", param_range=[0.1, 1.0], groups=groups, **options
    )
    np.testing.assert_allclose(display.table.mean[0], test.mean(axis=1))
    np.testing.assert_allclose(display.table.std[0], test.std(axis=1))
    np.testing.assert_allclose(display.table.train_mean[0], train.mean(axis=1))
    assert display.plot().ax_.get_ylabel() == "mean balanced accuracy of 3 folds"


def test_one_value():
    ax = ValidationCurveDisplay.from_cv_results(cv_results([{"C": 1.0}], [0.5], [0.5], [0.5])).plot().ax_
    assert ax.get_title(loc="left") == "Proven best: C = 1" and ax.lines[0].get_ydata().tolist() == [0.5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"X": iris()[0], "y": iris()[1]},
            "param_name and param_range must be given with X: the parameter and the values to try.",
        ),
        (
            {"param_name": "C", "param_range": [1, 2], "cv": 3},
            "X must be given with param_range, cv; without X a fitted search is drawn.",
        ),
    ],
)
def test_a_sentence_says_what_is_missing(arguments, message):
    with pytest.raises(InvalidInputError) as caught:
        ValidationCurveDisplay.from_estimator(gl.SVC(), **arguments)
    assert str(caught.value) == message
