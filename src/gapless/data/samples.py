"""What a file of samples holds, and the numbers in its text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Samples:
    """What a file holds: X (CSR from LIBSVM format, else an array), y (empty where it has no labels), and the columns' names where it has them.

    ``label_name`` is the name of the label's column.
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
