"""No contour is drawn across a jump: on polar features lines end where the function does, and nowhere else."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import gapless as gl
from gapless.demo.rings import make_rings
from gapless.features import Polar
from gapless.plot import DecisionDisplay
from gapless.plot.tears import sample

LINE = np.linspace(-2.0, 2.0, 41)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def spiral(n=200):
    """Two classes on both sides of a spiral, whose arms are far apart at angle π."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(-np.pi, np.pi, n)
    label = np.arange(n) % 2
    radius = 1.5 + angle / 4 + 0.8 * label + rng.normal(0, 0.1, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), label


def segments(ax):
    """All contour lines as (level, points)."""
    return [
        (level, points)
        for drawn in ax.collections
        if hasattr(drawn, "allsegs") and not drawn.filled
        for level, lines in zip(drawn.levels, drawn.allsegs, strict=True)
        for points in lines
    ]


@pytest.mark.parametrize("data", [make_rings, spiral])
def test_every_point_of_a_line_has_its_level_next_to_the_cut_too(data):
    X, y = data()
    model = make_pipeline(Polar(), gl.SVC(kernel="linear", C=10.0)).fit(X, y)
    display = DecisionDisplay.from_estimator(model, X, y).plot()
    w, b = model[-1].coef_[0], model[-1].intercept_[0]
    (k,) = display.grid.breaks[1]
    assert display.grid.breaks[0] == () and not display.grid.torn.any()
    assert display.x1[k - 1] < 0 <= display.x1[k] < 1e-15
    cell = max(np.diff(display.x0).max(), np.diff(display.x1).max())
    drawn = segments(display.ax_)
    assert {level for level, _ in drawn} == {-1, 0, 1}
    for level, points in drawn:
        # Between two points of the grid a straight line is drawn, which is off a circle of radius r by less than cell²/(8r).
        radius, angle = Polar().fit_transform(points).T
        angle = np.where((points[:, 1] < 0) & (angle > 3), -np.pi, angle)  # the lower side of the cut
        exact = (level - b - w[1] * angle) / w[0]
        assert np.abs(radius - exact).max() <= cell**2 / (4 * radius.min())
        # No line crosses the cut.
        behind = points[points[:, 0] < 0, 1]
        assert (behind >= -1e-15).all() or (behind <= 1e-15).all()
    # Both ends of f = 0 are there, at the two radii that f = 0 has at angle π.
    ends = np.array([points[i] for level, points in drawn if level == 0 for i in (0, -1)])
    ends = np.sort(np.hypot(*ends[(np.abs(ends[:, 1]) < 1e-15) & (ends[:, 0] < 0)].T))
    np.testing.assert_allclose(ends, np.sort([(-b - w[1] * angle) / w[0] for angle in (-np.pi, np.pi)]), atol=cell**2)


def test_where_the_class_changes_without_f_being_zero_is_marked():
    X, y = spiral()
    model = make_pipeline(Polar(), gl.SVC(kernel="linear", C=10.0)).fit(X, y)
    display = DecisionDisplay.from_estimator(model, X, y).plot()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()][-1] == "f jumps past 0"
    ((x, at),) = display._steps()
    w, b = model[-1].coef_[0], model[-1].intercept_[0]
    inner, outer = sorted((-b - w[1] * angle) / w[0] for angle in (-np.pi, np.pi))
    marked = -x[np.isfinite(x)]
    fine = np.ptp(display.x0) / (10 * len(display.x0) - 1)
    assert inner - fine <= marked.min() <= inner + 2 * fine and outer - 2 * fine <= marked.max() <= outer + fine
    assert np.abs(at).max() < 1e-15
    # The rings' arms meet within the width of a line: there is no step to see, and no entry in the legend.
    X, y = make_rings()
    polar = Polar().fit(X)
    rings = DecisionDisplay.from_result(gl.solve(gl.Problem(polar.transform(X), y)), X, feature_map=polar)
    assert rings.grid.breaks[1] and not rings._steps() and len(rings.handles()) == 5


