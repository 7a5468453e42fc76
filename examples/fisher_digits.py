"""
Discriminant axes of digits
===========================

Fisher's axes set classes as far apart as possible. Axes in the features of an RBF kernel do so better than axes in the pixels themselves.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import gapless as gl

X, y = load_digits(return_X_y=True)
train, test = slice(0, 1000), slice(1000, None)
models = {
    "linear": LinearDiscriminantAnalysis().fit(X[train], y[train]),
    "RBF": gl.KernelFisherDiscriminant(gamma=0.001, alpha=1e-4).fit(X[train], y[train]),
}
accuracy = {name: model.score(X[test], y[test]) for name, model in models.items()}
print({name: round(share, 3) for name, share in accuracy.items()})

# %%
# Each unseen digit is drawn as its numeral, on the first two of nine axes.

figure, panels = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for ax, (name, model) in zip(panels, models.items(), strict=True):
    Z = model.transform(X[test])[:, :2]
    for digit in range(10):
        mine = Z[y[test] == digit]
        ax.scatter(*mine.T, s=22, marker=f"${digit}$", linewidths=0, color=gl.plot.style.PALETTE[digit])
    ax.set(title=f"{name}: {accuracy[name]:.1%} of unseen digits right", xlabel="axis 1", ylabel="axis 2")
plt.show()
