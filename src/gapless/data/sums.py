"""A sum of floats that keeps what rounding loses, for compiled loops: over few numbers one by one, over many by blocks."""

from __future__ import annotations

from numba import njit

BLOCK = 128  # numbers that are added up in any order, which is quick, before their sum is added with care


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def add(total, lost, value):
    """Neumaier's sum: the new (total, lost), whose sum is the result in the end."""
    new = total + value
    if abs(total) >= abs(value):
        return new, lost + ((total - new) + value)
    return new, lost + ((value - new) + total)
