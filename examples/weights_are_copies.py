"""
A weight of k is k copies
=========================

Training with weights gives the model that copied rows would, support vectors and γ included.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import gapless as gl

X, y = make_moons(80, noise=0.25, random_state=1)
weight = np.where((y == 1) & (X[:, 0] < 1.0), 5, 1)
plain = gl.SVC(tol=1e-6).fit(X, y)
weighted = gl.SVC(tol=1e-6).fit(X, y, sample_weight=weight)
copies = gl.SVC(tol=1e-6).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
difference = float(np.abs(weighted.decision_function(X) - copies.decision_function(X)).max())
print(f"decision values of weights and of copies differ by at most {difference:.1e}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.9), layout="constrained")
gl.plot.DecisionDisplay.from_estimator(plain, X, y, grid=250).plot(left, title="All weights one")
gl.plot.DecisionDisplay.from_estimator(weighted, X, y, grid=250).plot(right, title="Starred samples count five times")
right.scatter(*X[weight > 1].T, s=60, marker="*", color="black", zorder=5)
plt.show()
