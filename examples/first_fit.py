"""
A first fit, and its proof
==========================

Change one import of scikit-learn's, and the fitted model says how far from the optimum it is, at most.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gapless as gl

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), gl.LinearSVC(C=0.01, loss="hinge", solver="coordinate_ascent", tol=1e-6)).fit(
    X, y
)
proof = model[-1].certificate_
print(f"{proof.dual:.4f} <= optimum <= {proof.primal:.4f}, relative gap {proof.relative_gap:.1e}")

# %%
# The primal value is the objective of the model. The dual value is a lower bound of every model's objective. Both were recorded on the way.

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
gl.plot.ConvergenceDisplay.from_estimator(model).plot(ax)
plt.show()
