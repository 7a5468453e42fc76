"""The time of the first use: in an empty environment made from the wheel, without HOME, with read-only packages and without a compiler.

Run by ``make bench-cold``, which builds the wheel into dist/. Each figure is the median over fresh processes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from _harness import write_section

ESTIMATORS = [
    "SVC",
    "NuSVC",
    "LinearSVC",
    "SVR",
    "NuSVR",
    "LinearSVR",
    "OneClassSVM",
    "KernelPerceptron",
    "KernelLogisticRegression",
    "KernelFisherDiscriminant",
]
MOST_IMPORT, MOST_FIRST = 150.0, 50.0  # ms: the most that the import may take, and a first fit beyond the second

IMPORT = """
import json, time
import sklearn.svm
start = time.perf_counter()
import gapless
print(json.dumps(1000 * (time.perf_counter() - start)))
"""
FIT = """
import json, sys, time
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
import {package} as package
X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
times = []
for _ in range(2):
    model = package.{name}()
    start = time.perf_counter()
    model.fit(X, y)
    times.append(1000 * (time.perf_counter() - start))
print(json.dumps(times))
"""


def main() -> int:
    """Make the environment, measure in it, and write the section; returns 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="the wheel; the newest of dist/ where none is named")
    parser.add_argument("--repeats", type=int, default=9, help="fresh processes for each figure")
    arguments = parser.parse_args()
    wheel = arguments.wheel or newest_wheel()
    with tempfile.TemporaryDirectory(prefix="gapless-cold-") as folder:
        python, packages = environment(Path(folder), wheel)
        megabytes = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) / 1e6
        for path in [packages, *packages.rglob("*")]:
            path.chmod(path.stat().st_mode & ~0o222)
        try:
            importing = statistics.median(run(python, IMPORT) for _ in range(arguments.repeats))
            fits = first_fits(python, arguments.repeats)
        finally:
            for path in [packages, *packages.rglob("*")]:
                path.chmod(path.stat().st_mode | 0o200)
    write_section(
        "The first use", report(importing, fits, megabytes, arguments.repeats), ("gapless", "numpy", "scikit-learn")
    )
    worst = max(first - second for name, (first, second) in fits.items() if name.startswith("gapless"))
    return int(importing > MOST_IMPORT or worst > MOST_FIRST)


def newest_wheel() -> Path:
    """The newest wheel of dist/; ends the run with a sentence where there is none."""
    wheels = sorted(Path(__file__).parents[1].glob("dist/gapless-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit("There is no wheel in dist/: make wheel builds one.")
    return wheels[-1]


def environment(folder: Path, wheel: Path) -> tuple[Path, Path]:
    """(interpreter, site-packages) of a new environment with the wheel and its dependencies."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        wheel,
    ]
    # No compiler is on the PATH, so that a package without a wheel would fail.
    subprocess.run(install, check=True, env={**os.environ, "PATH": "/nonexistent"})
    asked = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    return python, Path(asked.stdout.strip())


def run(python: Path, code: str) -> float | list[float]:
    """The JSON that the code prints in a fresh process without HOME and without a compiler."""
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")}
    done = subprocess.run(
        [python, "-c", code], check=True, capture_output=True, text=True, cwd="/", env={**kept, "PATH": "/nonexistent"}
    )
    return json.loads(done.stdout)


def first_fits(python: Path, repeats: int) -> dict[str, tuple[float, float]]:
    """The medians of the first and of the second fit of each estimator, and of scikit-learn's SVC, taken in turns."""
    contenders = {
        "sklearn.svm.SVC": ("sklearn.svm", "SVC"),
        **{f"gapless.{name}": ("gapless", name) for name in ESTIMATORS},
    }
    times: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, (package, estimator) in contenders.items():
            times[name].append(run(python, FIT.format(package=package, name=estimator)))
    return {
        name: (statistics.median(t[0] for t in taken), statistics.median(t[1] for t in taken))
        for name, taken in times.items()
    }


def report(importing: float, fits: dict[str, tuple[float, float]], megabytes: float, repeats: int) -> str:
    """The section's text."""
    rows = [f"| {name} | {first:.1f} | {second:.1f} | {first - second:.1f} |" for name, (first, second) in fits.items()]
    return "\n".join(
        [
            "An empty environment made from the wheel, HOME unset, site-packages read-only, no compiler on the PATH. Breast cancer"
            f" (569 × 30, scaled), defaults; medians of {repeats} fresh processes, in ms.",
            "",
            f"`import gapless` after `import sklearn.svm`: **{importing:.0f} ms** (at most {MOST_IMPORT:.0f} is asked). The environment weighs"
            f" {megabytes:.0f} MB.",
            "",
            f"| estimator | first fit | second fit | difference (at most {MOST_FIRST:.0f} is asked) |",
            "|---|---|---|---|",
            *rows,
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
