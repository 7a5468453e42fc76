"""Problems that are solved several turns ahead (`go_ahead`, `take_up`) against those that are solved turn by turn (`advance`)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gapless import _native
from tests.native.test_shared_fits import AIM, FIELDS, KINDS, Task

COSTS = np.array([[0.01, 0.1, 0.0], [0.3, 0.0, 1.0], [5.0, 2.0, 50.0], [200.0, 0.0, 300.0], [500.0, 400.0, 500.0]])
GAPS = np.full(3, 1e-3)


def go_ahead(task, costs):
    """All families, some after the other."""
    families = len(task.starts) - 1
    for first, last in itertools.pairwise(sorted({0, families // 2, families})):
        task.native.go_ahead(costs, GAPS, first, last, **AIM)


def known(task, member):
    """All that can be asked of a member."""
    found = [getattr(task.native, name)[member::3].copy() for name in (*FIELDS, "apart", "kept")]
    return [*found, task.beta(member), *task.values(member, np.arange(task.n))]


@pytest.mark.parametrize("kind", KINDS)
def test_turns_that_are_taken_up_are_those_that_were_solved_one_by_one(kind):
    ahead, one_by_one = Task(kind, n=90), Task(kind, n=90)
    go_ahead(ahead, COSTS)
    for turn, C in enumerate(COSTS):
        ahead.native.take_up(turn, C, GAPS)
        one_by_one.advance(C)
        for member in np.flatnonzero(C):
            for one, other in zip(known(ahead, member), known(one_by_one, member), strict=True):
                assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_that_is_solved_more_closely_leaves_the_next_ones_right(kind):
    task, closer = Task(kind, n=90), 0
    go_ahead(task, COSTS)
    for turn, C in enumerate(COSTS):
        task.native.take_up(turn, C, GAPS)
        for problem in task.problems(C):
            problem.check()
        apart = task.native.apart.copy()
        task.tighten(1e-7)
        assert (task.native.apart <= apart).all()
        closer += (task.native.apart < apart).sum()
        for problem in task.problems(C):
            problem.check()
    assert closer > 0
    # Whoever has gone ahead goes on from the last turn.
    for problem in task.problems(task.advance(3.0)):
        problem.check()


def test_classes_that_are_apart_keep_what_a_closer_proof_has_found():
    task = Task("two classes")
    task.K = np.exp(2.0 * np.log(task.K))
    task.table = task.K.copy()
    costs = np.full((4, 3), 1e3) * np.array([[1.0], [3.0], [10.0], [30.0]])
    go_ahead(task, costs)
    task.native.take_up(0, costs[0], GAPS)
    assert not task.native.own.any()
    task.tighten(1e-9)
    apart = task.native.apart.copy()
    for turn in (1, 2, 3):
        task.native.take_up(turn, costs[turn], GAPS)
        assert task.native.kept.all()
        assert_array_equal(task.native.apart, apart)
        for problem in task.problems(costs[turn]):
            problem.check()


def test_memory_for_entries_may_be_given():
    task, given = Task("pairs", n=90), Task("pairs", n=90)
    room = np.full(_native.SharedFits.room_for(given.starts), np.nan, dtype=np.float32)
    g = np.ones(given.n)
    given.native = _native.SharedFits(
        given.table, given.K.diagonal().copy(), g, 0.0 * g, given.places, given.starts, given.p, True, given.weights, given.epsilon, room=room
    )  # fmt: skip
    for C in (0.1, 10.0):
        task.advance(C)
        given.advance(C)
    for member in range(3):
        for one, other in zip(known(given, member), known(task, member), strict=True):
            assert_array_equal(one, other)
    assert np.isfinite(room).sum() > 0.9 * (len(room) - 16)
