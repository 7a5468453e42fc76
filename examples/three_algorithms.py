"""
Three algorithms, one optimum
=============================

Sub-gradient descent lowers the primal value. Projected gradient and coordinate ascent raise the dual value.
All of them meet, for every strength of regularisation.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import gapless as gl
from gapless.solvers import CoordinateAscent, ProjectedGradient, Subgradient

X, y = make_moons(200, noise=0.25, random_state=0)
solvers = {
    "subgradient": Subgradient(),
    "projected_gradient": ProjectedGradient(),
    "coordinate_ascent": CoordinateAscent(sampling="cyclic"),
}
sides = {"subgradient": "primal", "projected_gradient": "dual", "coordinate_ascent": "dual"}

figure, panels = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
proofs = {}
for ax, c in zip(panels, (1.0, 3.0, 5.0), strict=True):
    problem = gl.Problem(X, y, lam_sum=c, intercept="regularized")
    results = {
        name: gl.solve(problem, solver, tol=1e-4, max_iter=1000 if name == "subgradient" else None, check_every=1)
        for name, solver in solvers.items()
    }
    proofs[c] = [result.certificate for result in results.values()]
    print(f"c = {c:g}: " + ", ".join(f"{name} {result.iterations:.0f} epochs" for name, result in results.items()))
    display = gl.plot.ConvergenceDisplay.from_results(results, sides=sides)
    display.plot(ax, title=f"c = {c:g}: all meet at {display.optimum:.5g}", legend=ax is panels[-1])
plt.show()
