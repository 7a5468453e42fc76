"""
Map first, then learn
=====================

On a line the outer points cannot be split off by a threshold, and Gapless proves it. With one more feature, x², a line separates them.
"""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

x = np.array([[-3.0], [-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]])
y = np.where(np.abs(x[:, 0]) > 1.5, 1, -1)
print(gl.solve(gl.Problem(x, y, C=math.inf)).status)

# %%
# After ψ(x) = (x, x²) the closest samples of the classes have the squares 1 and 4, and the boundary is x² = 2.5.

mapped = gl.solve(gl.Problem(np.hstack([x, x**2]), y, C=math.inf), tol=1e-12)
print(f"w = {(mapped.w.round(6) + 0.0).tolist()}, b = {mapped.b:.6f}")
kernel = gl.kernels.polynomial(gl.kernels.Linear(), (0.0, 1.0, 1.0))
twin = gl.solve(gl.Problem(x, y, kernel=kernel, C=math.inf), tol=1e-12)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.9), layout="constrained")
gl.plot.DecisionDisplay.from_result(mapped).plot(
    left, title="The hard margin in the plane of ψ", axis_labels=("x", "x²")
)
line = np.linspace(-3.5, 3.5, 300)
right.plot(line, twin.decision_function(line[:, None]), color="black", label="f(x) of the kernel xx′ + (xx′)²")
right.axhline(0, color="#6B6B6B", linewidth=0.8)
for sign, color, marker in ((-1, "#0072B2", "o"), (1, "#D55E00", "s")):
    right.plot(x[y == sign, 0], np.zeros((y == sign).sum()), marker, color=color, label=f"class {sign}")
right.set(title="The same model, seen from the line", xlabel="x", ylabel="f(x)")
right.legend(loc="upper center")
plt.show()
