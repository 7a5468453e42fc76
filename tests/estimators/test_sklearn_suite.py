"""scikit-learn's own SVM tests, run against our classes by the plugin ``gapless.testing``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

import gapless
from gapless.testing import read_differences

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = str(Path(gapless.__file__).parents[1])  # as it is tested: that of the tree, or an installed one
DIFFERENCES = ROOT / "tests" / "sklearn_suite" / "differences.toml"
MODULES = [f"sklearn.svm.tests.{name}" for name in ("test_svm", "test_sparse", "test_bounds")]
COUNT = re.compile(r"scikit-learn's svm tests: (\d+) passed, (\d+) differ by design, of (\d+)")


def run(tmp_path, *options):
    """Run the suite in a process of its own, without any project's configuration."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        os.devnull,
        "-p",
        "no:cacheprovider",
        "-p",
        "gapless.testing",
        "-q",
        "--tb=short",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGE, os.environ.get("PYTHONPATH", "")])}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(
        [*command, *options, "--pyargs", *MODULES],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.timeout(600)
@pytest.mark.skipif(
    not sklearn.__version__.startswith("1.9."), reason="the differences are those of scikit-learn 1.9's tests"
)
def test_the_suite_passes_but_for_what_is_listed(tmp_path):
    outcome = run(tmp_path, "--gapless-differences", str(DIFFERENCES))
    assert outcome.returncode == 0, outcome.stdout[-10_000:]
    assert "Listed as different but not collected" not in outcome.stdout
    passed, differ, total = map(int, COUNT.search(outcome.stdout).groups())
    assert passed + differ == total >= 300
    assert differ <= 0.03 * total
    assert f"{passed} of {total}" in " ".join(_readme().split())


def test_a_listed_test_that_passes_fails_the_run(tmp_path):
    listed = tmp_path / "differences.toml"
    listed.write_text(
        '[differences]\n"test_svm.py::test_gamma_scale" = "It does not differ."\n"test_svm.py::test_gone" = "Not there."\n'
    )
    outcome = run(
        tmp_path, "--gapless-differences", str(listed), "-k", "test_gamma_scale or test_lsvc_intercept_scaling_zero"
    )
    assert outcome.returncode == 1
    assert "[XPASS(strict)] It does not differ." in outcome.stdout
    assert "Listed as different but not collected: test_svm.py::test_gone" in outcome.stdout
    assert "scikit-learn's svm tests: 1 passed, 0 differ by design, of 2" in outcome.stdout


def test_every_difference_has_a_reason(tmp_path):
    assert all(len(reason) > 20 for reason in read_differences(DIFFERENCES).values())
    listed = tmp_path / "differences.toml"
    listed.write_text('[differences]\n"test_svm.py::test_gamma_scale" = " "\n')
    with pytest.raises(pytest.UsageError, match="test_gamma_scale needs a reason"):
        read_differences(listed)
    listed.write_text('[others]\n"test_svm.py::test_gamma_scale" = "Of no kind that there is."\n')
    with pytest.raises(pytest.UsageError, match="the one table must be differences; got others"):
        read_differences(listed)


def _readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")
