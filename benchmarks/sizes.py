"""Every estimator with its main options on eight kinds of data and more, from 500 to 30,000 samples, beside scikit-learn and sklearnex.

    python benchmarks/sizes.py
    python benchmarks/sizes.py --estimator SVC,NuSVC --sizes 6000,12000
    python benchmarks/sizes.py --only gapless --dry

Each fit of ours has to keep four promises: the proven gap is within tol, there is no warning, no support vector is of rounding size, and the score on
1,000 further samples is not worse than scikit-learn's. Seconds are those of ``fit``, each system at its own default tol with the same C, kernel and
gamma. ``_size_rows.py`` says how the rows are chosen. A fit ends after ``--limit`` seconds. Rivals' fits of more than 2 s are made once and
kept in ``benchmarks/.sizes.json`` with their date; the first run therefore takes hours, every further one less than an hour on two cores.

A run with options prints its table, and leaves RESULTS.md as it is. The exit code is 1 where a row breaks a promise or is slower than scikit-learn.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import _size_report as report
from _harness import Measurements, write_section
from _racing import LIMIT, PACKAGES, Contest, Race
from _size_data import STORED
from _size_rivals import make, samples
from _size_rows import OPTIONS, SIZES, Row, rows

MEASURED = Measurements(Path(__file__).parent / ".sizes.json")


def main() -> None:
    """Measure the rows that the options name, and write the section."""
    options = _options()
    race = Race(Contest(samples, make), MEASURED, options.only, options.limit)
    outcomes = []
    for row in chosen(options):
        outcome = report.Outcome(row, race.run(row))
        outcomes.append(outcome)
        print(f"{outcome.line} (load {os.getloadavg()[0]:.1f})", flush=True)
    race.close()
    text = report.text(outcomes, options.limit)
    if options.everything:
        write_section("Every estimator at every size", text, tuple(PACKAGES.values()))
    else:
        print(text)
    wrong = [str(outcome.row) for outcome in outcomes if outcome.failures]
    if wrong:
        sys.exit(f"{len(wrong)} of {len(outcomes)} rows fail: {'; '.join(wrong)}.")


def chosen(options: argparse.Namespace) -> list[Row]:
    """The rows of the options."""
    wanted = (options.estimator, options.kind, options.sizes)
    return [
        row
        for row in rows(STORED)
        if all(not part or value in part for part, value in zip(wanted, (row.estimator, row.kind, row.n), strict=True))
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PACKAGES), help=f"contenders, by comma: {', '.join(PACKAGES)}")
    parser.add_argument("--estimator", default="", help=f"estimators, by comma: {', '.join(OPTIONS)}")
    parser.add_argument("--kind", default="", help="kinds of data, by comma")
    parser.add_argument("--sizes", default="", help=f"numbers of samples, by comma: {', '.join(map(str, SIZES))}")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which a fit is ended")
    parser.add_argument("--dry", action="store_true", help="print the section and leave RESULTS.md as it is")
    given = parser.parse_args()
    given.everything = len(sys.argv) == 1
    for name, known in (("only", PACKAGES), ("estimator", OPTIONS), ("kind", {row.kind for row in rows(STORED)})):
        values = tuple(value for value in getattr(given, name).split(",") if value)
        for value in values:
            if value not in known:
                parser.error(f"--{name} got {value!r}; it takes {', '.join(known)}.")
        setattr(given, name, values)
    given.sizes = tuple(int(n) for n in given.sizes.split(",") if n)
    return given


if __name__ == "__main__":
    main()
