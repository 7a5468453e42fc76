"""Samples as a file holds them, and how texts in such a file are read as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Samples:
    """The content of a file: X (CSR from LIBSVM format, else an array), y (empty where the file has no labels), and the names of the columns.

    ``feature_names`` and ``label_name`` are None where the file has no names.
    """

    X: np.ndarray | sp.csr_array
    y: np.ndarray
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None

    @property
    def labelled(self) -> bool:
        """Whether the file has labels."""
        return len(self.y) > 0


def is_number_text(text: str) -> bool:
    """Whether a text is a number, NaN and infinity included."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_finite_text(text: str) -> bool:
    """Whether a text is a finite number."""
    return is_number_text(text) and bool(np.isfinite(float(text)))


def as_integers(y: np.ndarray) -> np.ndarray:
    """Whole-numbered labels as integers, so that a class reads 1 and not 1.0."""
    return y.astype(np.int64) if (y == np.round(y)).all() and np.abs(y).max(initial=0.0) < 2**53 else y
