"""
No hard margin, and a proof of it
=================================

Where no hard margin exists, Gapless gives a proof that can be checked by hand: a point that the convex hulls of both classes share.
"""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(20, 2)) - 3.0, rng.normal(size=(20, 2)) + 3.0])
y = np.repeat(["left", "right"], 20)
apart = gl.solve(gl.Problem(X, y, C=math.inf))
print(apart.status)
print(f"margin {2 / np.linalg.norm(apart.w):.4f}, held by the samples {apart.support.tolist()}")

# %%
# With one stray point of the left class among the right ones, no line separates the classes. The ray of the dual names a few samples of each class
# whose weighted means are the same point. Half-planes that hold one class each would both hold that point.

X_stray, y_stray = np.vstack([X, [[3.0, 3.0]]]), np.array([*y, "left"])
stray = gl.solve(gl.Problem(X_stray, y_stray, C=math.inf))
print(stray.status)
hulls, shared = {}, {}
for label in ("left", "right"):
    hulls[label] = np.flatnonzero((y_stray == label) & (stray.ray != 0))
    weights = np.abs(stray.ray[hulls[label]]) / np.abs(stray.ray[hulls[label]]).sum()
    shared[label] = weights @ X_stray[hulls[label]]
    terms = " + ".join(f"{weight:.3f} x{i}" for weight, i in zip(weights, hulls[label], strict=True))
    print(f"{label:>5}: {terms} = {shared[label].round(6)}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
gl.plot.DecisionDisplay.from_result(apart).plot(left, title=f"A margin of {2 / np.linalg.norm(apart.w):.2f}")
for label, color, marker in (("left", "#0072B2", "o"), ("right", "#D55E00", "s")):
    right.scatter(*X_stray[y_stray == label].T, s=16, color=color, marker=marker, label=label)
    corners = X_stray[[*hulls[label], hulls[label][0]]]
    right.fill(*corners.T, color=color, alpha=0.15)
    right.plot(*corners.T, color=color, linewidth=1.6)
right.scatter(*shared["left"], s=150, marker="*", color="black", zorder=3, label="in both hulls")
right.set(title="No margin: the hulls share a point", xlabel="x₁", ylabel="x₂")
right.legend(loc="lower right")
plt.show()
