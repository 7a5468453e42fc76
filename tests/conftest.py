"""What all tests share: bounded threads, Hypothesis profiles, the order of parallel runs, and the data sets beside the checkout."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before NumPy is imported, since it reads these once: parallel workers share the cores. Set outright, because a worker
# inherits what the main process has set for itself.
_THREADS = max(1, (os.cpu_count() or 1) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = str(_THREADS)
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

from tests import slowest  # noqa: E402

# Run by tests/estimators/test_array_api.py, in a process where SciPy allows it; a search for doctests would import PyTorch for it.
collect_ignore = [] if os.environ.get("SCIPY_ARRAY_API") else ["estimators/array_api_checks.py"]

# No test depends on the speed of the machine: no deadline, no complaint about slow generation.
_ANY_SPEED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("ci", derandomize=True, **_ANY_SPEED)
settings.register_profile("explore", max_examples=1000, **_ANY_SPEED)  # pytest --hypothesis-profile=explore
settings.load_profile("ci")

_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def _read_part(stored: np.lib.npyio.NpzFile, suffix: str) -> tuple:
    if f"y{suffix}" not in stored:
        return None, None
    if f"indptr{suffix}" in stored:
        arrays = tuple(stored[f"{key}{suffix}"] for key in ("data", "indices", "indptr"))
        X = sp.csr_matrix(arrays, shape=tuple(stored[f"shape{suffix}"])).astype(np.float64)
    else:
        X = stored[f"X{suffix}"].astype(np.float64)
    return X, stored[f"y{suffix}"]


def load_shared(name: str) -> tuple:
    """(X, y, X_test, y_test) of a data set beside the checkout, the test part None where there is none; skips where the file is absent.

    X is an array or a CSR matrix of float64, y as stored.
    """
    path = _SHARED_DATA / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"needs the data set ../shared/data/{name}.npz, which is not there")
    with np.load(path, allow_pickle=False) as stored:
        return _read_part(stored, "") + _read_part(stored, "_test")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--record-slowest``, which ``make slowest`` passes."""
    parser.addoption("--record-slowest", action="store_true", help="write tests/slowest.txt anew from this run")


def pytest_configure(config: pytest.Config) -> None:
    """The main process sees the reports of all workers, so it is the one that records."""
    if config.getoption("--record-slowest", False) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(slowest.Recorder())


@pytest.hookimpl(trylast=True)  # after pytest has sorted tests by their fixtures
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a parallel run the slowest tests come first; one process alone runs them as they stand."""
    if hasattr(config, "workerinput"):
        order = slowest.ordered([item.nodeid for item in items], slowest.read(), config.workerinput["workercount"])
        items[:] = [items[place] for place in order]


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], tuple]:
    """The loader :func:`load_shared`."""
    return load_shared
