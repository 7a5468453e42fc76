"""``python -m tests.campaign``: run the campaign, replay one of its problems, or print the table of the last run."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from pathlib import Path

from tests.campaign.faults import FAULTS
from tests.campaign.judge import judge
from tests.campaign.runner import run
from tests.campaign.specs import draw
from tests.campaign.summary import FOLDER, Summary, table
from tests.campaign.uses import CHECKS, check


def main() -> int:
    """Run the command line; returns 1 where a problem or a fault failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--count", type=int, default=110_000, help="problems to draw")
    parser.add_argument("--first", type=int, default=0, help="the index of the first problem")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another campaign")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--replay", metavar="SPEC", help="one problem: its JSON, or seed:index")
    parser.add_argument(
        "--faults",
        type=int,
        metavar="ROUNDS",
        help="signals, kills, full disks, forks, threads and memory instead of problems",
    )
    parser.add_argument(
        "--uses",
        type=int,
        metavar="ROUNDS",
        help="certify, paths, leave-one-out, probabilities and searches instead of problems",
    )
    parser.add_argument("--report", action="store_true", help="print the table of the last run")
    options = parser.parse_args()
    if options.report:
        print(table(json.loads((FOLDER / "summary.json").read_text())))
        return 0
    if options.replay:
        return _replay(options.replay)
    if options.faults:
        return _faults(options.faults)
    if options.uses:
        return _uses(options.seed, options.first, options.uses)
    return _campaign(options.seed, options.first, options.count, options.jobs)


def _replay(given: str) -> int:
    spec = json.loads(given) if given.lstrip().startswith("{") else draw(*map(int, given.split(":")))
    verdict = judge(spec)
    print(json.dumps(spec))
    print(f"{verdict.status or verdict.refusal}, judged: {verdict.judged}, {verdict.seconds:.2f} s")
    for kind, sentence, size in verdict.failures:
        print(f"{kind} ({size:.1e}): {sentence}")
    return 1 if verdict.failures else 0


def _faults(rounds: int) -> int:
    failed = 0
    for fault in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            wrong = fault(rounds, Path(folder))
        failed += bool(wrong)
        print(f"{fault.__name__}: {'; '.join(wrong) or 'passed'}", flush=True)
    return 1 if failed else 0


def _uses(seed: int, first: int, rounds: int) -> int:
    failed = 0
    for index in range(first, first + rounds):
        for sentence in check(seed, index):
            failed += 1
            print(sentence, flush=True)
    print(f"{rounds:,} rounds of {', '.join(kind.__name__ for kind in CHECKS)}: {failed or 'no'} failures")
    return 1 if failed else 0


def _campaign(seed: int, first: int, count: int, jobs: int) -> int:
    summary, began, told = Summary(seed), time.monotonic(), -math.inf
    try:
        for verdict in run(seed, first, count, jobs):
            summary.add(verdict)
            now = time.monotonic()
            if now - told > 10 or summary.problems == count:
                told = now
                summary.write()
                rate = summary.problems / (now - began)
                found = ", ".join(f"{kind} {number}" for kind, number in summary.failures.most_common()) or "no failure"
                print(f"{summary.problems:,} of {count:,}, {rate:.0f} a second: {found}", flush=True)
    except KeyboardInterrupt:
        print("Interrupted; what was judged so far counts.", file=sys.stderr)
    summary.write()
    print(table(summary.as_dict()))
    print(f"\nThe worst cases, each with a specification for --replay, are in {FOLDER / 'summary.json'}.")
    return 1 if summary.failures else 0


if __name__ == "__main__":
    sys.exit(main())
