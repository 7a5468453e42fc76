from __future__ import annotations

import numpy as np
import pytest

from gapless.errors import InvalidInputError
from gapless.solvers.textbook.sampling import Order, check_sampling
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


def test_orders_without_chance():
    assert visits(3, "cyclic", 7) == [0, 1, 2, 0, 1, 2, 0]
    assert visits(3, (2, 2, 0, 1), 9) == [2, 2, 0, 1, 2, 2, 0, 1, 2]
    order = Order(5, (4, 3, 2), np.random.default_rng(0))  # written down twice
    assert [order.next(4).tolist() for _ in range(3)] == [[4, 3, 2, 4], [3, 2], [4, 3, 2, 4]]


def test_a_given_order_is_kept_as_a_tuple_of_indices():
    for given in ([2, 0], (2, 0), np.array([2, 0]), range(2, -1, -2)):
        assert check_sampling(given) == (2, 0)
        assert all(type(i) is int for i in check_sampling(given))


@pytest.mark.parametrize("given", [[], [0.5], [-1], [True], "cycle", 4, None, np.eye(2)])
def test_what_is_no_order_is_refused(given):
    with pytest.raises(InvalidInputError) as caught:
        check_sampling(given)
    assert str(caught.value) == (
        f"sampling must be one of epochs, uniform, cyclic, or indices of samples; got {given!r}."
    )


def test_an_index_that_is_no_sample_is_named():
    with pytest.raises(InvalidInputError) as caught:
        visits(3, (0, 3), 1)
    assert str(caught.value) == "sampling names the sample 3, but the 3 samples have the indices 0 to 2."
