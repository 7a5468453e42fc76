"""Rows that compiled loops can walk, the one place where input is checked, and what the machine's memory allows."""

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
    "require_memory",
]
