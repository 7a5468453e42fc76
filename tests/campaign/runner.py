"""Worker processes with a watchdog: a problem that kills its process, or holds it for too long, is a failure and not the campaign's end."""

from __future__ import annotations

import multiprocessing as mp
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from tests.campaign.judge import Verdict, judge
from tests.campaign.specs import draw

STARTUP = 60.0  # seconds more until a worker has imported what it needs, and says so by None
HANG = 30.0  # seconds after which a problem counts as one that never ends


@dataclass
class _Worker:
    """A process that goes through ``remaining`` problems, in order, and tells of each."""

    seed: int
    remaining: list[int]
    process: Any = None
    pipe: Connection | None = None
    since: float = field(default=0.0)

    def start(self) -> None:
        ours, theirs = mp.Pipe(duplex=False)
        context = mp.get_context("spawn")
        self.process = context.Process(target=_work, args=(self.seed, self.remaining, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe, self.since = ours, time.monotonic() + STARTUP

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        assert self.pipe is not None
        self.pipe.close()


def run(seed: int, first: int, count: int, jobs: int) -> Iterator[Verdict]:
    """The verdicts of problems first … first + count − 1, as they come."""
    workers = [_Worker(seed, list(range(first + k, first + count, jobs))) for k in range(jobs)]
    workers = [worker for worker in workers if worker.remaining]
    for worker in workers:
        worker.start()
    try:
        while workers:
            ready = wait([worker.pipe for worker in workers if worker.pipe is not None], timeout=1.0)
            for worker in list(workers):
                verdict = _next(worker, worker.pipe in ready)
                if verdict is not None:
                    yield verdict
                if not worker.remaining:
                    worker.stop()
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.stop()


def _next(worker: _Worker, ready: bool) -> Verdict | None:
    """What a worker has told, or what its death or its silence tells."""
    assert worker.pipe is not None
    if ready:
        try:
            verdict = worker.pipe.recv()
        except EOFError:
            worker.process.join()
            return _lost(worker, "crash", f"the process died with the exit code {worker.process.exitcode}")
        worker.since = time.monotonic()
        if verdict is not None:
            worker.remaining.pop(0)
        return verdict
    if time.monotonic() - worker.since > HANG:
        return _lost(worker, "hang", f"no answer in {HANG:g} s")
    return None


def _lost(worker: _Worker, kind: str, sentence: str) -> Verdict:
    verdict = Verdict(draw(worker.seed, worker.remaining.pop(0)))
    verdict.fail(kind, sentence)
    worker.stop()
    if worker.remaining:
        worker.start()
    return verdict


def _work(seed: int, indices: list[int], pipe: Connection) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"  # for what is still to be imported; the workers share the cores
    pipe.send(None)
    for index in indices:
        pipe.send(judge(draw(seed, index)))
