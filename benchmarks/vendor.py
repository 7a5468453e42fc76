"""Intel's own table of support vector machines (configs/regular/svm.json of scikit-learn_bench), every system at its default tol.

    python benchmarks/vendor.py
    python benchmarks/vendor.py --estimator NuSVR --data fried,year

Seconds of ``fit`` on dense float64 data, medians of fits in turns, each system in a process of its own. Every model is judged afterwards by
``gapless.certify``, which nobody's seconds contain: a default tol is not the same thing in each system, and a fast answer may be far from the
optimum. The bound of 10,000 iterations in Intel's configuration is left out, since with it scikit-learn's and sklearnex's models are not solved.

A rival's fit of more than 2 s is made once and kept in ``benchmarks/.vendor.json`` with its date. A run with options prints its table, and leaves
RESULTS.md as it is. The exit code is 1 where a model of ours is not within its tol.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from _harness import Measurements, write_section
from _racing import AHEAD, LEAST, LIMIT, OURS, PACKAGES, SKLEARN, SKLEARNEX, Contest, Found, Race
from _vendor_rows import CACHE_MB, ROWS, STANDINS, Row, make, samples
from scipy.stats import gmean

MEASURED = Measurements(Path(__file__).parent / ".vendor.json")
TOL = 1e-3
"""The default tol of all contenders; ours bounds the relative gap by it."""
Outcomes = dict[Row, dict[str, Found]]


def main() -> None:
    """Measure the rows that the options name, and write the section."""
    options = _options()
    race = Race(Contest(samples, make), MEASURED, options.only, options.limit, judge=True)
    outcomes: Outcomes = {}
    for row in ROWS:
        if (not options.estimator or row.estimator in options.estimator) and (
            not options.data or row.data in options.data
        ):
            outcomes[row] = race.run(row)
            print(_line(row, outcomes[row]), flush=True)
    race.close()
    text = report(outcomes, options.limit)
    if options.everything:
        write_section("Intel's own table", text, tuple(PACKAGES.values()))
    else:
        print(text)
    wrong = [str(row) for row, found in outcomes.items() if OURS in found and not within(found[OURS])]
    if wrong:
        sys.exit(f"Not within tol={TOL:g}: {'; '.join(wrong)}.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PACKAGES), help=f"contenders, by comma: {', '.join(PACKAGES)}")
    parser.add_argument("--estimator", default="", help="estimators, by comma")
    parser.add_argument("--data", default="", help="data sets, by comma")
    parser.add_argument("--limit", type=float, default=2 * LIMIT, help="seconds after which a fit is ended")
    given = parser.parse_args()
    given.everything = len(sys.argv) == 1
    known = {"only": set(PACKAGES), "estimator": {r.estimator for r in ROWS}, "data": {r.data for r in ROWS}}
    for name, values in known.items():
        wanted = tuple(value for value in getattr(given, name).split(",") if value)
        for value in wanted:
            if value not in values:
                parser.error(f"--{name} got {value!r}; it takes {', '.join(sorted(values))}.")
        setattr(given, name, wanted)
    return given


def ratio(found: dict[str, Found]) -> float | None:
    """The seconds of the better rival over ours; where both rivals were ended, the limit over ours, which is a lower bound."""
    rivals = [found[name] for name in (SKLEARN, SKLEARNEX) if name in found]
    ended = [f.seconds for f in rivals if f.seconds is not None]
    least = ended or [float(f.why[1:]) for f in rivals if f.why.startswith(">")]
    ours = found[OURS].seconds if OURS in found else None
    return min(least) / ours if ours is not None and least else None


def within(found: Found) -> bool:
    """Whether the model is proven to be within tol: by its own certificate if it has one, and by the judgement."""
    own = found.model is not None and found.model.within is not False
    return own and found.judged is not None and found.judged <= TOL


def report(outcomes: Outcomes, limit: float) -> str:
    """The text of the section."""
    ratios = {row: r for row, found in outcomes.items() if (r := ratio(found)) is not None}
    told = [f"{sum(within(found[OURS]) for found in outcomes.values() if OURS in found)} of our {len(outcomes)} models"]
    for name in (SKLEARN, SKLEARNEX):
        models = [found[name] for found in outcomes.values() if name in found and found[name].judged is not None]
        told.append(f"{sum(within(each) for each in models)} of the {len(models)} of {name} that were judged")
    summary = "Too few contenders for ratios."
    if ratios:
        below = [f"{row} {r:.2f}" for row, r in ratios.items() if r < 1.0]
        summary = (
            f"Better rival / ours in the geometric mean of {len(ratios)} rows: **{gmean(list(ratios.values())):.2f}**; below 1.0: "
            f"{len(below)}{': ' * bool(below)}{'; '.join(below)}. Certified within {TOL:g}: {', '.join(told)}."
        )
    head = [
        "estimator",
        "data",
        "n × d",
        "options",
        "ours, s",
        "scikit-learn, s",
        "sklearnex, s",
        "better rival / ours",
    ]
    head += ["our gap", "scikit-learn's gap", "sklearnex's gap"]
    lines = [
        f"| {' | '.join(head)} |",
        "|---" * 11 + "|",
        *(f"| {' | '.join(_cells(row, found))} |" for row, found in outcomes.items()),
    ]
    standins = "\n".join(f"- {name}: {text}" for name, text in STANDINS.items())
    method = f"""\
The rows of `configs/regular/svm.json` of Intel's scikit-learn_bench, without its bound on iterations. Seconds of `fit`, medians of fits in turns
(5 below 0.3 s, 3 below 1.5 s, else one; below 50 ms each is the median of five), each system in a process of its own, at its own default tol,
with a cache of {CACHE_MB:,} MB, on dense float64 data. A fit is ended after {limit:g} s, a rival's after {AHEAD:g} times our seconds
({LEAST:g} s at least): "> 10" counts as 10 in the mean. †: a rival's fit that was kept from an earlier run. Gaps are those that
`gapless.certify` proves of each model, outside of its seconds. Data that are not there are replaced:"""
    return "\n\n".join((method, standins, summary, "\n".join(lines)))


def _cells(row: Row, found: dict[str, Found]) -> list[str]:
    of = [found.get(name, Found()) for name in (OURS, SKLEARN, SKLEARNEX)]
    shape = " × ".join(f"{length:,}" for length in samples(row).X.shape)
    times = [each.why[:30] if each.seconds is None else f"{each.seconds:.4g}{' †' * bool(each.date)}" for each in of]
    gaps = ["" if each.judged is None else f"{each.judged:.1e}" for each in of]
    times[0] += "" if within(of[0]) else " (not within tol)"
    faster = ratio(found)
    return [row.estimator, row.data, shape, row.words, *times, "" if faster is None else f"{faster:.2f}", *gaps]


def _line(row: Row, found: dict[str, Found]) -> str:
    cells = _cells(row, found)
    titles = ("", "", "", "", "ours", SKLEARN, SKLEARNEX, "ratio", "gap", SKLEARN, SKLEARNEX)
    return f"{row}, {cells[2]}: " + ", ".join(f"{t} {c}" for t, c in zip(titles, cells, strict=True) if t and c)


if __name__ == "__main__":
    main()
