"""
Inside SMO, round by round
==========================

SMO looks at all samples, but moves only those of a small active set. Round by round the violators vanish, and the proven gap closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import gapless as gl
from gapless.plot.style import MUTED, PALETTE, style
from gapless.solvers import SMO, Budget, Outcome, Targets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

C, TOL = 100.0, 1e-6
VIOLATES = 1e-3  # a margin that is off by more than this counts as a violation


class Round(NamedTuple):
    """What one round of the engine left behind."""

    taking_part: int
    active: int
    support: int
    violators: int
    newton: bool
    gap: float


def main() -> list[Round]:
    """Run the engine of SMO one round at a time, and prove each of its points; return what each round left behind."""
    X, y = make_moons(12_000, noise=0.25, random_state=0)
    problem = gl.Problem(X, y, C=C, kernel=gl.kernels.RBF(gamma=5.0))
    engine = SMO().init(problem, None, np.random.default_rng(0))
    rounds: list[Round] = []
    outcome, finishes = Outcome.RUNNING, 0
    while outcome is Outcome.RUNNING:
        outcome = engine.step(Budget(), Targets(TOL, np.inf)).outcome
        native = engine.native
        newton, finishes = native.finishes > finishes, native.finishes
        point = engine.point()
        proof = gl.certify(problem, point)
        alpha = np.abs(point.beta)
        margin = problem.y * (problem.expand(point.beta) + np.mean(proof.b_interval))
        violates = ((alpha < C) & (margin < 1 - VIOLATES)) | ((alpha > 0) & (margin > 1 + VIOLATES))
        now = Round(
            native.reach, native.active, np.count_nonzero(alpha), int(violates.sum()), newton, proof.relative_gap
        )
        rounds.append(now)
        print(f"round {len(rounds)}: {now.active} active, {now.violators} violators, relative gap {now.gap:.1e}")
    return rounds


def draw(rounds: list[Round]) -> Figure:
    """The samples of each kind above, the proven gap below, over the rounds."""
    counts = np.array([now[:4] for now in rounds])
    gap = np.array([now.gap for now in rounds])
    newton = np.array([now.newton for now in rounds])
    number = np.arange(1, len(rounds) + 1)
    looks = (
        ("samples that take part", MUTED, "D", "--"),
        ("active set", PALETTE[5], "s", "-"),
        ("support vectors", PALETTE[3], "^", "-"),
        ("violators", PALETTE[0], "o", "-"),
    )
    with style():
        figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 5.8), sharex=True, layout="constrained")
        for (label, color, marker, dashes), count in zip(looks, counts.T, strict=True):
            above.plot(number, count, marker=marker, linestyle=dashes, color=color, label=label, clip_on=False)
        above.set_yscale("symlog", linthresh=1)
        above.yaxis.set_major_formatter("{x:,.0f}")
        above.set(title="A small active set moves, until nothing violates", ylabel="samples", ylim=(0, 20_000))
        above.legend(loc="lower left")
        below.semilogy(number, gap, marker="o", color="black", label="gap, proven")
        below.plot(number[newton], gap[newton], "*", color=PALETTE[0], markersize=14, label="Newton steps")
        below.axhline(TOL, color=MUTED, linestyle=":", label="gap asked for")
        below.set(title="The gap closes", xlabel="round", ylabel="relative duality gap")
        below.set(xlim=(0.5, len(rounds) + 0.5), xticks=number[::4])
        below.legend(loc="lower left", bbox_to_anchor=(0.0, 0.12))
    return figure


if __name__ == "__main__":
    found = main()
    draw(found)
    plt.show()
