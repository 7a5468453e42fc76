"""1 + ⟨x,z⟩ + ⟨x,z⟩² through the kernel, Θ(d) an entry, against its 1 + d + d² features, Θ(d²): seconds for one Gram matrix."""

from __future__ import annotations

import numpy as np
from _harness import interleave, seconds_of, touch_memory, write_section

import gapless as gl

N, REPEATS = 400, 5


def main() -> None:
    """Time both ways for growing d, and write the table."""
    touch_memory()
    lines = ["| d | columns of ψ | kernel ms | features ms | ratio |", "|---|---|---|---|---|"]
    for d in (10, 30, 100, 300):
        X = np.random.default_rng(0).normal(size=(N, d)) / np.sqrt(d)
        psi = gl.features.Polynomial(degree=2, ordered=True).fit(X)
        kernel = psi.kernel()
        times = interleave(
            {
                "kernel": lambda X=X, kernel=kernel: seconds_of(lambda: kernel(X)),
                "features": lambda X=X, psi=psi: seconds_of(lambda: (Z := psi.transform(X)) @ Z.T),
            },
            REPEATS,
        )
        fast, slow = (1e3 * float(np.median(times[name][1:])) for name in ("kernel", "features"))
        lines.append(f"| {d} | {psi.n_output_features_:,} | {fast:.2f} | {slow:.1f} | {slow / fast:.0f} |")
    text = "\n".join([f"One Gram matrix of {N} samples, median of {REPEATS - 1} after a warm-up.", "", *lines])
    write_section("The kernel trick: 1 + ⟨x,z⟩ + ⟨x,z⟩²", text, ("gapless", "numpy"))


if __name__ == "__main__":
    main()
