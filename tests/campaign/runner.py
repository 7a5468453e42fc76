"""Worker processes with a watchdog: a problem that kills its process, or takes too long, is a failure and does not end the campaign."""

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

STARTUP = 60.0  # further seconds for a worker to import its modules, after which it sends None
HANG = 30.0  # seconds after which a problem counts as hanging: ten times the longest max_time


@dataclass
class _Worker:
    """A process that judges the ``remaining`` problems, in order, and sends a verdict for each."""

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
    """The next verdict of a worker: the one that it has sent, or a failure where it has died or is silent for too long; else None."""
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
    os.environ["OMP_NUM_THREADS"] = "1"  # for libraries that are imported from here on: the workers share the cores
    pipe.send(None)
    for index in indices:
        pipe.send(judge(draw(seed, index)))
