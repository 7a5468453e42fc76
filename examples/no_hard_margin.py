"""A hard margin where one exists, and a proof that can be checked by hand where none does."""

from __future__ import annotations

import math

import numpy as np

import gapless as gl


def main() -> tuple[gl.Result, gl.Result]:
    """Solve for a hard margin with and without a stray point; return both results."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)) - 3.0, rng.normal(size=(20, 2)) + 3.0])
    y = np.repeat(["left", "right"], 20)
    apart = gl.solve(gl.Problem(X, y, C=math.inf))
    print(apart.status)
    print(f"margin {2 / np.linalg.norm(apart.w):.4f}, held by the samples {apart.support.tolist()}")

    stray = gl.solve(gl.Problem(np.vstack([X, [[3.0, 3.0]]]), [*y, "left"], C=math.inf))
    print(stray.status)
    for label in ("left", "right"):
        members = np.flatnonzero((np.array([*y, "left"]) == label) & (stray.ray != 0))
        weights = np.abs(stray.ray[members]) / np.abs(stray.ray[members]).sum()
        terms = " + ".join(f"{weight:.3f} x{i}" for weight, i in zip(weights, members, strict=True))
        print(f"{label:>5}: {terms} = {(weights @ stray.problem.X[members]).round(6)}")
    return apart, stray


if __name__ == "__main__":
    main()
