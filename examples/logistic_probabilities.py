"""
Probabilities with a certificate
================================

Kernel logistic regression has a duality gap, too: an entropy against a quadratic form.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import gapless as gl

X, y = make_moons(300, noise=0.25, random_state=0)
logistic = gl.KernelLogisticRegression(C=10, gamma=1.0, tol=1e-8).fit(X, y)
machine = gl.SVC(C=10, gamma=1.0).fit(X, y)
proof = logistic.certificate_
print(f"{proof.dual:.4f} <= optimum <= {proof.primal:.4f} after {logistic.n_iter_} Newton steps")
print(f"the mean probability is the share of the class: {logistic.predict_proba(X)[:, 1].mean():.4f}, {y.mean():.4f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.9), layout="constrained")
plane = gl.plot.DecisionDisplay.from_estimator(logistic, X, y, grid=250)
plane.plot(left, title="Logistic regression: probabilities")
levels = np.linspace(0, 1, 11)
shades = left.contourf(plane.x0, plane.x1, 1 / (1 + np.exp(-plane.f)), levels=levels, cmap="RdBu_r", alpha=0.5)
figure.colorbar(shades, ax=left, label="probability of class 1", shrink=0.8)
title = f"SVC: {machine.n_support_.sum()} of {len(X)} samples carry it"
gl.plot.DecisionDisplay.from_estimator(machine, X, y, grid=250).plot(right, title=title)
plt.show()
