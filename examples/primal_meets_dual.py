"""
All solvers meet at one number
==============================

Every primal value from above and every dual value from below enclose the optimum of one problem, whichever solver found them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.plot import ConvergenceDisplay
from gapless.plot.style import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gapless.compare import Comparison


def main() -> Comparison:
    """Print what each solver proves, and what all of them prove together; return the comparison."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = gl.Problem(StandardScaler().fit_transform(X), y, lam_mean=0.02, intercept="regularized")
    print(problem)
    comparison = gl.compare(problem, tol=1e-6, max_time=5.0)
    print(comparison)
    proofs = [result.certificate for result in comparison.results.values()]
    low, high = max(proof.dual for proof in proofs), min(proof.primal for proof in proofs)
    print(f"together: dual {low:.7f} <= optimum <= {high:.7f} primal")
    return comparison


def draw(comparison: Comparison) -> Figure:
    """Both bounds of every solver over the seconds."""
    with style():
        figure, axes = plt.subplots(figsize=(9.6, 5.6), layout="constrained")
    display = ConvergenceDisplay.from_results(dict(comparison.results), x="seconds")
    title = f"Every primal from above, every dual from below: all meet at {display.optimum:.7g}"
    display.plot(axes, scale="symlog", title=title)
    return figure


if __name__ == "__main__":
    found = main()
    draw(found)
    plt.show()
