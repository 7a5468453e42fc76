"""
Kernels are made from kernels
=============================

Sums and products of kernels are kernels. On a wave with a trend one kernel sees only the trend, another only the wave, and their sum sees both.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl
from gapless.kernels import RBF, Linear, Polynomial

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-3, 3, size=80))
y = 0.8 * x + np.sin(4 * x) + 0.15 * rng.normal(size=80)
line = np.linspace(-4.5, 4.5, 400)
truth, outside = 0.8 * line + np.sin(4 * line), np.abs(line) > 3
kernels = {"Linear()": Linear(), "RBF(4)": RBF(gamma=4.0), "Linear() + RBF(4)": Linear() + RBF(gamma=4.0)}
kernels["Polynomial(2) * RBF(0.5)"] = Polynomial(degree=2) * RBF(gamma=0.5)

# %%
# Outside of the samples the RBF kernel knows nothing and falls back to a constant. The sum goes on along the trend.

figure, panels = plt.subplots(1, 4, figsize=(15, 3.9), layout="constrained", sharey=True)
errors = {}
for ax, (name, kernel) in zip(panels, kernels.items(), strict=True):
    model = gl.SVR(kernel=kernel, C=10.0, epsilon=0.1, tol=1e-6).fit(x[:, None], y)
    error = np.abs(model.predict(line[:, None]) - truth)
    errors[name] = (float(error[~outside].mean()), float(error[outside].mean()))
    print(
        f"{kernel!r}: mean error {errors[name][0]:.2f} among the samples, {errors[name][1]:.2f} outside; {model.certificate_}"
    )
    ax.axvspan(-3, 3, color="#F0F0F0", linewidth=0)
    ax.plot(line, model.predict(line[:, None]), color="#0072B2", linewidth=1.8)
    ax.scatter(x, y, s=12, color="#D55E00")
    ax.set(title=f"{name}\nerror {errors[name][0]:.2f}, outside {errors[name][1]:.2f}", xlabel="x", ylim=(-5, 5))
panels[0].set_ylabel("y")
plt.show()
