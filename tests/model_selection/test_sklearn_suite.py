"""scikit-learn's own tests of its searches, run with ours in their place by the plugin ``gapless.testing``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

import gapless

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = str(Path(gapless.__file__).parents[1])  # as it is tested: that of the tree, or an installed one
DIFFERENCES = ROOT / "tests" / "sklearn_suite" / "search_differences.toml"
COUNT = re.compile(r"scikit-learn's search tests: (\d+) passed, (\d+) differ by design, of (\d+)")
PYTEST = [sys.executable, "-m", "pytest", "-c", os.devnull, "-q", "--tb=short", "-p", "no:cacheprovider"]


def run(tmp_path, *options):
    """Run the suite in a process of its own, without any project's configuration."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGE, os.environ.get("PYTHONPATH", "")])}
    for name in ("PYTEST_ADDOPTS", "SCIPY_ARRAY_API"):
        environment.pop(name, None)
    plugin = ["-p", "gapless.testing", "--gapless-differences", str(DIFFERENCES)]
    return subprocess.run(
        [*PYTEST, *plugin, *options, "--pyargs", "sklearn.model_selection.tests.test_search"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.timeout(600)
@pytest.mark.skipif(
    not sklearn.__version__.startswith("1.9."), reason="the counts are those of scikit-learn 1.9's tests"
)
@pytest.mark.parametrize("searches", ["every", pytest.param("ours", marks=pytest.mark.slow)])
def test_the_suite_passes_but_for_what_is_listed(tmp_path, searches):
    outcome = run(tmp_path, "--gapless-searches", searches)
    assert outcome.returncode == 0, outcome.stdout[-10_000:]
    assert "Listed as different but not collected" not in outcome.stdout
    passed, differ, total = map(int, COUNT.search(outcome.stdout).groups())
    assert differ == 4
    # The others are skipped: they are for array libraries and devices.
    assert f"{passed} of {total} pass" in " ".join(
        (ROOT / "docs" / "model_selection.md").read_text(encoding="utf-8").split()
    )


def test_a_search_that_is_not_ours_would_be_noticed(tmp_path):
    probe = tmp_path / "test_probe.py"
    probe.write_text(
        "import sklearn.model_selection\n"
        "from sklearn.model_selection import GridSearchCV, RandomizedSearchCV\n"
        "from sklearn.svm import SVC\n"
        "def test_ours():\n"
        "    assert all(c.__module__.startswith('gapless.') for c in (GridSearchCV, RandomizedSearchCV, SVC))\n"
    )
    done = subprocess.run(
        [*PYTEST, "-p", "gapless.testing", "--gapless-searches", "ours", str(probe)],
        env={**os.environ, "PYTHONPATH": PACKAGE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
