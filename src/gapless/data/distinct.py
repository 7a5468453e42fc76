"""Which samples are equal: in their rows, their targets and their groups."""

from __future__ import annotations

import numpy as np

from gapless import _native
from gapless.data.rows import Rows


def distinct_samples(rows: Rows, y: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first, which): the first sample of each kind of equal ones, in order, and for each sample the place of its kind in ``first``.

    >>> import numpy as np
    >>> from gapless.data.rows import as_rows
    >>> first, which = distinct_samples(as_rows(np.array([[1.0], [2.0], [1.0]])), np.ones(3), np.zeros(3, dtype=np.int64))
    >>> first.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    which = np.empty(len(y), dtype=np.int64)
    first = _native.distinct_samples(rows, y, groups, which)
    return first, which
