"""Scripts that import scikit-learn's SVMs, run as they are with ours in their place: ``python -m gapless.testing SCRIPT``.

scikit-learn's own examples are not in its wheels. Where their folder is given, the list of those that use an SVM is compared with it here, and
``make bench-gallery EXAMPLES=…`` runs them all.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("examples.txt")
EXAMPLES = os.environ.get("GAPLESS_SKLEARN_EXAMPLES")
_USES = re.compile(r"sklearn\.svm|from sklearn import .*svm|\bsvm\.")
_DOWNLOADS = re.compile(r"fetch_|urlopen")

SCRIPT = """
import sys

from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.svm import SVC, LinearSVC

import helper

X, y = load_iris(return_X_y=True)
for model in (SVC(), LinearSVC(), svm.NuSVC(), helper.make()):
    model.fit(X, y)
    print(type(model).__name__, type(model).__module__.split(".")[0], round(model.score(X, y), 1))
print(__name__, sys.argv[1:])
"""
HELPER = """
from sklearn import svm


def make():
    return svm.SVC(kernel="linear")
"""


def test_a_script_runs_as_it_is_with_our_estimators(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text(HELPER)
    done = subprocess.run(
        [sys.executable, "-m", "gapless.testing", "script.py", "--option"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        *(f"{name} gapless 1.0" for name in ("SVC", "LinearSVC", "NuSVC", "SVC")),
        "__main__ ['--option']",
    ]


def test_the_list_is_sorted_and_names_each_example_once():
    names = LIST.read_text(encoding="utf-8").split()
    assert names == sorted(set(names)) and len(names) >= 40


@pytest.mark.skipif(
    EXAMPLES is None, reason="GAPLESS_SKLEARN_EXAMPLES does not name the folder examples/ of scikit-learn's sources"
)
def test_the_list_has_every_example_that_uses_an_svm_and_downloads_nothing():
    folder = Path(EXAMPLES)
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if _USES.search(text) and not _DOWNLOADS.search(text):
            found.append(path.relative_to(folder).as_posix())
    assert LIST.read_text(encoding="utf-8").split() == sorted(found)
