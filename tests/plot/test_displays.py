"""What the displays draw is what the results hold."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError, MissingDependencyError
from gapless.features import Polar
from gapless.plot import ConvergenceDisplay, DecisionDisplay, GapDisplay
from gapless.plot.decision import _REGIONS
from gapless.plot.style import MARKERS, NEGATIVE, PALETTE, POSITIVE, estimator_look, solver_color, solver_marker
from gapless.solvers import SOLVERS


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return gl.Problem(X, X[:, 0] + 0.5 * rng.normal(size=60) > 0, lam_mean=0.05, intercept="regularized")


@pytest.fixture(scope="module")
def results(problem):
    return {name: gl.solve(problem, name, max_iter=200) for name in ("sdca", "subgradient")}


def line(ax, label):
    return next(drawn for drawn in ax.get_lines() if drawn.get_label() == label)


def test_curves_equal_the_trace_in_the_callers_convention(problem, results):
    display = ConvergenceDisplay.from_results(results).plot()
    assert display.figure_ is display.ax_.figure
    for name, result in results.items():
        assert problem.scale != 1.0
        for side in ("primal", "dual"):
            drawn = line(display.ax_, f"{name}, {side}")
            np.testing.assert_array_equal(drawn.get_xdata(), result.trace.iterations)
            np.testing.assert_array_equal(drawn.get_ydata(), getattr(result.trace, f"best_{side}"))
            assert drawn.get_color() == solver_color(name)
            assert drawn.get_marker() == solver_marker(name)
    assert display.ax_.get_xlabel() == "epochs"
    assert display.ax_.get_ylabel() == "objective"
    best = min(r.certificate.primal for r in results.values())
    assert display.ax_.get_title(loc="left") == f"Primal and dual meet at {best:.7g}"


def test_the_title_says_no_more_than_is_proven(problem):
    early = gl.solve(problem, "subgradient", max_iter=5)
    display = ConvergenceDisplay.from_results(early).plot()
    low, high = early.certificate.dual, early.certificate.primal
    assert display.ax_.get_title(loc="left") == f"The optimum is between {low:.4g} and {high:.4g}"


def test_linear_axis_is_cut_where_the_start_dwarfs_the_rest(results):
    display = ConvergenceDisplay.from_results(results).plot()
    assert display.ax_.get_ylim()[1] < 2.5 * display.optimum


def test_symlog_is_the_relative_distance(results):
    display = ConvergenceDisplay.from_results(results, x="seconds").plot(scale="symlog")
    drawn = line(display.ax_, "sdca, dual").get_ydata()
    np.testing.assert_allclose(drawn, display.curves[0].dual / display.optimum - 1)
    assert display.ax_.get_xlabel() == "seconds"
    assert display.ax_.get_ylabel() == "distance from the optimum"
    assert "optimum" in [tick.get_text() for tick in display.ax_.get_yticklabels()]


def test_sides_choose_what_is_drawn(results):
    display = ConvergenceDisplay.from_results(results, sides={"sdca": "dual", "subgradient": "primal"}).plot()
    labels = {drawn.get_label() for drawn in display.ax_.get_lines()}
    assert {"sdca, dual", "subgradient, primal"} <= labels
    assert not {"sdca, primal", "subgradient, dual"} & labels


def test_legend_is_outside_and_names_each_result_once(results):
    legend = ConvergenceDisplay.from_results(results).plot().ax_.get_legend()
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["sdca", "subgradient", "primal: an upper bound", "dual: a lower bound"]


def test_gap_display(results):
    display = GapDisplay.from_results(results, tol=1e-6).plot()
    np.testing.assert_allclose(
        line(display.ax_, "sdca").get_ydata(), np.maximum(results["sdca"].trace.relative_gap, 1e-16)
    )
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_ylabel() == "relative duality gap (P − D) / |P|"
    assert line(display.ax_, "asked for: 1e-06").get_ydata()[0] == 1e-6


def test_given_axes_are_used(results):
    _, (first, second) = plt.subplots(1, 2)
    assert GapDisplay.from_results(results).plot(first).ax_ is first
    assert ConvergenceDisplay.from_results(results).plot(second, legend=False).ax_ is second
    assert second.get_legend() is None


def test_units_that_differ_go_over_seconds(problem, results):
    mixed = [results["sdca"], gl.solve(problem, "smo")]
    assert GapDisplay.from_results(mixed).xlabel == "seconds"
    with pytest.raises(InvalidInputError) as caught:
        GapDisplay.from_results(mixed, x="iterations")
    assert str(caught.value) == "x='iterations' needs one unit, but the results count epochs, pairs; use x='seconds'."


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: GapDisplay.from_results(r, x="work"), "x must be 'iterations' or 'seconds'; got 'work'."),
        (lambda r: GapDisplay.from_results([]), "results must hold at least one result; got none."),
        (
            lambda r: GapDisplay.from_results([r["sdca"], r["sdca"]]),
            "results must be given by name, as a dict, when two come from the same solver.",
        ),
        (
            lambda r: ConvergenceDisplay.from_results(r, sides={"smo": "dual"}),
            "sides names smo, which is not among the results.",
        ),
        (
            lambda r: ConvergenceDisplay.from_results(r, sides={"sdca": "upper"}),
            "sides must say 'primal', 'dual' or 'both'; got 'upper' for sdca.",
        ),
        (
            lambda r: ConvergenceDisplay.from_results(r).plot(scale="log"),
            "scale must be 'linear' or 'symlog'; got 'log'.",
        ),
    ],
)
def test_refusals(results, call, message):
    with pytest.raises(InvalidInputError) as caught:
        call(results)
    assert str(caught.value) == message


def test_nothing_to_draw_without_a_primal_value():
    hard = gl.solve(gl.Problem([[0.0], [0.0], [1.0]], [0, 1, 1], C=np.inf))
    with pytest.raises(InvalidInputError) as caught:
        ConvergenceDisplay.from_results(hard)
    assert str(caught.value) == "results must have a finite primal value to draw; none of them has."


def test_nothing_is_told_by_colour_alone(results):
    markers = [solver_marker(name) for name in SOLVERS]
    assert len(set(markers)) == len(markers) <= len(MARKERS)
    looks = [estimator_look(k) for k in range(len(PALETTE))]
    assert len({color for color, _ in looks}) == len({marker for _, marker in looks}) == len(PALETTE)
    two = GapDisplay.from_results({"a": results["sdca"], "b": results["sdca"]})
    assert two.curves[0].marker != two.curves[1].marker
    for display in (ConvergenceDisplay.from_results(results).plot(), two.plot()):
        shown = display.ax_.get_legend().get_lines()[: len(display.curves)]
        assert [line.get_marker() for line in shown] == [curve.marker for curve in display.curves]


def luminance(color):
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    channels = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


# Viénot, Brettel and Mollon (1999): what is left of a colour, in linear sRGB, without the long or the middle cones.
BLIND = {
    "protanopia": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deuteranopia": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


@pytest.mark.parametrize("kind", BLIND)
def test_classes_and_regions_differ_for_the_colour_blind(kind):
    def seen(color):
        channels = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return np.array(BLIND[kind]) @ linear

    assert np.abs(seen(NEGATIVE) - seen(POSITIVE)).max() > 0.3
    assert np.abs(seen(_REGIONS[0]) - seen(_REGIONS[1])).max() > 0.08
    assert abs(luminance(_REGIONS[0]) - luminance(_REGIONS[1])) > 0.08  # in print without colours


def test_one_colour_a_solver_and_paler_variants(problem, results):
    colors = [solver_color(name) for name in SOLVERS]
    assert len(set(colors)) == len(colors) <= len(PALETTE)
    display = GapDisplay.from_results({"a": results["sdca"], "b": results["sdca"]})
    assert display.curves[0].color == solver_color("sdca") != display.curves[1].color


def test_decision_regions_follow_the_model(results):
    result = results["sdca"]
    display = DecisionDisplay.from_result(result, grid=30).plot()
    points = np.column_stack([axis.ravel() for axis in np.meshgrid(display.x0, display.x1)])
    np.testing.assert_allclose(display.f.ravel(), result.decision_function(points))
    assert (display.support == result.support).all()
    rings = display.ax_.collections[-1]
    assert len(rings.get_offsets()) == len(result.support)
    np.testing.assert_allclose(rings.get_sizes(), 22 + 70 * result.alpha("unit")[result.support])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()][:2] == ["class False", "class True"]


def test_decision_regions_through_a_feature_map():
    X = np.array([[0.5, 0.0], [0.0, -0.5], [2.0, 0.0], [0.0, 2.0]])
    polar = Polar().fit(X)
    result = gl.solve(gl.Problem(polar.transform(X), [0, 0, 1, 1], C=100.0))
    display = DecisionDisplay.from_result(result, X, feature_map=polar, grid=20)
    point = np.array([[display.x0[3], display.x1[7]]])
    assert display.f[7, 3] == pytest.approx(result.decision_function(polar.transform(point))[0])
    by_function = DecisionDisplay.from_result(result, X, feature_map=polar.transform, grid=20)
    np.testing.assert_array_equal(by_function.f, display.f)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (
            None,
            {"feature_map": np.abs},
            "X must be given with feature_map: the two-column samples that it was applied to.",
        ),
        (np.ones((60, 3)), {}, "DecisionDisplay draws a plane, so X must have 2 columns; got 3."),
        (np.ones((5, 2)), {}, "X must have the problem's 60 samples; got 5."),
    ],
)
def test_decision_refusals(results, X, options, message):
    with pytest.raises(InvalidInputError) as caught:
        DecisionDisplay.from_result(results["sdca"], X, **options)
    assert str(caught.value) == message


def test_decision_display_is_for_classification():
    result = gl.solve(gl.Problem(np.eye(2), [0.0, 1.0], loss="epsilon_insensitive"))
    with pytest.raises(InvalidInputError) as caught:
        DecisionDisplay.from_result(result)
    assert (
        str(caught.value) == "DecisionDisplay draws a classification; got the epsilon_insensitive loss of a regression."
    )


def test_without_matplotlib(results, monkeypatch):
    display = GapDisplay.from_results(results)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError) as caught:
        display.plot()
    assert str(caught.value) == "Figures need Matplotlib; install gapless[plot]."
