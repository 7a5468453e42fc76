"""The machine's own limit: the time to touch every needed kernel entry once, measured beside the fits.

A certificate needs f on all n samples, hence n · nSV entries of the kernel: L = n · nSV · t(d). Here t(d) is the time of an entry, on all threads,
when nothing but entries is computed: in the sum of a Gaussian kernel over dense float32 rows that fit the caches (``benchmarks/tiles.py`` compares it
with a product by BLAS). For sparse rows a product over the stored entries alone may take less than t(d); L is that of dense rows.
"""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from gapless.kernels import RBF, Panels

ROWS = 4096  # rows of the sum: 16 million entries, some 10 ms


@cache
def seconds_an_entry(d: int) -> float:
    """t(d), the least of 5 runs."""
    X = np.random.default_rng(0).standard_normal((ROWS, d))
    panels, places, c, out = Panels(RBF(0.5 / d), X), np.arange(ROWS), np.ones(ROWS), np.zeros(ROWS)
    least = np.inf
    for _ in range(5):
        began = time.perf_counter()
        panels.expand(places, c, out, slice(None))
        least = min(least, time.perf_counter() - began)
    return least / ROWS**2


def limit(n: int, d: int, n_support: int) -> float:
    """L in seconds."""
    return n * n_support * seconds_an_entry(d)
