"""
A grid search as a picture
==========================

The scores of 49 candidates with an RBF kernel, the best of them in a frame, and what the certificates decide about the others.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gapless import SVC
from gapless.model_selection import GridSearchCV
from gapless.plot import GridSearchDisplay


def main() -> GridSearchCV:
    """Search C and gamma on the breast cancer data, print the choice, and return the search."""
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"svc__C": np.logspace(-2, 4, 7), "svc__gamma": np.logspace(-5, 1, 7)}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid).fit(X, y)
    print({name: float(value) for name, value in search.best_params_.items()}, f"{search.best_score_:.3f}")
    return search


def draw(search: GridSearchCV) -> Figure:
    """The mean score of every candidate."""
    return GridSearchDisplay.from_estimator(search, x="svc__C", y="svc__gamma").plot().figure_


if __name__ == "__main__":
    found = main()
    draw(found)
    plt.show()
