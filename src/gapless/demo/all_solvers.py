"""Experiment 4: every solver on one problem; every primal from above and every dual from below meet at one number."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from gapless.compare import Comparison, compare
from gapless.demo.base import Check, Outcome, Table, Tell
from gapless.plot import ConvergenceDisplay, GapDisplay
from gapless.plot.style import new_figure, save
from gapless.problems.problem import Problem
from gapless.solvers import QP, SOLVERS, ProjectedGradient, Solver
from gapless.trace import Progress

_TOL = 1e-6
# The gap of these methods falls like 1/t: a relative gap of 1e-6 would take them some 10⁶ epochs, so that their own caps on the epochs end them, and
# the table shows how far they came.
_SUBGRADIENTS = ("subgradient", "sgd", "pegasos")
_VARIANTS: tuple[Solver, ...] = (ProjectedGradient(acceleration=True), QP(form="primal"))


def run(folder: Path | None, tell: Tell) -> Outcome:
    """A linear machine with the hinge loss and a regularised intercept on standardised data: every solver covers it but those for squared losses."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = Problem(StandardScaler().fit_transform(X), y, C=0.1, intercept="regularized")
    covering = [name for name, solver in SOLVERS.items() if solver().unsupported(problem) is None]
    solvers: list[str | Solver] = [*covering, *_VARIANTS]
    seen: list[str] = []

    def progress(label: str, state: Progress) -> None:
        if label not in seen:
            seen.append(label)
        tell(f"{label}: relative gap {state.certificate.relative_gap:.0e}", (len(seen) - 1) / (len(solvers) + 1))

    comparison = compare(problem, solvers, tol=_TOL, progress=progress)
    tell("figures", len(solvers) / (len(solvers) + 1))
    table = Table("breast cancer of scikit-learn, standardised: ½‖w‖² + 0.1 Σ hinge loss", tuple(comparison.rows()))
    figures = () if folder is None else _draw(comparison, folder)
    return Outcome((table,), (*_certified(comparison), _agreement(comparison)), figures)


def _certified(comparison: Comparison) -> tuple[Check, Check]:
    gaps = {name: result.certificate.relative_gap for name, result in comparison.results.items()}
    others = {name: gap for name, gap in gaps.items() if name not in _SUBGRADIENTS}
    worst = max(others, key=lambda name: others[name])
    reached = ", ".join(f"{name} {gaps[name]:.1e}" for name in _SUBGRADIENTS)
    return (
        Check(
            f"All {len(others)} runs outside the sub-gradient family are certified to a relative gap of {_TOL:g} "
            f"(the largest: {others[worst]:.1e}, {worst}).",
            others[worst] <= _TOL and not comparison.refused,
        ),
        Check(f"The sub-gradient family comes as far as its rate allows: {reached}.", max(gaps.values()) < 0.1),
    )


def _agreement(comparison: Comparison) -> Check:
    difference = comparison.disagreement()
    best = min(result.certificate.primal for result in comparison.results.values())
    return Check(
        f"Their objective values agree to {_TOL:g}: the largest relative difference is {difference:.1e}, all meet at {best:.7g}.",
        difference <= _TOL,
    )


def _draw(comparison: Comparison, folder: Path) -> tuple[Path, Path]:
    results = dict(comparison.results)
    objective, panels = new_figure(1, 1, (9.6, 5.6))
    display = ConvergenceDisplay.from_results(results, x="seconds")
    title = f"Every primal from above, every dual from below: all meet at {display.optimum:.7g}"
    display.plot(panels[0, 0], scale="symlog", title=title)
    gap, panels = new_figure(1, 1, (9.6, 5.0))
    GapDisplay.from_results(results, x="seconds", tol=_TOL).plot(
        panels[0, 0], title="The proven distance to the optimum, by solver"
    )
    return save(objective, folder / "4-objective.png"), save(gap, folder / "4-gap.png")
