"""The display of a path along C."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError
from gapless.plot import CPathDisplay

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
PROBLEM = gl.Problem(X, X[:, 0] + rng.normal(size=40) > 0)
PATH = gl.C_path(PROBLEM, 1e-3, 10.0, tol=0.05)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def named(ax, label):
    return next(each for each in ax.lines if each.get_label() == label)


def test_the_bounds_of_the_path_are_drawn_at_every_model_and_between():
    display = CPathDisplay.from_path(PATH).plot()
    bounds, gap = display.axes_
    assert display.figure_ is gap.figure
    C, primal = named(bounds, "P of the model, at most").get_data()
    _, dual = named(bounds, "the optimum, at least").get_data()
    assert set(PATH.Cs) <= set(C) and C[0] == PATH.C_min and C[-1] == PATH.C_max and (np.diff(C) > 0).all()
    constant = C * gl.solve(gl.Problem(np.zeros_like(X), PROBLEM.y, C=1.0), tol=1e-9).certificate.primal
    expected = np.array([PATH.bounds_at(each) for each in C])
    np.testing.assert_allclose(primal * constant, expected[:, 0], rtol=1e-8)
    np.testing.assert_allclose(dual * constant, expected[:, 1], rtol=1e-8)
    assert (dual <= primal).all() and primal.max() <= 1.0 + 1e-9
    drawn = named(gap, "proven at every C")
    np.testing.assert_array_equal(drawn.get_data(), [C, [PATH.gap_at(each) for each in C]])
    assert drawn.get_ydata().max() <= PATH.worst_gap
    assert named(gap, f"largest: {PATH.worst_gap:.3g}").get_ydata() == [PATH.worst_gap] * 2
    assert named(gap, "asked for: 0.05").get_ydata() == [0.05] * 2
    for ax in display.axes_:
        np.testing.assert_array_equal(named(ax, "models").get_xdata(), PATH.Cs)
        assert ax.get_xscale() == "log" and ax.get_xlim() == pytest.approx((1e-3, 10.0)) and ax.get_legend()
    assert (bounds.get_xlabel(), gap.get_xlabel()) == ("", "C")
    title = f"{len(PATH)} models prove a gap of at most {PATH.worst_gap:.3g} at every C from 0.001 to 10"
    assert bounds.get_title(loc="left").replace("\n", " ") == title == display.finding()


def test_the_arches_are_not_cut_between_the_points():
    display = CPathDisplay.from_path(PATH)
    assert display.gap.max() >= 0.97 * PATH.worst_gap


def test_one_axes_has_the_gap_and_two_have_both():
    display = CPathDisplay.from_path(PATH)
    _, ax = plt.subplots()
    assert display.plot(ax, legend=False, title="Mine").axes_ == [ax]
    assert (
        ax.get_ylabel() == "relative gap (P − D) / P" and ax.get_legend() is None and ax.get_title(loc="left") == "Mine"
    )
    _, both = plt.subplots(1, 2)
    assert display.plot(both).axes_ == list(both)
    assert [ax.get_xlabel() for ax in both] == ["C", "C"]


def test_a_single_model():
    path = gl.C_path(PROBLEM, 1.0, 1.0)
    display = CPathDisplay.from_path(path)
    assert display.finding() == f"1 model proves a gap of at most {path.worst_gap:.3g} at every C from 1 to 1"


def test_what_is_not_a_path_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        CPathDisplay.from_path(gl.solve(PROBLEM))
    assert (
        str(caught.value) == "path must be what gapless.C_path returns; got a Result: use from_result or from_results."
    )
    with pytest.raises(InvalidInputError, match="ax must be one Axes of Matplotlib or two; got 3 of them"):
        CPathDisplay.from_path(PATH).plot(plt.subplots(1, 3)[1])
