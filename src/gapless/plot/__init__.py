"""Displays in scikit-learn's style: ``from_…`` computes or takes the data, ``plot(ax=None)`` draws it. They need Matplotlib (``gapless[plot]``)."""

from gapless.plot.convergence import ConvergenceDisplay
from gapless.plot.decision import DecisionDisplay
from gapless.plot.gap import GapDisplay

__all__ = ["ConvergenceDisplay", "DecisionDisplay", "GapDisplay"]
