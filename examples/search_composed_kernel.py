"""
Searching the parameters of a composed kernel
=============================================

A grid search of scikit-learn's reaches into a sum of kernels, and each candidate is trained to the same proven gap.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV

import gapless as gl
from gapless.kernels import RBF, Linear
from gapless.plot import GridSearchDisplay

X, y = make_moons(200, noise=0.3, random_state=0)
gammas, costs = np.logspace(-2, 2, 7), np.logspace(-2, 3, 6)
search = GridSearchCV(gl.SVC(kernel=Linear() + RBF()), {"kernel__right__gamma": gammas, "C": costs}, cv=4).fit(X, y)
print({name: float(value) for name, value in search.best_params_.items()}, f"{search.best_score_:.3f}")
print(search.best_estimator_.certificate_)

GridSearchDisplay.from_estimator(search, x="kernel__right__gamma", y="C").plot()
plt.show()
