"""A pytest plugin that runs scikit-learn's own SVM tests against Gapless::

    pytest -p gapless.testing --gapless-differences differences.toml \
        --pyargs sklearn.svm.tests.test_svm sklearn.svm.tests.test_sparse sklearn.svm.tests.test_bounds

Before the tests are collected, scikit-learn's seven estimators are replaced by those of Gapless. The TOML file names each test that fails by design,
with the reason::

    [differences]
    "test_svm.py::test_bad_input" = "It asks for an error where ours gives the answer."

An entry covers all parameter sets of a test, or a single one where the entry ends in ``[...]``. The list is strict: a listed test that passes fails
the run.

With ``--gapless-searches ours`` ``GridSearchCV`` and ``RandomizedSearchCV`` are replaced, too, for the tests of scikit-learn's searches::

    pytest -p gapless.testing --gapless-searches ours --pyargs sklearn.model_selection.tests.test_search

Most of those tests search over estimators of scikit-learn, which our searches leave to scikit-learn's; with ``--gapless-searches every`` our engine
fits those, too.

``python -m gapless.testing SCRIPT`` runs a script unchanged, with an estimator of Gapless wherever the script imports one of scikit-learn's seven.
"""

from __future__ import annotations

import runpy
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import sklearn.model_selection
import sklearn.svm

from gapless import estimators, model_selection
from gapless.model_selection import engine

NAMES = ("SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "OneClassSVM")
_REPLACED: dict[type, type] = {}


def replace_estimators() -> None:
    """Replace scikit-learn's estimators in every loaded module of ``sklearn.svm``; modules that are loaded later import the replacements."""
    for name in NAMES:
        theirs = getattr(sklearn.svm, name)
        _REPLACED.setdefault(theirs, getattr(estimators, name))
    _replace_in("svm")


def replace_searches(every_estimator: bool = False) -> None:
    """Replace scikit-learn's searches in every loaded module of ``sklearn.model_selection``; with ``every_estimator`` ours take any estimator."""
    for name in ("GridSearchCV", "RandomizedSearchCV"):
        _REPLACED.setdefault(getattr(sklearn.model_selection, name), getattr(model_selection, name))
    _replace_in("model_selection")
    if every_estimator:
        engine.is_ours = lambda estimator: True


def _replace_in(package: str) -> None:
    for module in [m for key, m in list(sys.modules.items()) if key.split(".")[:2] == ["sklearn", package]]:
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and value in _REPLACED:
                setattr(module, name, _REPLACED[value])


def read_differences(path: Path) -> dict[str, str]:
    """The tests that fail by design, each with its reason."""
    with path.open("rb") as file:
        tables = tomllib.load(file)
    if list(tables) != ["differences"]:
        raise pytest.UsageError(f"{path}: the one table must be differences; got {', '.join(tables) or 'none'}.")
    for test, reason in tables["differences"].items():
        if not (isinstance(reason, str) and reason.strip()):
            raise pytest.UsageError(f"{path}: {test} needs a reason.")
    return dict(tables["differences"])


def short_name(item: pytest.Item) -> str:
    """``test_svm.py::test_name[parameters]``: the name of a test without the folder that scikit-learn is installed in."""
    return f"{item.path.name}::{item.nodeid.partition('::')[2]}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options ``--gapless-…``."""
    parser.addoption(
        "--gapless-differences", metavar="FILE", help="TOML file of the tests that differ by design, with reasons"
    )
    parser.addoption(
        "--gapless-searches",
        choices=["ours", "every"],
        help="replace GridSearchCV and RandomizedSearchCV, for our estimators or for every estimator",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Replace the estimators; let the tests' own marks judge warnings, whatever the project says that the tests are run from."""
    config.addinivalue_line("filterwarnings", "default")
    replace_estimators()
    searches = config.getoption("--gapless-searches")
    if searches is not None:
        replace_searches(every_estimator=searches == "every")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each listed test as one that has to fail."""
    file = config.getoption("--gapless-differences")
    differences = {} if file is None else read_differences(Path(file))
    unused = set(differences)
    for item in items:
        name = short_name(item)
        for entry in (name, name.partition("[")[0]):
            if entry in differences:
                unused.discard(entry)
                item.add_marker(pytest.mark.xfail(reason=differences[entry], strict=True))
                break
    config.stash[_UNUSED] = sorted(unused)


_UNUSED = pytest.StashKey[list[str]]()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report how many tests passed and how many differ by design."""
    counts = {
        key: len(terminalreporter.stats.get(key, [])) for key in ("passed", "xfailed", "failed", "error", "skipped")
    }
    unused = config.stash.get(_UNUSED, [])
    if unused:
        terminalreporter.write_line(f"Listed as different but not collected: {', '.join(unused)}")
    kind = "svm" if config.getoption("--gapless-searches") is None else "search"
    terminalreporter.write_line(
        f"scikit-learn's {kind} tests: {counts['passed']} passed, {counts['xfailed']} differ by design, of {sum(counts.values())}"
    )


def main(arguments: list[str]) -> None:
    """Run a script, with the arguments that follow its name, against the estimators of Gapless."""
    script, *_ = arguments
    replace_estimators()
    sys.argv = arguments
    sys.path.insert(0, str(Path(script).resolve().parent))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
