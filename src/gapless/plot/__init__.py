"""Displays in scikit-learn's style: ``from_…`` computes or takes the data, ``plot(ax=None)`` draws it. They need Matplotlib (``gapless[plot]``)."""

from gapless.plot.convergence import ConvergenceDisplay
from gapless.plot.decision import DecisionDisplay
from gapless.plot.gap import GapDisplay
from gapless.plot.grid import GridSearchDisplay
from gapless.plot.path import CPathDisplay
from gapless.plot.validation import ValidationCurveDisplay

__all__ = [
    "CPathDisplay",
    "ConvergenceDisplay",
    "DecisionDisplay",
    "GapDisplay",
    "GridSearchDisplay",
    "ValidationCurveDisplay",
]
