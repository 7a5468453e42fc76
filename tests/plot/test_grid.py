"""The heat map of a search: its numbers, colours, marks and words."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.model_selection
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

import gapless as gl
from gapless.model_selection import GridSearchCV
from gapless.plot import GridSearchDisplay
from gapless.plot.cells import HATCH, NO_SCORE, boundary
from gapless.plot.style import CHOSEN
from tests.estimators.data import iris
from tests.plot.results import cv_results, grid

NAN = float("nan")
PARAMS = grid(C=[0.1, 1, 10], gamma=[0.01, 0.1])
MEAN = [0.5, 0.6, 0.8, 0.9, NAN, 0.88]
LOW, HIGH = [0.5, 0.6, 0.8, 0.8791, 0.2, 0.87], [0.5, 0.6, 0.8, 0.9204, 0.7, 0.89]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def drawn():
    return GridSearchDisplay.from_cv_results(cv_results(PARAMS, MEAN, LOW, HIGH)).plot()


def cell_of(patch):
    """(row, column) of the cell that a rectangle is in."""
    x, y = patch.get_xy()
    return round(y + 0.5 * patch.get_height()), round(x + 0.5 * patch.get_width())


def texts(ax):
    return {(round(text.get_position()[1]), round(text.get_position()[0]), text.get_text()) for text in ax.texts}


def patches(ax, **wanted):
    return [
        each for each in ax.patches if all(getattr(each, f"get_{name}")() == value for name, value in wanted.items())
    ]


def framed(ax):
    """The cells with a frame in the colour of the choice."""
    return [
        cell_of(each) for each in ax.patches if not each.get_fill() and to_hex(each.get_edgecolor()).upper() == CHOSEN
    ]


def legend(ax):
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]


def test_cells_have_the_scores(drawn):
    (image,) = drawn.ax_.images
    np.testing.assert_array_equal(np.ma.filled(image.get_array(), NAN), np.reshape(MEAN, (3, 2)).T)
    assert tuple(image.get_extent()) == (-0.5, 2.5, -0.5, 1.5)
    assert image.get_cmap().name == "cividis"
    assert [tick.get_text() for tick in drawn.ax_.get_xticklabels()] == ["0.1", "1", "10"]
    assert [tick.get_text() for tick in drawn.ax_.get_yticklabels()] == ["0.01", "0.1"]
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("C", "gamma")
    assert drawn.figure_.axes[1].get_ylabel() == "mean score of 3 folds"
    assert not drawn.ax_.yaxis_inverted()


def test_cells_say_what_is_known_of_them(drawn):
    assert texts(drawn.ax_) == {
        (0, 0, "0.500"),
        (1, 0, "0.600"),
        (0, 1, "0.800"),
        (1, 1, "0.900"),
        (1, 1, "0.879…0.921"),
        (0, 2, "≤ 0.700"),
        (1, 2, "0.880"),
        (1, 2, "0.870…0.890"),
    }


def test_marks_of_what_is_proven(drawn):
    ax = drawn.ax_
    assert [cell_of(each) for each in patches(ax, hatch=HATCH)] == [(1, 1), (1, 2)]
    grey = [each for each in ax.patches if each.get_fill() and to_hex(each.get_facecolor()).upper() == NO_SCORE]
    assert [cell_of(each) for each in grey] == [(0, 2)]
    assert framed(ax) == [(1, 1)]
    dashed = [line for line in ax.lines if line.get_color() == CHOSEN]
    assert len(dashed) == 1 and dashed[0].is_dashed()
    corners = np.column_stack(dashed[0].get_data())
    np.testing.assert_allclose([corners.min(axis=0), corners.max(axis=0)], [[0.5, 0.5], [2.5, 1.5]], atol=0.02)
    assert legend(ax) == ["chosen", "tied with it", "undecided", "dropped"]
    assert ax.get_title(loc="left") == "C = 1, gamma = 0.1, tied with 1 other"


def test_nothing_of_what_is_written_overlaps(drawn):
    drawn.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in drawn.ax_.texts]
    boxes += [tick.get_window_extent() for axis in (drawn.ax_.xaxis, drawn.ax_.yaxis) for tick in axis.get_ticklabels()]
    boxes += [drawn.ax_.get_legend().get_window_extent(), drawn.ax_.xaxis.label.get_window_extent()]
    boxes += [drawn.figure_.axes[1].get_tightbbox()]
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
        assert drawn.figure_.bbox.contains(box.x0, box.y0) and drawn.figure_.bbox.contains(box.x1, box.y1)


def test_ink_is_read_on_its_cell(drawn):
    inks = {text.get_text(): text.get_color() for text in drawn.ax_.texts}
    assert inks["0.500"] == "white" and inks["0.900"] == "black"


def test_a_proven_choice_is_called_so():
    results = cv_results(
        PARAMS, [0.5, 0.6, 0.8, 0.95, NAN, 0.88], [*LOW[:3], 0.93, *LOW[4:]], [*HIGH[:3], 0.97, *HIGH[4:]]
    )
    ax = GridSearchDisplay.from_cv_results(results).plot().ax_
    assert ax.get_title(loc="left") == "Proven best: C = 1, gamma = 0.1"
    assert legend(ax) == ["proven best", "undecided", "dropped"] and not ax.lines


def test_results_of_scikit_learn_have_no_marks_but_the_choice():
    search = sklearn.model_selection.GridSearchCV(gl.SVC(), {"C": [0.1, 1], "gamma": [0.1, 1]}, cv=3).fit(*iris())
    display = GridSearchDisplay.from_estimator(search).plot()
    ax = display.ax_
    assert framed(ax) == [display.table.chosen]
    assert not patches(ax, hatch=HATCH) and not ax.lines and legend(ax) == []
    assert len(ax.texts) == 4 and ax.get_title(loc="left").startswith("Best: ")
    for (row, column), mean in np.ndenumerate(display.table.mean):
        assert (row, column, f"{mean:.3f}") in texts(ax)


def test_our_search():
    search = GridSearchCV(gl.SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1], "shrinking": [True, False]}, cv=3).fit(
        *iris()
    )
    display = GridSearchDisplay.from_estimator(search, x="gamma", y="C").plot()
    mean = search.cv_results_["mean_test_score"].reshape(3, 2, 2)
    np.testing.assert_array_equal(display.table.mean, mean.max(axis=2))
    assert display.figure_.axes[1].get_ylabel() == "mean score of 3 folds\nbest over shrinking"
    assert framed(display.ax_) == [display.table.chosen]


def test_words_are_read_from_the_top_and_turned_where_they_are_long():
    params = grid(C=[1, 10], kernel=["linear", "rbf", "sigmoid", "a word of many letters"])
    upright = GridSearchDisplay.from_cv_results(cv_results(params, np.arange(8) / 8)).plot().ax_
    assert [tick.get_text() for tick in upright.get_yticklabels()] == [
        "linear",
        "rbf",
        "sigmoid",
        "a word of many letters",
    ]
    assert upright.yaxis_inverted() and {tick.get_rotation() for tick in upright.get_xticklabels()} == {0}
    turned = GridSearchDisplay.from_cv_results(cv_results(params, np.arange(8) / 8), x="kernel", y="C").plot().ax_
    assert {tick.get_rotation() for tick in turned.get_xticklabels()} == {30}


@pytest.mark.parametrize("x", ["C", "gamma"])
def test_fifty_values_have_a_few_round_ticks_and_no_numbers(x):
    params = grid(C=np.logspace(-3, 3, 50).tolist(), gamma=[0.01, 0.02, 0.03])
    mean = np.linspace(0.1, 0.9, 150)
    display = GridSearchDisplay.from_cv_results(cv_results(params, mean, mean - 0.01, mean + 0.01), x=x).plot()
    axis = display.ax_.xaxis if x == "C" else display.ax_.yaxis
    assert [tick.get_text() for tick in axis.get_ticklabels()] == ["0.001", "0.01", "0.1", "1", "10", "100", "1000"]
    np.testing.assert_allclose(axis.get_ticklocs(), np.arange(7) * 49 / 6, atol=1e-9)
    assert not display.ax_.texts
    assert len(patches(display.ax_, hatch=HATCH)) == 150


def test_low_scores_leave_colours_to_the_others():
    mean = [0.1, 0.9, 0.95, 0.97, 0.96, 0.98]
    display = GridSearchDisplay.from_cv_results(cv_results(PARAMS, mean)).plot()
    assert display.ax_.images[0].get_clim() == pytest.approx((0.98 - 8 * (0.98 - (0.96 + 0.01 / 3)), 0.98))
    assert display.figure_.axes[1].patches  # the end of the bar for lower scores
    even = GridSearchDisplay.from_cv_results(cv_results(PARAMS, np.linspace(0.1, 0.9, 6))).plot()
    assert even.ax_.images[0].get_clim() == (0.1, 0.9) and not even.figure_.axes[1].patches
    equal = GridSearchDisplay.from_cv_results(cv_results(PARAMS, [0.2, 0.5, 0.5, 0.5, 0.5, 0.5])).plot()
    assert equal.ax_.images[0].get_clim() == (0.2, 0.5)


def test_one_row():
    display = GridSearchDisplay.from_cv_results(
        cv_results(grid(C=[2.0**k for k in range(-6, 7, 2)], gamma=[1]), [0.5] * 7), x="C", y="gamma"
    ).plot()
    assert display.table.mean.shape == (1, 7) and len(display.ax_.texts) == 7
    assert display.ax_.get_xticklabels()[0].get_text() == "$2^{-6}$"


def test_scores_beyond_one_have_the_digits_that_matter():
    results = cv_results(PARAMS, [-2412.3, -980.2, -512.7, -87.4, -90.0, -101.0], metric="neg_mean_squared_error")
    display = GridSearchDisplay.from_cv_results(results).plot()
    assert {text.get_text() for text in display.ax_.texts} == {"−2412", "−980", "−513", "−87", "−90", "−101"}
    assert display.figure_.axes[1].get_ylabel() == "mean negative mean squared error of 3 folds"


def test_failed_fits_and_cells_without_a_candidate():
    params = [{"C": 1, "gamma": 1}, {"C": 2, "gamma": 1}, {"C": 1, "gamma": 2}]
    display = GridSearchDisplay.from_cv_results(cv_results(params, [0.5, NAN, 0.6])).plot()
    assert texts(display.ax_) == {(0, 0, "0.500"), (0, 1, "failed"), (1, 0, "0.600")}
    display = GridSearchDisplay.from_cv_results(cv_results(params, [NAN, NAN, NAN])).plot()
    assert {text.get_text() for text in display.ax_.texts} == {"failed"}
    assert display.ax_.get_title(loc="left") == "No candidate has a score"


def test_one_parameter_is_a_curve():
    display = GridSearchDisplay.from_cv_results(cv_results(grid(C=[0.1, 1, 10]), [0.5, 0.9, 0.7])).plot()
    assert display.table.y is None and not display.ax_.images
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), [0.5, 0.9, 0.7])


def test_random_draws_are_points():
    rng = np.random.default_rng(0)
    params = [{"C": 10 ** rng.uniform(-3, 3), "gamma": 10 ** rng.uniform(-3, 1)} for _ in range(12)]
    mean, low, high = rng.uniform(0.5, 0.9, (3, 12))
    low, mean, high = np.sort([low, mean, high], axis=0)
    mean[3], high[3] = NAN, 0.3
    display = GridSearchDisplay.from_cv_results(cv_results(params, mean, low, high)).plot()
    ax = display.ax_
    dropped, scored, hatched, tied, chosen = ax.collections[:5]
    C = [candidate["C"] for candidate in params]
    gamma = [candidate["gamma"] for candidate in params]
    place = np.lexsort((C, gamma))
    place = place[place != 3]
    np.testing.assert_allclose(scored.get_offsets(), np.column_stack([C, gamma])[place])
    np.testing.assert_array_equal(scored.get_array(), mean[place])
    np.testing.assert_allclose(dropped.get_offsets(), [[C[3], gamma[3]]])
    assert hatched.get_hatch() and len(hatched.get_offsets()) == 11
    best = int(np.nanargmax(mean))
    np.testing.assert_allclose(chosen.get_offsets(), [[C[best], gamma[best]]])
    assert len(tied.get_offsets()) == len(display.scores.tied) - 1
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel()) == ("log", "log", "C")


def test_given_axes_and_options_are_used():
    figure = plt.figure(layout="constrained")
    part = figure.subfigures(1, 2)[1]
    ax = part.subplots()
    display = GridSearchDisplay.from_cv_results(cv_results(PARAMS, MEAN, LOW, HIGH))
    display.plot(ax, colorbar=False, legend=False, title="Mine", cmap="viridis", vmin=0.0, vmax=1.0)
    assert display.ax_ is ax and display.figure_ is part and len(figure.axes) == 1 and ax.get_legend() is None
    assert ax.get_title(loc="left") == "Mine"
    assert ax.images[0].get_clim() == (0.0, 1.0) and ax.images[0].get_cmap().name == "viridis"


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1))
def test_boundaries_enclose_the_cells_and_no_others(cells):
    lines = boundary(sorted(cells))
    area, edges = 0.0, 0
    for line in lines:
        assert (line[0] == line[-1]).all()
        assert (np.abs(np.diff(line, axis=0)).sum(axis=1) == 1).all()
        x, y = line.T
        area += 0.5 * float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))
        edges += len(line) - 1
    assert area == pytest.approx(len(cells))
    neighbours = [
        (row + down, column + right) for row, column in cells for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
    ]
    assert edges == sum(each not in cells for each in neighbours)


def test_frames_stay_inside_of_their_cells(drawn):
    for each in drawn.ax_.patches:
        assert isinstance(each, Rectangle)
        row, column = cell_of(each)
        assert column - 0.5 <= each.get_x() and each.get_x() + each.get_width() <= column + 0.5
        assert row - 0.5 <= each.get_y() and each.get_y() + each.get_height() <= row + 0.5
