"""
A kernel perceptron on rings
============================

A kernel perceptron stores the samples that it was mistaken about. The margin bounds how many mistakes there can be.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

import gapless as gl

X, y = make_circles(200, noise=0.08, factor=0.45, random_state=0)
kernel = gl.kernels.RBF(gamma=1.0)
plane = gl.KernelPerceptron(kernel="linear", form="averaged", random_state=0).fit(X, y)
model = gl.KernelPerceptron(kernel=kernel, fit_intercept=False, random_state=0).fit(X, y)

# %%
# Novikoff's bound, (R/γ)², needs the largest margin γ that there is. The hard-margin machine has it, with a proof.

machine = gl.solve(gl.Problem(X, y, kernel=kernel, C=np.inf, intercept="none"))
bound = kernel.diag(X).max() * 2 * machine.certificate.primal
mistakes = int(model.n_mistakes_[0])
print(f"{mistakes} mistakes, and never more than {bound:.0f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.9), layout="constrained")
draw = gl.plot.DecisionDisplay.from_estimator
draw(plane, X, y, grid=250).plot(left, title=f"⟨x, z⟩: {plane.score(X, y):.0%} right")
draw(model, X, y, grid=250).plot(
    right, title=f"RBF: {model.score(X, y):.0%} right, {len(model.support_vectors_)} stored (ringed)"
)
right.scatter(*model.support_vectors_.T, s=90, facecolors="none", edgecolors="black")
plt.show()
