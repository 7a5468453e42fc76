"""Every certificate of the kernel and linear tables against the independent evaluation in plain NumPy, at full size.

    python benchmarks/proofs.py
    python benchmarks/proofs.py --rows a9a,letter --data covtype      # some of them

The differences are relative to P; the run fails where one is above 1e-9.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from _harness import write_section
from _kernel_data import ROWS, TABLE
from _kernel_data import samples as kernel_samples
from _linear_data import CASES
from linear import problem_of

import gapless as gl

GAP = 1e-3
MOST = 1e-9


def main() -> None:
    """Solve each problem to 1e-3 and compare its two certificates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(TABLE), help="data sets of the kernel table, by comma")
    parser.add_argument(
        "--data", default=",".join(dict.fromkeys(case.data for case in CASES)), help="of the linear table"
    )
    options = parser.parse_args()
    lines, worst = ["| problem | primal | dual |", "|---|---|---|"], 0.0
    for name, problem in problems(options.rows.split(","), options.data.split(",")):
        result = gl.solve(problem, tol=GAP)
        own, other = result.certificate, gl.certify(problem, result, independent=True)
        apart = [abs(a - b) / abs(own.primal) for a, b in ((own.primal, other.primal), (own.dual, other.dual))]
        worst = max(worst, *apart)
        lines.append(f"| {name} | {apart[0]:.1e} | {apart[1]:.1e} |")
        print(lines[-1], flush=True)
    head = f"Solved to {GAP:g}; |difference| / P of the two evaluations. The largest of {len(lines) - 2} problems is {worst:.1e}."
    write_section("Certificates against plain NumPy", "\n".join([head, "", *lines]), ("gapless", "numpy"))
    if worst > MOST:
        sys.exit(
            f"A certificate and its independent evaluation differ by {worst:.1e} of P; at most {MOST:g} is expected."
        )


def problems(rows: list[str], data: list[str]) -> Iterator[tuple[str, gl.Problem]]:
    """(name, problem) of the asked rows of both tables."""
    for row in filter(None, rows):
        X, y = kernel_samples(ROWS[row], "dense")
        for C in ROWS[row].C:
            yield f"kernel {row} C={C:g}", gl.Problem(X, y, kernel=gl.kernels.RBF(ROWS[row].gamma), C=float(C))
    for case in CASES:
        if case.data in data:
            yield f"linear {case}", problem_of(case)


if __name__ == "__main__":
    main()
