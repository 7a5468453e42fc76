from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from gapless import blas
from gapless.blas import one_blas_thread
from gapless.machine import on_all_cores


class _Fake(blas._Library):
    """A copy of BLAS that only counts; ``by_thread`` where each thread of the process has a number of its own."""

    def __new__(cls, number: int, by_thread: bool = False) -> Any:
        here = threading.local() if by_thread else threading.Event()

        def put(value: int) -> None:
            here.number = value

        return blas._Library(lambda: getattr(here, "number", number), put, by_thread)


def _threads() -> list[int]:
    return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]


def _elsewhere(work: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> blas._Held:
    """The holder of a process with two copies of BLAS on four threads, the second with a number for each thread of the process."""
    held = blas._Held()
    held.shared, held.own = [_Fake(4)], [_Fake(4, by_thread=True)]
    monkeypatch.setattr(blas, "_held", held)
    return held


def _numbers(held: blas._Held) -> list[int | None]:
    return [library.get() for library in [*(held.shared or []), *held.own]]


def test_the_copies_of_numpy_and_scipy_are_held_and_restored() -> None:
    before = _threads()
    with one_blas_thread():
        with one_blas_thread():
            assert set(_threads()) <= {1}
        assert set(_threads()) <= {1}
    assert _threads() == before


def test_any_thread_may_hold_them() -> None:
    """Where the main thread has set a limit before, threadpoolctl does nothing for another thread."""
    threadpool_limits(limits=2, user_api="blas")
    try:

        @one_blas_thread()
        def inside() -> list[int]:
            return _threads()

        assert set(_elsewhere(inside)) <= {1}
    finally:
        threadpool_limits(limits=None)


def test_the_last_to_leave_restores(held: blas._Held) -> None:
    def inside() -> list[int | None]:
        with one_blas_thread():
            return _numbers(held)

    with one_blas_thread():
        assert _numbers(held) == [1, 1]
        assert _elsewhere(inside) == [1, 1]
        assert _numbers(held) == [1, 1]
        assert _elsewhere(lambda: _numbers(held)) == [1, 4]
    assert _numbers(held) == [4, 4]


def test_an_exception_lets_go(held: blas._Held) -> None:
    with pytest.raises(ValueError, match="within"), one_blas_thread():
        raise ValueError("within")
    assert _numbers(held) == [4, 4]


def test_what_somebody_else_has_set_is_bounded_again_and_left_at_the_end(held: blas._Held) -> None:
    (shared,) = held.shared or []
    with one_blas_thread():
        shared.set(3)
        with one_blas_thread():
            assert shared.get() == 1
        shared.set(2)
    assert shared.get() == 2


def test_a_child_process_is_free_of_what_other_threads_hold(held: blas._Held) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with one_blas_thread():
            entered.set()
            leave.wait()

    other = threading.Thread(target=hold)
    other.start()
    entered.wait()
    held.after_fork()
    assert _numbers(held) == [4, 4] and held.threads == 0
    with one_blas_thread():
        held.after_fork()
        assert _numbers(held) == [1, 1] and held.threads == 1
    assert _numbers(held)[0] == 4
    held.threads += 1  # for the thread that, in this process, still is inside
    leave.set()
    other.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_is_heard_of() -> None:
    assert "after_fork" in blas._Held.__dict__
    with one_blas_thread():
        assert blas._held.threads == 1


def test_work_on_all_cores_holds_each_thread(held: blas._Held) -> None:
    seen: list[list[int | None]] = []
    on_all_cores(lambda _: seen.append(_numbers(held)), range(4))
    assert seen == [[1, 1]] * 4 and _numbers(held) == [4, 4]
