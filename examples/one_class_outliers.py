"""
Outliers, and what ν promises
=============================

ν bounds the share of samples outside the region from above, and the share of support vectors from below.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

rng = np.random.default_rng(0)
X = np.vstack(
    [
        rng.normal(size=(120, 2)) * 0.5 + [1.5, 1.5],
        rng.normal(size=(60, 2)) * 0.4 - [1.0, 0.5],
        rng.uniform(-4, 4, (20, 2)),
    ]
)

figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
shares = {}
for ax, nu in zip(panels, (0.05, 0.15, 0.4), strict=True):
    model = gl.OneClassSVM(nu=nu, gamma=0.5, tol=1e-6).fit(X)
    outside = float((model.decision_function(X) < -model.tol).mean())
    support = len(model.support_) / len(X)
    shares[nu] = (outside, support)
    print(f"{outside:.3f} outside <= nu = {nu} <= {support:.3f} support vectors; {model.certificate_}")
    display = gl.plot.DecisionDisplay.from_estimator(model, X, grid=250)
    display.plot(ax, title=f"ν = {nu}: {outside:.1%} outside", legend=False)
figure.legend(handles=display.handles(), loc="outside lower center", ncols=5, frameon=False)
plt.show()
