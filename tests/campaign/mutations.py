"""Mutations of model files and of text inputs: each ends in a sentence of ours or in success, soon and in little memory.

    python -m tests.campaign.mutations --kind model --count 50000 --seed 0

A child process takes many mutations, under a limit of its address space; what it was given last is known when it dies. ``mutation_seeds.py`` has
the sound files, ``mutators.py`` what is done to them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.campaign.mutation_seeds import Seed, seeds

# What a mutation may take: seconds of a processor, so that the machine's load does not count, and memory beyond what the process has before it.
SECONDS, ROOM = 2.0, 300 * 2**20
_SHARE = 500  # mutations that a child process takes


@dataclass(frozen=True)
class Failure:
    """A mutation that ended otherwise: its number tells how to make it again."""

    number: int
    seed: str
    what: str
    content: bytes


def run(kind: str, count: int, seed: int = 0, *, first: int = 0) -> tuple[Counter[str], list[Failure]]:
    """(how many ended how, failures) of ``count`` mutations, in child processes."""
    outcomes: Counter[str] = Counter()
    failures: list[Failure] = []
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = seeds(kind, folder)
        at, end = first, first + count
        while at < end:
            stop = min(end, at + _SHARE)
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=_work, args=(files, folder, seed, at, stop, sender))
            child.start()
            sender.close()
            at = _collect(receiver, child, at, stop, files, seed, outcomes, failures)
    return outcomes, failures


def _collect(
    receiver: Any,
    child: Any,
    at: int,
    stop: int,
    files: Any,
    seed: int,
    outcomes: Counter[str],
    failures: list[Failure],
) -> int:
    """Take a child's outcomes; the mutation at which it died or hung is a failure, and the next child goes on behind it."""
    while at < stop:
        alive = receiver.poll(10 * SECONDS)
        try:
            outcome, what = receiver.recv() if alive else ("hang", f"no answer in {10 * SECONDS:g} s")
        except EOFError:
            child.join()
            outcome, what = "crash", f"the process ended with {child.exitcode}"
        outcomes[outcome] += 1
        if outcome not in ("sentence", "loaded"):
            file, content = _mutant(files, seed, at)
            failures.append(Failure(at, file.name, f"{outcome}: {what}", content))
        at += 1
        if outcome in ("hang", "crash"):
            child.kill()
            break
    child.join()
    return at


def _mutant(files: Any, seed: int, number: int) -> tuple[Seed, bytes]:
    rng = random.Random(f"{seed}-{number}")
    file, change = rng.choice(files)
    return file, change(file.content, rng)


def _work(files: Any, folder: Path, seed: int, first: int, stop: int, sender: Any) -> None:
    from gapless.errors import GaplessError

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    path = folder / f"mutant-{os.getpid()}"
    for number in range(first, stop):
        file, content = _mutant(files, seed, number)
        path.write_bytes(content)
        begin = time.process_time()
        try:
            file.read(path)
            outcome, what = "loaded", ""
        except GaplessError as error:
            outcome, what = "sentence", str(error)
            if not what.strip():
                outcome, what = "silence", repr(error)
            elif (
                "MemoryError" in what or "nable to allocate" in what
            ):  # the limit was met, if by something that took it well
                outcome = "memory"
        except Exception:  # whatever else there is: that is what is looked for
            outcome, what = "traceback", traceback.format_exc()
        took = time.process_time() - begin
        if took > SECONDS:
            outcome, what = "slow", f"{took:.1f} s; {what}"
        sender.send((outcome, what))
    sender.close()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=["model", "text"], required=True)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutation, to make one again")
    options = parser.parse_args()
    begin = time.perf_counter()
    outcomes, failures = run(options.kind, options.count, options.seed, first=options.first)
    shown: set[str] = set()
    for failure in failures:
        last = failure.what.strip().splitlines()
        key = f"{failure.seed} {last[-1]} {last[-3] if len(last) > 2 else ''}"
        if key not in shown:
            shown.add(key)
            print(f"--- {failure.number} ({failure.seed}): {failure.what}")
    print(
        f"{options.kind}: {sum(outcomes.values()):,} mutations in {time.perf_counter() - begin:.0f} s: {dict(outcomes)}"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
