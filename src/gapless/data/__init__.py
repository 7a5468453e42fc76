"""Rows that compiled loops can walk, the one place where input is checked, and what the machine's memory allows."""

from typing import Any

from gapless.data.memory import available_bytes, require_memory
from gapless.data.rows import CsrRows, DenseRows, Rows
from gapless.data.validate import check_beta, check_labels, check_matrix, check_targets, check_weights

__all__ = [
    "CsrRows",
    "DenseRows",
    "Rows",
    "available_bytes",
    "check_beta",
    "check_labels",
    "check_matrix",
    "check_targets",
    "check_weights",
    "convert",
    "open_store",
    "require_memory",
]


def __getattr__(name: str) -> Any:
    # The store is imported when it is asked for: it takes packages for files (scikit-learn's datasets among them) that solving does not need.
    if name in ("convert", "open_store"):
        from gapless.data import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
