from __future__ import annotations

import numpy as np

from gapless.solvers.textbook.sampling import Order
from tests.solvers.driving import visits


def test_an_epoch_is_a_permutation_and_the_next_another():
    first, second = np.split(np.array(visits(50, "epochs", 100)), 2)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first.tolist() != second.tolist() != sorted(second)


def test_every_permutation_comes_up_equally_often():
    counts: dict[tuple[int, ...], int] = {}
    sequence = visits(3, "epochs", 3 * 6000)
    for k in range(0, len(sequence), 3):
        key = tuple(sequence[k : k + 3])
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())  # five standard deviations


def test_uniform_draws_are_uniform_and_with_replacement():
    sequence = np.array(visits(10, "uniform", 10_000))
    counts = np.bincount(sequence, minlength=10)
    assert len(counts) == 10 and (counts > 850).all() and (counts < 1150).all()
    assert len(set(sequence[:10])) < 10


def test_pieces_end_with_the_epoch_and_seeds_differ():
    order = Order(7, "epochs", np.random.default_rng(0))
    assert [len(order.next(5)) for _ in range(4)] == [5, 2, 5, 2]
    assert visits(20, "epochs", 20, seed=1) != visits(20, "epochs", 20, seed=2)
    assert visits(20, "epochs", 20, seed=1) == visits(20, "epochs", 20, seed=1)
