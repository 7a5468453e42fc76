"""
What another library's tolerance leaves
=======================================

``certify`` proves how far a model of scikit-learn's is from the optimum.
Its ``tol`` bounds a violation of the KKT conditions, which is another thing.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn import svm
from sklearn.datasets import load_iris

import gapless as gl

X, y = load_iris(return_X_y=True)
tolerances = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
theirs = [gl.certify(svm.SVC(kernel="linear", C=100, tol=tol).fit(X, y), X, y).relative_gap for tol in tolerances]
ours = [gl.SVC(kernel="linear", C=100, tol=tol).fit(X, y).certificate_.relative_gap for tol in tolerances]
for tol, their, our in zip(tolerances, theirs, ours, strict=True):
    print(f"tol {tol:<6g} scikit-learn's gap {their:.1e}, ours {our:.1e}")

figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
ax.loglog(tolerances, theirs, "o-", color="#D55E00", label="sklearn.svm.SVC, certified")
ax.loglog(tolerances, ours, "s-", color="#0072B2", label="gapless.SVC")
ax.loglog(tolerances, tolerances, color="black", linewidth=0.9, linestyle=":", label="gap = tol")
ax.invert_xaxis()
ax.set(title="Iris, linear, C = 100: the gap behind tol", xlabel="tol", ylabel="relative duality gap")
ax.legend()
plt.show()
