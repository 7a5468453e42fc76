"""
Two rings
=========

A line fails in Cartesian coordinates and succeeds in polar ones. An RBF kernel needs no new coordinates at all.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

rng = np.random.default_rng(0)
radius = np.repeat([1.0, 2.0], 200) + 0.15 * rng.normal(size=400)
angle = rng.uniform(-np.pi, np.pi, size=400)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
y = np.repeat(["inner", "outer"], 200)

# %%
# The figure shows three models of the same samples. The second one, a line in polar coordinates, is drawn in the plane of the samples.

polar = gl.features.Polar().fit(X)
models = {
    "linear, Cartesian": (gl.Problem(X, y, C=1.0), None),
    "linear, polar": (gl.Problem(polar.transform(X), y, C=1.0), polar),
    "RBF kernel": (gl.Problem(X, y, C=1.0, kernel=gl.kernels.RBF(gamma=1.0)), None),
}
figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
accuracy = {}
for ax, (name, (problem, feature_map)) in zip(panels, models.items(), strict=True):
    result = gl.solve(problem)
    accuracy[name] = float((result.predict(problem.X) == y).mean())
    print(f"{name:<18}  accuracy {accuracy[name]:.3f}  support vectors {len(result.support):>3}  {result.certificate}")
    display = gl.plot.DecisionDisplay.from_result(result, X, feature_map=feature_map, grid=250)
    display.plot(ax, title=f"{name}: {accuracy[name]:.1%} right", legend=False)
figure.legend(handles=display.handles(), loc="outside lower center", ncols=5, frameon=False)
plt.show()
