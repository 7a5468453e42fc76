"""
The tube of a regression
========================

Samples inside the ε-tube cost nothing and carry nothing. The samples on its rim and outside are the support vectors.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, size=70))[:, None]
y = np.sin(x[:, 0]) + 0.15 * rng.normal(size=70)
line = np.linspace(0, 6, 300)[:, None]

figure, panels = plt.subplots(1, 3, figsize=(13, 4.0), layout="constrained", sharey=True)
carried = []
for ax, epsilon in zip(panels, (0.05, 0.2, 0.5), strict=True):
    model = gl.SVR(C=10.0, gamma=0.5, epsilon=epsilon, tol=1e-6).fit(x, y)
    carried.append(len(model.support_))
    print(f"epsilon {epsilon}: {carried[-1]} of {len(x)} samples carry it, {model.certificate_}")
    f = model.predict(line)
    ax.fill_between(line[:, 0], f - epsilon, f + epsilon, color="#56B4E9", alpha=0.35, linewidth=0)
    ax.plot(line[:, 0], f, color="#0072B2")
    ax.scatter(x[:, 0], y, s=12, color="#D55E00")
    ax.scatter(x[model.support_, 0], y[model.support_], s=55, facecolors="none", edgecolors="#333333", linewidths=0.8)
    ax.set(title=f"ε = {epsilon}: {carried[-1]} support vectors", xlabel="x")
panels[0].set_ylabel("y")
plt.show()