def test_the_regions_have_the_sign_of_f_on_both_sides_of_the_cut():
    X, y = spiral()
    model = make_pipeline(Polar(), gl.SVC(kernel="linear", C=10.0)).fit(X, y)
    display = DecisionDisplay.from_estimator(model, X, y)
    figure, ax = plt.subplots(figsize=(5, 5), dpi=100)
    display.X = np.empty((0, 2))
    display.signs, display.alpha = np.empty(0), np.empty(0)
    display.plot(ax, legend=False)
    ax.set_axis_off()
    for drawn in [*ax.lines, *(each for each in ax.collections if hasattr(each, "filled") and not each.filled)]:
        drawn.remove()
    figure.canvas.draw()
    image = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    box = ax.get_window_extent()
    rows, columns = (np.arange(int(low) + 2, int(high) - 2) for low, high in ((box.y0, box.y1), (box.x0, box.x1)))
    pixels = np.stack(np.meshgrid(columns + 0.5, rows + 0.5), axis=-1).reshape(-1, 2)
    points = ax.transData.inverted().transform(pixels)
    shown = image[::-1][np.ix_(rows, columns)].reshape(-1, 3)
    positive = shown[:, 0] > shown[:, 2]  # orange has more red than blue
    f = model.decision_function(points)
    # A pixel's own width off the line, on the scale of f, is what a raster may decide either way.
    pixel = np.ptp(display.x0) / len(columns)
    clear = np.abs(f) > 1.5 * pixel * np.abs(model[-1].coef_[0]).max()
    clear &= np.abs(points[:, 1]) > pixel
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(positive[clear], f[clear] > 0)


def test_a_cut_elsewhere_is_found_where_it_is():
    X, y = spiral()
    model = make_pipeline(StandardScaler(), Polar(), gl.SVC(kernel="linear")).fit(X, y)
    grid = DecisionDisplay.from_estimator(model, X, y, grid=100).grid
    (k,) = grid.breaks[1]
    centre = model[0].mean_[1]
    assert grid.x1[k - 1] <= centre <= grid.x1[k] and grid.x1[k] - grid.x1[k - 1] < 1e-14


def turn(points):
    return points @ np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])


def test_a_cut_across_the_raster_is_left_out_of_the_lines():
    X, y = spiral()
    model = make_pipeline(FunctionTransformer(turn), Polar(), gl.SVC(kernel="linear", C=10.0)).fit(X, y)
    display = DecisionDisplay.from_estimator(model, X, y).plot()
    assert display.grid.breaks == ((), ()) and display.grid.torn.any()
    for _, points in segments(display.ax_):
        turned = turn(points)
        behind = (turned[1:, 0] < -0.1) & (turned[:-1, 0] < -0.1)
        assert not (behind & (np.sign(turned[1:, 1]) != np.sign(turned[:-1, 1]))).any()


@pytest.mark.parametrize("gamma", [1.0, 100.0, 1e4])
def test_what_is_continuous_is_drawn_in_one_piece(gamma):
    X, y = make_rings(60)
    grid = DecisionDisplay.from_result(gl.solve(gl.Problem(X, y, kernel=gl.kernels.RBF(gamma=gamma)))).grid
    assert grid.breaks == ((), ()) and not grid.torn.any() and grid.f.shape == (400, 400)


def test_jumps_along_both_axes_and_at_a_point_of_the_grid():
    grid = sample(lambda p: p.sum(axis=1) + 5.0 * (p[:, 0] > 0.33) - 7.0 * (p[:, 1] >= LINE[7]), LINE, LINE)
    (j,), (i,) = grid.breaks
    assert grid.x0[j - 1] <= 0.33 <= grid.x0[j] and grid.x1[i] == LINE[7] > grid.x1[i - 1]
    assert grid.f.shape == (42, 43)  # two columns more, and one row: the other side of the jump is on the grid
    for rows, columns in grid.tiles():
        tile = grid.f[rows, columns]
        assert np.abs(np.diff(tile, axis=0)).max() < 0.2 and np.abs(np.diff(tile, axis=1)).max() < 0.2
    assert len(grid.tiles()) == 4


def test_a_constant_and_a_kink_and_values_that_are_not_finite():
    for f in (lambda p: np.zeros(len(p)), lambda p: np.abs(p[:, 0]), lambda p: np.full(len(p), np.nan)):
        grid = sample(f, LINE, LINE)
        assert grid.breaks == ((), ()) and not grid.torn.any()
