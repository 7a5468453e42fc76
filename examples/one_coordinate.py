"""
One coordinate of the dual
==========================

Along one α the dual is a parabola. Coordinate ascent goes to its top, and where the top is outside of the box it stops at the wall.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

X = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, 0.0], [0.0, -2.0]])
y = np.array([1, 1, -1, -1])
problem = gl.Problem(X, y, lam_sum=4.0, intercept="none")
alpha = np.array([0.25, 0.5, 0.5, 0.25])
w = X.T @ (alpha * y) / 4.0

# %%
# The top of each parabola is a step of λ (1 − y⟨w, x⟩) / ‖x‖² away.

figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
stops = {}
for ax, n in zip(panels, (0, 2), strict=True):

    def along(a: float, n: int = n) -> float:
        """The dual value with α of sample n replaced by a."""
        return problem.dual_function(np.where(np.arange(4) == n, a, alpha), anywhere=True)

    top = float(alpha[n] + 4.0 * (1 - y[n] * (w @ X[n])) / (X[n] @ X[n]))
    stops[n] = float(np.clip(top, 0, 1))
    print(f"coordinate {n}: from {alpha[n]} towards the top at {top:.3f}, as far as {stops[n]:.3f}")
    reach = np.linspace(-0.4, max(1.4, top + 1), 300)
    ax.axvspan(0, 1, color="#CCE3F0", label="the box")
    ax.plot(reach, [along(a) for a in reach], color="black")
    places = (
        (alpha[n], "o", "#6B6B6B", "before"),
        (top, "^", "#D55E00", "the top"),
        (stops[n], "s", "#0072B2", "after the step"),
    )
    for a, marker, color, label in places:
        ax.plot(a, along(a), marker, color=color, markersize=13 if marker == "^" else 8, label=label)
    ends = "inside the box: go there" if top == stops[n] else "outside of the box: stop at the wall"
    ax.set(title=f"The top is {ends}", xlabel=f"α of sample {n}", ylabel="dual value")
panels[1].legend(loc="lower right")
plt.show()
