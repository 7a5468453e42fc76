"""
The margin and C
================

With a small C, samples inside the margin cost little, and so the margin is wide. A large C narrows it around the samples that are hard to tell apart.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import gapless as gl

X, y = make_blobs(120, centers=[[-1.2, -1.2], [1.2, 1.2]], cluster_std=0.9, random_state=0)
figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
widths = []
for ax, C in zip(panels, (0.01, 0.1, 100.0), strict=True):
    model = gl.SVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
    widths.append(2 / np.linalg.norm(model.coef_))
    print(f"C = {C:<6g} margin {widths[-1]:.3f}, {model.n_support_.sum()} support vectors, {model.certificate_}")
    title = f"C = {C:g}: margin {widths[-1]:.2f}"
    display = gl.plot.DecisionDisplay.from_estimator(model, X, y, grid=200).plot(ax, title=title, legend=False)
figure.legend(handles=display.handles(), loc="outside lower center", ncols=5, frameon=False)
plt.show()
