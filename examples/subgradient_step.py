"""
A step that raises the objective and comes closer
=================================================

A sub-gradient is no direction of descent: here a step along one raises the objective at every length, and yet comes closer to the optimum.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

X, y = np.array([[1.0, 3.0], [-1.0, 2.0]]), np.array([1, -1])
problem = gl.Problem(X, y, C=1.0, intercept="none")
kink, optimum = np.array([0.25, 0.25]), np.array([1.0, 0.0])
method = gl.solvers.Subgradient("constant", eta=1 / 4)
before, after = gl.steps(problem, method, start=gl.Point(w=kink), max_steps=1)
distances = [float(np.linalg.norm(step.w - optimum)) for step in (before, after)]
print(f"objective {before.primal:.4f} -> {after.primal:.4f}, distance {distances[0]:.4f} -> {distances[1]:.4f}")

# %%
# The step leaves the level line of the objective through w (black) on its outer side, and ends inside the circle around the optimum (dashed).

across, down = np.linspace(-0.2, 1.9, 106), np.linspace(-0.8, 0.8, 81)
P = [[problem.primal([u, v]) for u in across] for v in down]
turn = np.linspace(0, 2 * np.pi, 200)
figure, ax = plt.subplots(figsize=(7.5, 5.4), layout="constrained")
ax.contour(across, down, P, levels=np.arange(0.6, 4.0, 0.2), colors="#B0B0B0", linewidths=0.8)
ax.contour(across, down, P, levels=[problem.primal(kink)], colors="black", linewidths=1.8)
ax.plot(optimum[0] + distances[0] * np.cos(turn), optimum[1] + distances[0] * np.sin(turn), "--", color="#0072B2")
ax.annotate("", after.w, before.w, arrowprops={"width": 1.5, "headwidth": 8, "shrink": 0, "color": "#D55E00"})
ax.plot(*kink, "o", color="#D55E00")
ax.plot(*optimum, "*", color="black", markersize=12)
for name, place, right in (("w", kink, -18), ("after the step", after.w, 9), ("optimum", optimum, 9)):
    ax.annotate(name, place, (right, 5), textcoords="offset points")
ax.set(aspect="equal", xlabel="w₁", ylabel="w₂", title="The objective rises, and w comes closer")
plt.show()
