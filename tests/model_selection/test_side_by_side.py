"""Streams that run side by side hand on every item, and end together."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import joblib
import pytest
import sklearn

from gapless import _native
from gapless.model_selection.side_by_side import side_by_side, use_free_threads


@pytest.mark.parametrize("jobs", [None, 1, 2, 3, -1])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_every_item_comes_once(jobs, count):
    items = list(side_by_side(lambda k: ((k, i) for i in range(k)), count, jobs))
    assert sorted(items) == [(k, i) for k in range(count) for i in range(k)]
    for k in range(count):  # those of one stream in their order
        assert [i for stream, i in items if stream == k] == list(range(k))


def test_one_job_runs_no_further_than_asked():
    begun = []

    def stream(k):
        begun.append(k)
        yield threading.get_ident()

    items = side_by_side(stream, 3, 1)
    assert next(items) == threading.get_ident() and begun == [0]


def test_streams_run_at_the_same_time():
    both = threading.Barrier(2, timeout=30)

    def stream(k):
        both.wait()
        yield k

    assert sorted(side_by_side(stream, 2, 2)) == [0, 1]


@contextmanager
def cores(count):
    """A machine with so many cores, all of which may be used."""
    limit = _native.thread_limit()
    _native.pretend_cores(count)
    _native.limit_threads(0)
    try:
        yield
    finally:
        _native.pretend_cores(0)
        _native.limit_threads(limit)


def test_the_last_stream_has_all_cores():
    first_is_over = threading.Event()

    def stream(k):
        if k == 0:
            yield _native.thread_count()
            return
        first_is_over.wait(30)
        while _native.thread_count() < 4:
            yield _native.thread_count()
        yield _native.thread_count()

    found = []
    with cores(4):
        for item in side_by_side(stream, 2, 2):
            found.append(item)
            first_is_over.set()
    assert found[0] == 2 and found[-1] == 4 and set(found) == {2, 4}


def test_a_stream_asks_for_threads_that_have_become_free():
    first_is_over = threading.Event()

    def stream(k):
        if k == 0:
            yield 0
            return
        first_is_over.wait(30)
        end = time.monotonic() + 30
        while _native.thread_count() < 2 and time.monotonic() < end:
            use_free_threads()
        yield _native.thread_count()

    found = []
    with cores(2):
        for item in side_by_side(stream, 2, 2):
            found.append(item)
            first_is_over.set()
    assert found == [0, 2]


def test_outside_of_a_stream_no_threads_are_asked_for():
    before = _native.limit_threads_here(1)
    try:
        use_free_threads()
        assert _native.thread_count() == 1
    finally:
        _native.limit_threads_here(before)


def test_an_exception_ends_all():
    ended = threading.Event()

    def stream(k):
        if k == 0:
            raise KeyError("wrong")
        for i in range(10**6):
            if ended.is_set():
                raise AssertionError("It went on.")
            yield i
            time.sleep(1e-3)

    with pytest.raises(KeyError, match="wrong"):
        list(side_by_side(stream, 2, 2))
    ended.set()  # all threads are over by now


def test_closing_ends_all():
    closed = []

    def stream(k):
        try:
            for i in range(10**6):
                yield i
                time.sleep(1e-3)
        finally:
            closed.append(k)

    items = side_by_side(stream, 2, 2)
    next(items)
    items.close()
    assert sorted(closed) == [0, 1]


def test_settings_reach_the_threads_and_joblib_says_how_many():
    def stream(k):
        yield threading.get_ident(), sklearn.get_config()["assume_finite"]

    with joblib.parallel_config(n_jobs=2), sklearn.config_context(assume_finite=True):
        seen = list(side_by_side(stream, 2, None))
    assert all(finite and thread != threading.get_ident() for thread, finite in seen)
