"""Four experiments from the textbooks, on data that is made here or shipped with scikit-learn."""

from gapless.demo import all_solvers, ascent_or_descent, regularization, rings
from gapless.demo.base import Check, Experiment, Outcome, Table, Tell

__all__ = ["EXPERIMENTS", "Check", "Experiment", "Outcome", "Table", "Tell"]

EXPERIMENTS: dict[int, Experiment] = {
    1: Experiment("Dual coordinate ascent against stochastic descent", ascent_or_descent.run),
    2: Experiment("Three algorithms, three strengths of regularisation", regularization.run),
    3: Experiment("Two rings: a line fails, polar coordinates and a kernel succeed", rings.run),
    4: Experiment("All solvers on one problem meet at one number", all_solvers.run),
}
