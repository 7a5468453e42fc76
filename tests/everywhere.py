"""What depends on arithmetic, tested with every instruction set of the compiled core and with the BLAS kernels of several processors.

Each run has one instruction set (GAPLESS_ISA) and one processor's kernels (OPENBLAS_CORETYPE); each of either is in at least one run. What this
machine cannot run is left out with a sentence.

    python -m tests.everywhere [arguments of pytest]
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

from gapless import _native

_ROOT = Path(__file__).resolve().parents[1]

# Folders and files whose tests compute; input, files, pages and figures are tested once, by make test.
ARITHMETIC = (
    *(f"tests/{name}" for name in ("native", "kernels", "losses", "problems", "proof", "solvers", "textbook", "path")),
    *(f"tests/{name}" for name in ("estimators", "model_selection", "verify", "features", "workflows")),
    *(f"tests/test_{name}.py" for name in ("matrix", "solve", "steps", "result", "referee", "compare", "blas")),
)
# Hundreds of tests of scikit-learn, and of arrays of other libraries: minutes of checks of input.
_LEFT_OUT = ("tests/estimators/test_sklearn_suite.py", "tests/estimators/test_array_api.py")

LEVELS = ("v2", "v3", "v4")
# The processors whose BLAS kernels are asked for, with the level whose instructions these kernels need.
KERNELS = {"Zen": "v3", "Haswell": "v3", "SkylakeX": "v4"}


def runs(levels: list[str]) -> list[tuple[str, str | None]]:
    """(instruction set, BLAS kernels or None) of each run on a machine that has these levels.

    >>> runs(["v2", "v3", "v4"])
    [('v2', 'Zen'), ('v3', 'Haswell'), ('v4', 'SkylakeX')]
    >>> runs(["v2"]), runs(["baseline"])
    ([('v2', None)], [('baseline', None)])
    """
    kernels = [name for name, level in KERNELS.items() if level in levels]
    return [(level or levels[-1], name) for level, name in zip_longest(levels, kernels)]


def left_out(levels: list[str]) -> list[str]:
    """A sentence for each instruction set and each processor's kernels that a machine with these levels cannot run.

    >>> left_out(["v2", "v3", "v4"])
    []
    >>> left_out(["v2"])[-1]
    'OPENBLAS_CORETYPE=SkylakeX is left out: its kernels need the instructions of v4, which this machine lacks.'
    """
    said = [
        f"GAPLESS_ISA={level} is left out: this machine lacks its instructions."
        for level in LEVELS
        if level not in levels
    ]
    return said + [
        f"OPENBLAS_CORETYPE={name} is left out: its kernels need the instructions of {level}, which this machine lacks."
        for name, level in KERNELS.items()
        if level not in levels
    ]


def _taken(environment: dict[str, str]) -> str:
    """The kernels that the copies of OpenBLAS take in a process with this environment."""
    code = "import gapless, threadpoolctl as t; print(*sorted({str(i.get('architecture')) for i in t.threadpool_info() if i['user_api'] == 'blas'}))"
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout.strip()


def main(arguments: list[str]) -> int:
    """Do all runs, and return how many have failed."""
    levels = _native.isa_levels()
    for sentence in left_out(levels):
        print(sentence)
    failed = []
    for level, kernels in runs(levels):
        environment = {**os.environ, "GAPLESS_ISA": level}
        if kernels is not None:
            environment["OPENBLAS_CORETYPE"] = kernels
        name = f"GAPLESS_ISA={level}" + (f" OPENBLAS_CORETYPE={kernels}" if kernels else "")
        print(f"== {name}: BLAS takes the kernels of {_taken(environment) or 'a library of its own'}.", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-m", "not slow"]
        command += [*ARITHMETIC, *(f"--ignore={path}" for path in _LEFT_OUT), *arguments]
        if subprocess.run(command, cwd=_ROOT, env=environment).returncode:
            failed.append(name)
    print("All runs have passed." if not failed else f"Failed: {'; '.join(failed)}.")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
