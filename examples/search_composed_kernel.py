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

X, y = make_moons(200, noise=0.3, random_state=0)
gammas, costs = np.logspace(-2, 2, 7), np.logspace(-2, 3, 6)
search = GridSearchCV(gl.SVC(kernel=Linear() + RBF()), {"kernel__right__gamma": gammas, "C": costs}, cv=4).fit(X, y)
print({name: float(value) for name, value in search.best_params_.items()}, f"{search.best_score_:.3f}")
print(search.best_estimator_.certificate_)

scores = search.cv_results_["mean_test_score"].reshape(len(costs), len(gammas))
figure, ax = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
image = ax.imshow(scores, origin="lower", aspect="auto", cmap="cividis")
best = np.unravel_index(scores.argmax(), scores.shape)
ax.plot(best[1], best[0], "*", color="white", markeredgecolor="black", markersize=18)
ax.set_xticks(range(len(gammas)), [f"{gamma:.3g}" for gamma in gammas])
ax.set_yticks(range(len(costs)), [f"{C:g}" for C in costs])
ax.set(title="Linear() + RBF(γ): accuracy in four folds", xlabel="γ", ylabel="C")
figure.colorbar(image, label="accuracy")
plt.show()
