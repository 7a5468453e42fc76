"""
An approximate model, an exact proof
====================================

An SVC that was trained on the features of a few landmarks still knows how far it is from the exact kernel machine, which nobody has trained.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import gapless as gl
from gapless.features import Nystroem

X, y = make_moons(2000, noise=0.25, random_state=0)
landmarks = (5, 10, 20, 40, 80)
settings = {"C": 1.0, "gamma": 2.0}
models = [gl.SVC(approximation=Nystroem(m, method="cholesky", random_state=0), **settings).fit(X, y) for m in landmarks]
proofs = [model.certificate_ for model in models]
exact = gl.SVC(**settings).fit(X, y).certificate_
for m, proof in zip(landmarks, proofs, strict=True):
    print(f"{m:>3} landmarks: {proof.dual:.2f} <= optimum <= {proof.primal:.2f}")

# %%
# The bounds of the approximate models enclose the optimum of the exact one, which none of them has seen.

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
ax.plot(landmarks, [proof.primal for proof in proofs], "o-", color="#D55E00", label="primal: an upper bound")
ax.plot(landmarks, [proof.dual for proof in proofs], "s--", color="#0072B2", label="dual: a lower bound")
ax.axhline(exact.primal, color="black", linewidth=0.9, label="the exact machine")
ax.set_xscale("log")
ax.set_xticks(landmarks, [str(m) for m in landmarks])
ax.minorticks_off()
ax.set(title="More landmarks close the gap", xlabel="landmarks", ylabel="objective of the exact problem")
ax.legend()
plt.show()
