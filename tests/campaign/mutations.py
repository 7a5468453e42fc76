"""Mutations of model files and of text inputs: reading each must end in an error of Gapless or in success, soon and in little memory.

    python -m tests.campaign.mutations --kind model --count 50000 --seed 0

A child process reads many mutations, under a limit of its address space; where it dies, the last mutation is known. ``mutation_seeds.py`` has the
sound files, ``mutators.py`` the changes that are made to them.
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

# The most that reading a mutation may take: seconds of processor time, which do not depend on the machine's load, and bytes of further memory.
SECONDS, ROOM = 2.0, 300 * 2**20
_SHARE = 500  # mutations that one child process reads


@dataclass(frozen=True)
class Failure:
    """A mutation whose reading failed; with ``--first`` and its number it is made again."""

    number: int
    seed: str
    what: str
    content: bytes


def run(kind: str, count: int, seed: int = 0, *, first: int = 0) -> tuple[Counter[str], list[Failure]]:
    """(counts of the outcomes, failures) of ``count`` mutations, in child processes."""
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
    """Take a child's outcomes, and return the number of the next mutation; that at which the child died or hung is a failure."""
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
            elif "MemoryError" in what or "nable to allocate" in what:  # an error of Gapless, but by the memory limit
                outcome = "memory"
        except Exception:  # every exception that is no error of Gapless is a failure
            outcome, what = "traceback", traceback.format_exc()
        took = time.process_time() - begin
        if took > SECONDS:
            outcome, what = "slow", f"{took:.1f} s; {what}"
        sender.send((outcome, what))
    sender.close()


def main() -> int:
    """Run the command line; returns 1 where a mutation failed."""
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
