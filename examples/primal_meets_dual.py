"""All solvers on one problem: every primal value from above and every dual value from below enclose one number.

python examples/primal_meets_dual.py           prints what each of them proves
python examples/primal_meets_dual.py meet.png  draws how it got there
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import gapless as gl
from gapless.plot import ConvergenceDisplay
from gapless.plot.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gapless.compare import Comparison


def main() -> Comparison:
    """Print what each solver proves, and what all of them prove together; return the comparison."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = gl.Problem(StandardScaler().fit_transform(X), y, lam_mean=0.02, intercept="regularized")
    print(problem)
    comparison = gl.compare(problem, tol=1e-6, max_time=10.0)
    print(comparison)
    proofs = [result.certificate for result in comparison.results.values()]
    low, high = max(proof.dual for proof in proofs), min(proof.primal for proof in proofs)
    print(f"together: dual {low:.7f} <= optimum <= {high:.7f} primal")
    return comparison


def draw(comparison: Comparison) -> Figure:
    """Both bounds of every solver over the seconds."""
    figure, axes = new_figure(1, 1, (9.6, 5.6))
    display = ConvergenceDisplay.from_results(dict(comparison.results), x="seconds")
    title = f"Every primal from above, every dual from below: all meet at {display.optimum:.7g}"
    display.plot(axes[0, 0], scale="symlog", title=title)
    return figure


if __name__ == "__main__":
    found = main()
    if sys.argv[1:]:
        draw(found).savefig(sys.argv[1])
