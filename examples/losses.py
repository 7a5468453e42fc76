"""
Every loss
==========

Each loss is convex in the decision value. Its conjugate makes the dual, and the dual makes the proof.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import gapless as gl

f = np.linspace(-2.5, 2.5, 501)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
values = {}
for place, (name, loss) in enumerate(gl.losses.LOSSES.items()):
    classifies = loss.task == "classification"
    target = np.full_like(f, 1.0 if classifies else 0.0)
    values[name] = loss().value(target, f)
    style = {"color": gl.plot.style.PALETTE[place + 3], "linestyle": ("-", "--", "-.", ":")[place % 4]}
    (left if classifies else right).plot(f, values[name], label=name, linewidth=2, **style)
left.set(title="Classification, y = 1", xlabel="decision value f", ylabel="loss", ylim=(-0.1, 4))
right.set(title="Regression, y = 0", xlabel="prediction f")
left.legend()
right.legend()
print({name: round(float(value[250]), 4) for name, value in values.items()})
plt.show()
