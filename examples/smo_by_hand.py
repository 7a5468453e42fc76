"""
SMO, pair by pair
=================

On four points, each step of SMO moves two α at once, until six steps later the gap is zero. ``gapless.steps`` shows what a run by hand would show.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl
from gapless.solvers import SMO

X, y = np.array([[-1.0, -1.0], [0.0, 0.0], [1.0, 2.0], [2.0, -1.0]]), np.array([-1, -1, 1, 1])
problem = gl.Problem(X, y, C_mean=2.0)
steps = []
for step in gl.steps(problem, SMO(pairs="maximal_violation"), max_steps=12):
    steps.append(step)
    print(f"step {step.t}: moved {step.moved}, alpha {step.alpha.round(4)}, gap {step.gap:.4f}")
    if step.gap < 1e-9:
        break

# %%
# Two lines move at every step: Σαy = 0 forbids moving one alone. The box stops the second sample at 0.5 and the first at 0.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
times = [step.t for step in steps]
for k, marker in enumerate("os^D"):
    color = gl.plot.style.PALETTE[(5, 4, 0, 1)[k]]
    left.plot(times, [step.alpha[k] for step in steps], marker + "-", color=color, label=f"sample {k}, class {y[k]}")
left.axhline(0.5, color="#6B6B6B", linestyle=":", label="the bound")
left.set(title="α, two at a time", xlabel="step", ylabel="α", ylim=(-0.03, 0.56))
left.legend(loc="lower left", bbox_to_anchor=(0.0, 0.5), fontsize=8)
right.plot(times, [step.primal for step in steps], "o-", color="#D55E00", label="primal: an upper bound")
right.plot(times, [step.dual for step in steps], "s--", color="#0072B2", label="dual: a lower bound")
right.set(title="The bounds meet", xlabel="step", ylabel="objective")
right.legend()
plt.show()
