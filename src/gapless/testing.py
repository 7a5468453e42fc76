"""A pytest plugin that runs scikit-learn's own SVM tests against Gapless::

    pytest -p gapless.testing --gapless-differences differences.toml \
        --pyargs sklearn.svm.tests.test_svm sklearn.svm.tests.test_sparse sklearn.svm.tests.test_bounds

Before the tests are collected, scikit-learn's seven classes are replaced by ours. The file names each test that differs by design, and why::

    [differences]
    "test_svm.py::test_probability" = "predict_proba is not offered."

An entry covers all parameters of a test, or one of them where it ends in ``[...]``. It is strict: a listed test that passes fails the run.

The tests of scikit-learn before 1.11 pass ``probability=True``, deprecated there, also where probabilities are beside the point. Gapless refuses it;
the plugin drops it from the calls, as scikit-learn 1.11 will, so that such a test says what it says of everything else.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sklearn.svm

from gapless import estimators

NAMES = ("SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "OneClassSVM")
_REPLACED: dict[type, type] = {}


class _DropProbability(type):
    def __call__(cls, *args: Any, **parameters: Any) -> Any:
        if parameters.get("probability") is True:
            del parameters["probability"]
        return super().__call__(*args, **parameters)


def replacement(name: str) -> type:
    """Our estimator of a name, as scikit-learn's tests are to see it."""
    ours = getattr(estimators, name)
    return _DropProbability(name, (ours,), {"__module__": __name__}) if name in ("SVC", "NuSVC") else ours


def replace_estimators() -> None:
    """Put ours wherever a loaded module of ``sklearn.svm`` names one of scikit-learn's classes; those loaded later import ours by themselves."""
    for name in NAMES:
        theirs = getattr(sklearn.svm, name)
        _REPLACED.setdefault(theirs, replacement(name))
    for module in [m for key, m in list(sys.modules.items()) if key.split(".")[:2] == ["sklearn", "svm"]]:
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and value in _REPLACED:
                setattr(module, name, _REPLACED[value])


def read_differences(path: Path) -> dict[str, str]:
    """The tests that differ by design, each with its reason."""
    with path.open("rb") as file:
        differences = tomllib.load(file)["differences"]
    for test, reason in differences.items():
        if not (isinstance(reason, str) and reason.strip()):
            raise pytest.UsageError(f"{path}: {test} needs a reason.")
    return dict(differences)


def short_name(item: pytest.Item) -> str:
    """``test_svm.py::test_name[parameters]``, wherever scikit-learn is installed."""
    return f"{item.path.name}::{item.nodeid.partition('::')[2]}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register our one option."""
    parser.addoption(
        "--gapless-differences", metavar="FILE", help="TOML file of the tests that differ by design, with reasons"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Replace the classes; judge warnings by the tests' own marks, whatever project they are run from."""
    config.addinivalue_line("filterwarnings", "default")
    replace_estimators()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each listed test as one that has to fail."""
    file = config.getoption("--gapless-differences")
    differences = {} if file is None else read_differences(Path(file))
    unused = set(differences)
    for item in items:
        name = short_name(item)
        for entry in _entries(name, differences):
            unused.discard(entry)
            item.add_marker(pytest.mark.xfail(reason=differences[entry], strict=True))
    config.stash[_UNUSED] = sorted(unused)


def _entries(name: str, differences: dict[str, str]) -> Iterator[str]:
    for entry in (name, name.partition("[")[0]):
        if entry in differences:
            yield entry
            return


_UNUSED = pytest.StashKey[list[str]]()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The count that the README quotes."""
    counts = {
        key: len(terminalreporter.stats.get(key, [])) for key in ("passed", "xfailed", "failed", "error", "skipped")
    }
    unused = config.stash.get(_UNUSED, [])
    if unused:
        terminalreporter.write_line(f"Listed as different but not collected: {', '.join(unused)}")
    terminalreporter.write_line(
        f"scikit-learn's svm tests: {counts['passed']} passed, {counts['xfailed']} differ by design, of {sum(counts.values())}"
    )
