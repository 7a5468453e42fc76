"""The pool of threads: every piece once, whoever does it; exceptions, signals, nested calls and forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gapless import _native

_COUNTS = [1, 2, 3, 8]


@pytest.fixture(params=_COUNTS)
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    limit = _native.thread_limit()
    _native.pretend_cores(request.param)
    _native.limit_threads(0)
    yield request.param
    _native.pretend_cores(0)
    _native.limit_threads(limit)


def _run(pieces: int) -> list[tuple[int, int]]:
    done: list[tuple[int, int]] = []
    _native.share_calls(pieces, lambda piece, thread: done.append((piece, thread)))
    return done


@pytest.mark.parametrize("pieces", [0, 1, 2, 7, 500])
def test_every_piece_is_done_once(threads: int, pieces: int) -> None:
    for _ in range(20):
        done = _run(pieces)
        assert sorted(piece for piece, _ in done) == list(range(pieces))
        assert all(0 <= thread < threads for _, thread in done)


def test_threads_work_at_the_same_time(threads: int) -> None:
    barrier = threading.Barrier(threads, timeout=60)  # passes only where as many threads are inside as there may be
    places: list[int] = []

    def meet(piece: int, thread: int) -> None:
        barrier.wait()
        places.append(thread)

    _native.share_calls(threads, meet)
    assert sorted(places) == list(range(threads))


def test_a_job_after_the_threads_have_slept(threads: int) -> None:
    for _ in range(5):
        assert len(_run(16)) == 16
        time.sleep(0.01)


def test_many_short_jobs(threads: int) -> None:
    assert len(_native.share_times(4, 20_000, 0.0, 0.0)) == 20_000


def test_nested_calls_run_on_their_caller(threads: int) -> None:
    seen: list[tuple[int, int]] = []

    def outer(piece: int, thread: int) -> None:
        mine = threading.get_ident()

        def inner(part: int, place: int) -> None:
            assert threading.get_ident() == mine and place == 0
            seen.append((piece, part))

        _native.share_calls(3, inner)

    _native.share_calls(8, outer)
    assert sorted(seen) == [(piece, part) for piece in range(8) for part in range(3)]


def test_callers_at_the_same_time(threads: int) -> None:
    totals: list[int] = []

    def call() -> None:
        for _ in range(50):
            totals.append(len(_run(20)))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert totals == [20] * 200


def test_an_exception_reaches_the_caller_and_stops_the_others(threads: int) -> None:
    begun: list[int] = []

    def fail(piece: int, thread: int) -> None:
        begun.append(piece)
        if piece == 3:
            raise ValueError(f"piece {piece}")
        time.sleep(0.002)

    with pytest.raises(ValueError, match="piece 3"):
        _native.share_calls(1000, fail)
    assert len(begun) < 3 + 3 * threads
    assert len(_run(50)) == 50  # the pool is whole afterwards


def test_of_several_exceptions_the_lowest_piece_counts(threads: int) -> None:
    barrier = threading.Barrier(threads, timeout=60)

    def fail(piece: int, thread: int) -> None:
        barrier.wait()
        raise ValueError(f"piece {piece}.")

    with pytest.raises(ValueError, match=r"piece 0\."):
        _native.share_calls(threads, fail)


def test_limits(threads: int) -> None:
    assert _native.core_count() == threads
    assert _native.thread_count() == threads
    _native.limit_threads(2)
    assert _native.thread_limit() == 2
    assert _native.thread_count() == min(2, threads)
    assert {thread for _, thread in _run(200)} <= {0, 1}
    before = _native.limit_threads_here(1)
    try:
        assert _native.thread_count() == 1
        assert {thread for _, thread in _run(200)} == {0}
        elsewhere: list[int] = []
        other = threading.Thread(target=lambda: elsewhere.append(_native.thread_count()))
        other.start()
        other.join()
        assert elsewhere == [min(2, threads)]
    finally:
        assert _native.limit_threads_here(before) == 1
    _native.limit_threads(0)
    assert _native.thread_count() == threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(threads: int) -> None:
    _run(50)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _native.pretend_cores(threads)  # the child counts its cores anew
            signal.alarm(60)
            barrier = threading.Barrier(threads)
            _native.share_calls(threads, lambda piece, thread: barrier.wait())
            code = 0 if len(_run(50)) == 50 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(_run(50)) == 50


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent to processes of POSIX systems")
@pytest.mark.parametrize("long", [False, True], ids=["many pieces", "a long piece of another thread"])
def test_ctrl_c_is_heard(long: bool) -> None:
    # In a process of its own: the signal goes to the process, and pytest has handlers too.
    script = """
import signal, sys, threading, time
from gapless import _native
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs deaf to it
_native.pretend_cores(2)
_native.limit_threads(0)
main, long = threading.get_ident(), bool(int(sys.argv[1]))
print("ready", flush=True)
start = time.perf_counter()
begun = []
try:
    if long:  # the caller's own piece is short: it waits for the other thread
        def piece(k, thread):
            begun.append(k)
            time.sleep(0.01 if threading.get_ident() == main else 2.0)
        _native.share_calls(100_000, lambda k, thread: piece(k, thread) if k < 2 else None)
    else:
        _native.share_times(100_000_000, 1, 1e-5, 0.0)  # 500 s on any machine, at least
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted" if time.perf_counter() - start < 60 else "late")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-c", script, str(int(long))]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"


def _write(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, float("inf")),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, float("inf")),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/cpu.max": "200000 100000\n",
                "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
            },
            2.0,
        ),
        ({"proc/self/cgroup": "0::/gone\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3.0),
        (
            {
                "proc/self/cgroup": "5:cpuset:/x\n4:cpu,cpuacct:/docker/1\n0::/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            0.5,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            float("inf"),
        ),
    ],
)
def test_quota_of_control_groups(tmp_path: Path, files: dict[str, str], cores: float) -> None:
    assert _native.cgroup_quota(_write(tmp_path, files)) == cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_cores_are_counted_within_the_affinity() -> None:
    script = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        "from gapless import _native; print(_native.core_count())"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert answer.stdout == "1\n"
