"""The machine's own limit: the time to touch every needed kernel entry once, measured beside the fits.

A certificate needs f on all n samples, hence n · nSV entries of the kernel, each a row of a float32 matrix product and one exponential:
L = n · nSV · (t_gemm(d) + t_exp) / threads. For sparse rows a product over the entries alone may undercut t_gemm(d); L is taken for dense ones.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

PANEL = 512


@cache
def seconds_an_entry(d: int) -> float:
    """t_gemm(d) + t_exp of one thread, each the least of 5 runs of about 20 ms."""
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((PANEL, d)).astype(np.float32) for _ in range(2))
    out = np.empty((PANEL, PANEL), dtype=np.float32)
    exponents = -rng.random(PANEL * PANEL).astype(np.float32)
    with threadpool_limits(1, "blas"):
        product = _least(lambda: np.dot(A, B.T, out=out))
    return (product + _least(lambda: _exp(exponents, out.ravel()))) / PANEL**2


def limit(n: int, d: int, n_support: int) -> float:
    """L in seconds."""
    return n * n_support * seconds_an_entry(d) / (os.cpu_count() or 1)


def _least(run: Callable[[], object]) -> float:
    run()
    began = time.perf_counter()
    run()
    times = max(1, round(0.02 / (time.perf_counter() - began)))
    least = np.inf
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(times):
            run()
        least = min(least, (time.perf_counter() - began) / times)
    return least


@njit(fastmath={"reassoc", "contract", "nsz", "arcp", "afn"}, error_model="numpy", cache=True)
def _exp(x, out):
    """exp of float32 numbers in [-87, 0]: 2^k times a polynomial of degree 5 in the remainder, which vectorises."""
    for i in range(x.size):
        v = x[i]
        k = np.floor(v * np.float32(1.44269504) + np.float32(0.5))
        r = v - k * np.float32(0.693359375) + k * np.float32(2.12194440e-4)
        p = np.float32(8.3333338e-3)
        p = p * r + np.float32(4.1666668e-2)
        p = p * r + np.float32(1.6666667e-1)
        p = p * r + np.float32(0.5)
        p = p * r + np.float32(1.0)
        p = p * r + np.float32(1.0)
        out[i] = p * np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)
