"""A fast solver, and the interior-point method behind it: whoever has taken far longer than that would, or is stuck, hands over.

Epochs of ``sdca`` and the Newton steps of ``newton``, ``smoothed_newton`` and ``sdca`` are fast on most data, and without end on some: features whose
scales are orders of magnitude apart, or a C that makes a soft margin almost hard. The steps of the barrier method hardly depend on either, and
what they cost is known beforehand. So a solve takes at most a few times as long as the faster of the two, as with skis that are rented until
they might have been bought.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gapless.problems.problem import Problem
from gapless.proof.certificate import Point
from gapless.solvers.base import Advance, Budget, Engine, Outcome, Targets
from gapless.solvers.interior_point.solver import InteriorPoint, InteriorPointEngine, expected_work

_PATIENCE = 3.0  # times the expected work of the barrier method, about one and a half times as long as it takes: less cuts short what is about to end
_MOST_ITERATIONS = 500  # of the first solver, whatever they cost: half of what LinearSVC allows
_FINEST = 1e-12  # relative gap below which being stuck is rounding's doing, which no other method escapes


def relayed(problem: Problem, engine: Engine, *, price: float = 0.0, epoch: float | None = None) -> Engine:
    """The engine, with the barrier method behind it where that covers the problem and its matrices are small.

    ``price``: what a step of the engine costs beside the work that it tells of. ``epoch``: entries touched in one iteration of the engine, in which
    the steps of the barrier are then counted; None counts each as one.
    """
    if InteriorPoint().unsupported(problem) is not None:
        return engine
    work = expected_work(problem)
    if work is None:
        return engine
    return Relay(engine, lambda: InteriorPointEngine(problem, None, np.random.default_rng(0)), work, price, epoch)


class Relay(Engine):
    """The engine whose turn it is: the first, until it has taken far longer than ``work``, which is what the one that ``second`` makes is to take."""

    def __init__(
        self, first: Engine, second: Callable[[], Engine], work: float, price: float = 0.0, epoch: float | None = None
    ) -> None:
        self.engine, self.make_second, self.price, self.epoch = first, second, price, epoch
        self.left, self.iterations = _PATIENCE * work, float(_MOST_ITERATIONS)
        self.second = self.doubted = False
        self._take_flags()

    def step(self, budget: Budget, targets: Targets) -> Advance:
        advance = self.engine.step(budget, targets)
        if self.second:
            count = advance.iterations if self.epoch is None else advance.work / self.epoch
            return advance._replace(iterations=min(count, budget.iterations))
        self.left -= advance.work + self.price
        self.iterations -= advance.iterations
        self._take_flags()
        # An engine that believes itself done is given a proof first; where it is asked to go on, the proof did not agree.
        late = (self.doubted or advance.outcome is Outcome.RUNNING) and min(self.left, self.iterations) <= 0
        self.doubted = advance.outcome is Outcome.READY
        if not (late or advance.outcome is Outcome.STALLED) or not min(targets) >= _FINEST:
            return advance
        self.engine, self.second = self.make_second(), True
        self._take_flags()
        return advance._replace(outcome=Outcome.RUNNING)

    def point(self) -> Point:
        return self.engine.point()

    def answer(self) -> Point | None:
        return self.engine.answer()

    def _take_flags(self) -> None:
        engine = self.engine
        self.judges, self.holds, self.rises = engine.judges, engine.holds, engine.rises
        self.grain, self.visited = engine.grain, engine.visited
