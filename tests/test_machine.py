from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

import gapless
from gapless import _native, machine


def _fresh(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in machine._LIMITS}
    path = os.pathsep.join(sys.path)
    arguments = [sys.executable, "-c", f"from gapless import _native\n_native.pretend_cores(4)\n{code}"]
    return subprocess.run(
        arguments, env={**kept, "PYTHONPATH": path, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("environment", "threads"),
    [
        ({}, 4),
        ({"OMP_NUM_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": "3,1"}, 3),
        ({"OMP_NUM_THREADS": "many"}, 4),
        ({"OMP_NUM_THREADS": "0"}, 4),
        ({"OMP_NUM_THREADS": "64"}, 4),
        ({"GAPLESS_NUM_THREADS": "1", "OMP_NUM_THREADS": "3"}, 1),
    ],
)
def test_the_environment_bounds_threads(environment: dict[str, str], threads: int) -> None:
    assert _fresh("print(_native.thread_count())", **environment).stdout == f"{threads}\n"


def test_threadpoolctl_finds_and_bounds_the_core() -> None:
    limit = _native.thread_limit()
    try:
        _native.pretend_cores(4)
        _native.limit_threads(0)
        (entry,) = [library for library in threadpool_info() if library["internal_api"] == "gapless"]
        assert entry["user_api"] == "gapless"
        assert entry["num_threads"] == 4
        assert entry["instruction_set"] == _native.isa()
        with threadpool_limits(limits=2):
            assert _native.thread_count() == 2
        assert _native.thread_count() == 4
        with threadpool_limits(limits=1, user_api="blas"):
            assert _native.thread_count() == 4
        with threadpool_limits(limits={"gapless": 1}):
            assert _native.thread_count() == 1
        assert _native.thread_count() == 4
    finally:
        _native.pretend_cores(0)
        _native.limit_threads(limit)


def _threads_of_a_worker() -> int:
    from gapless import _native

    _native.pretend_cores(8)
    return _native.thread_count()


def test_joblib_bounds_its_workers() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in machine._LIMITS:
            patch.delenv(name, raising=False)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        counts = Parallel(n_jobs=2, backend="loky")(delayed(_threads_of_a_worker)() for _ in range(2))
    assert counts == [max(1, cores // 2)] * 2


@pytest.mark.parametrize("level", _native.isa_levels())
def test_the_environment_names_an_instruction_set(level: str) -> None:
    assert _fresh("print(_native.isa())", GAPLESS_ISA=level).stdout == f"{level}\n"


def test_an_unknown_instruction_set_is_refused_in_a_sentence() -> None:
    answer = _fresh("", GAPLESS_ISA="v9")
    assert answer.returncode != 0
    known = ", ".join(_native.isa_levels())
    assert answer.stderr.endswith(
        "ImportError: The environment variable GAPLESS_ISA cannot be followed: "
        f"the instruction set must be one of {known}; got v9.\n"
    )


def test_jobs_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 4
    limit = _native.thread_limit()
    try:
        _native.pretend_cores(6)
        _native.limit_threads(0)
        inner = gapless.estimators.solving.solve

        def solve(*args, **kwargs):
            seen.append(_native.thread_count())
            return inner(*args, **kwargs)

        monkeypatch.setattr(gapless.estimators.solving, "solve", solve)
        gapless.LinearSVC(n_jobs=3).fit(X, y)
        assert seen == [2] * 4
        seen.clear()
        gapless.LinearSVC(n_jobs=-1).fit(X, y)  # six cores, four problems
        assert seen == [1] * 4
        seen.clear()
        gapless.LinearSVC().fit(X, y)
        assert seen == [6] * 4
    finally:
        _native.pretend_cores(0)
        _native.limit_threads(limit)


@pytest.mark.parametrize("cores", [1, 3])
def test_work_on_all_cores_is_done_once_and_an_exception_ends_it(cores: int) -> None:
    limit, done = _native.thread_limit(), []
    try:
        _native.pretend_cores(cores)
        _native.limit_threads(0)
        machine.on_all_cores(done.append, range(0, 100, 7))
        assert sorted(done) == list(range(0, 100, 7))
        done.clear()

        def fail(item: int) -> None:
            if item == 5:
                raise ValueError("at five")
            done.append(item)
            threading.Event().wait(0.002)

        with pytest.raises(ValueError, match="at five"):
            machine.on_all_cores(fail, range(1000))
        assert len(done) < 100
    finally:
        _native.pretend_cores(0)
        _native.limit_threads(limit)
