"""scikit-learn's searches over parameters, which share between fits what the fits have in common."""

from gapless.model_selection.interrupted import SearchInterrupted
from gapless.model_selection.search import GridSearchCV, RandomizedSearchCV
from gapless.model_selection.selection import Selection

__all__ = ["GridSearchCV", "RandomizedSearchCV", "SearchInterrupted", "Selection"]
