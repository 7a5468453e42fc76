"""Model selection: scikit-learn's searches, which share between fits what the fits have in common, and estimators that tune themselves."""

from gapless.model_selection.interrupted import SearchInterrupted
from gapless.model_selection.search import GridSearchCV, RandomizedSearchCV
from gapless.model_selection.selection import Selection
from gapless.model_selection.tuned_kernel import SVCCV, SVRCV
from gapless.model_selection.tuned_linear import LinearSVCCV, LinearSVRCV

__all__ = [
    "SVCCV",
    "SVRCV",
    "GridSearchCV",
    "LinearSVCCV",
    "LinearSVRCV",
    "RandomizedSearchCV",
    "SearchInterrupted",
    "Selection",
]
