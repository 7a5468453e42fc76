"""
Dual ascent against stochastic descent
======================================

Over the same epochs, dual coordinate ascent proves its way to the optimum, while stochastic sub-gradient descent comes close without knowing it.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import gapless as gl

X, digit = load_digits(return_X_y=True)
problem = gl.Problem(X / 16, digit % 2, lam_mean=0.01, intercept="regularized")
results = {name: gl.solve(problem, name, tol=1e-6, max_iter=200, check_every=1) for name in ("sdca", "sgd")}
for name, result in results.items():
    print(f"{name}: {result.iterations:.0f} epochs, {result.certificate}")

# %%
# SGD cannot tell how far its objective is above the optimum. The dual value of coordinate ascent can.

above = results["sgd"].certificate.primal / results["sdca"].certificate.dual - 1
print(f"sgd's objective is within {above:.1e} of the optimum")

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
gl.plot.ConvergenceDisplay.from_results(results).plot(left, legend=False, title="Objective: both sides meet")
gl.plot.GapDisplay.from_results(results, tol=1e-6).plot(right, title="Proven distance to the optimum")
plt.show()
