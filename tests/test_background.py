from __future__ import annotations

import threading

import pytest

from gapless.background import in_background, in_child


def test_the_outcome_is_that_of_the_call():
    assert in_background(lambda: 6 * 7) == 42
    assert in_background(lambda: None) is None


def test_the_call_runs_on_another_thread_that_does_not_hold_up_the_exit():
    thread = in_background(threading.current_thread)
    assert thread is not threading.main_thread() and thread.daemon


def test_an_error_of_the_call_is_raised_here():
    def fail() -> None:
        raise ArithmeticError("as asked")

    with pytest.raises(ArithmeticError, match="as asked"):
        in_background(fail)
    with pytest.raises(SystemExit):
        in_background(lambda: exit(3))


def test_an_interruption_of_the_caller_leaves_the_call_behind(monkeypatch):
    """The wait is cut into short ones, between which signals are heard: here the first of them is interrupted."""
    release = threading.Event()
    waits = []

    def interrupted(self: threading.Event, timeout: float | None = None) -> bool:
        waits.append(timeout)
        raise KeyboardInterrupt

    plain_wait = threading.Event.wait
    with monkeypatch.context() as patch:
        # Thread.start waits for its own event without a timeout; only the caller's wait has one.
        patch.setattr(
            threading.Event, "wait", lambda self, timeout=None: (interrupted if timeout else plain_wait)(self, timeout)
        )
        with pytest.raises(KeyboardInterrupt):
            in_background(lambda: plain_wait(release, 60))
    release.set()
    assert len(waits) == 1 and 0 < waits[0] <= 0.1


def test_a_process_answers_or_tells_its_error():
    assert in_child("answer = 6 * task", 7) == 42
    with pytest.raises(RuntimeError, match="ArithmeticError: as asked"):
        in_child("raise ArithmeticError('as asked')", None)


def test_a_process_that_ends_without_a_word_is_told_by_its_code():
    with pytest.raises(RuntimeError, match="the process of the call ended with code 3"):
        in_child("import os; os._exit(3)", None)
