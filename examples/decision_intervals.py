"""
Decision values, with proven bounds
===================================

The gap of a fit bounds every decision value of the exact optimum. The tighter the fit, the narrower the band.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, size=(150, 1))
y = np.where(np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=150) > 0, 1, -1)
line = np.linspace(-3, 3, 400)[:, None]

figure, panels = plt.subplots(1, 3, figsize=(13, 4.0), layout="constrained", sharey=True)
widths = []
for ax, tol in zip(panels, (1e-1, 1e-2, 1e-4), strict=True):
    model = gl.SVC(gamma=1.0, tol=tol).fit(x, y)
    low, high = model.decision_interval(line)
    widths.append(float((high - low).max()))
    sure = ((low > 0) | (high < 0)).mean()
    print(f"tol {tol:g}: intervals up to {widths[-1]:.3f} wide, {sure:.1%} of the signs proven")
    ax.fill_between(line[:, 0], low, high, color="#56B4E9", alpha=0.4, linewidth=0, label="where the optimum's f(x) is")
    ax.plot(line[:, 0], model.decision_function(line), color="#0072B2", label="f(x) of the model")
    ax.axhline(0, color="black", linewidth=0.8)
    ax.scatter(x[:, 0], 1.9 * y, s=10, marker="|", color="#D55E00", label="samples, by class")
    ax.set(title=f"tol = {tol:g}: {sure:.1%} of the signs proven", xlabel="x")
panels[0].set(ylabel="f(x)", ylim=(-3, 3))
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()
