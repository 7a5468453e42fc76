"""Compiled work on a tile of kernel entries while it is in cache: exponentials, sparse products, sums of absolute differences."""

from __future__ import annotations

import numpy as np
from numba import njit

_f4 = np.float32


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _exp32(x):
    """eˣ to 1.2e-7 relative: Cody–Waite reduction by ln 2, a polynomial, and the exponent's bits set by hand."""
    x = _f4(-87.0) if x < _f4(-87.0) else x
    x = _f4(88.0) if x > _f4(88.0) else x
    z = x * _f4(1.44269504088896341) + _f4(12582912.0)  # adding 1.5·2²³ rounds to an integer in the low bits
    k = z - _f4(12582912.0)
    r = x - k * _f4(0.693359375)
    r = r + k * _f4(2.12194440e-4)
    p = _f4(1.9875691500e-4)
    p = p * r + _f4(1.3981999507e-3)
    p = p * r + _f4(8.3334519073e-3)
    p = p * r + _f4(4.1665795894e-2)
    p = p * r + _f4(1.6666665459e-1)
    p = p * r + _f4(5.0000001201e-1)
    p = p * (r * r) + (r + _f4(1.0))
    return p * np.int32((_f4(z).view(np.int32) << np.int32(23)) + np.int32(0x3F800000)).view(np.float32)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _exp64(x):
    """The same in float64, to 3e-16 relative."""
    x = -708.0 if x < -708.0 else x
    x = 709.0 if x > 709.0 else x
    z = x * 1.4426950408889634 + 6755399441055744.0
    k = z - 6755399441055744.0
    r = x - k * 0.693147180369123816490
    r = r - k * 1.90821492927058770002e-10
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * (r * r) + (r + 1.0)
    return p * np.int64((np.float64(z).view(np.int64) << np.int64(52)) + np.int64(0x3FF0000000000000)).view(np.float64)


# ``contract`` alone: a multiplication and an addition become one instruction; nothing is reordered, NaN stays NaN.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def exp32(tile):
    """Every entry of a flat float32 array becomes its exponential."""
    for k in range(len(tile)):
        tile[k] = _exp32(tile[k])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def exp64(tile):
    """Every entry of a flat float64 array becomes its exponential."""
    for k in range(len(tile)):
        tile[k] = _exp64(tile[k])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def largest_norm(X, chosen, centre):
    """The largest ‖row − centre‖² of the chosen rows of X."""
    largest = 0.0
    for i in range(len(chosen)):
        row, norm = X[chosen[i]], 0.0
        for k in range(len(centre)):
            norm += (row[k] - centre[k]) ** 2
        largest = max(largest, norm)
    return largest


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def scaled_rows(X, chosen, begin, end, centre, scale, out):
    """out[i] = (a, 1, −½‖a‖²) with a = (row chosen[i] of X − centre) · scale, for i from begin to end."""
    d = len(centre)
    for i in range(begin, end):
        row, to, norm = X[chosen[i]], out[i], 0.0
        for k in range(d):
            value = (row[k] - centre[k]) * scale
            to[k] = value
            norm += value * value
        to[d], to[d + 1] = 1.0, -0.5 * norm


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def sparse_products(data, indices, indptr, begin, own, scale, dense, other, out):
    """out[j, h] = own[begin + j] + other[h] + scale ⟨row begin + j of a CSR matrix, column h of ``dense``⟩."""
    width = dense.shape[1]
    for j in range(out.shape[0]):
        row = out[j]
        for h in range(width):
            row[h] = 0
        k, end = indptr[begin + j], indptr[begin + j + 1]
        while k + 4 <= end:
            a, b, c, d = data[k], data[k + 1], data[k + 2], data[k + 3]
            p, q, r, s = dense[indices[k]], dense[indices[k + 1]], dense[indices[k + 2]], dense[indices[k + 3]]
            for h in range(width):
                row[h] += a * p[h] + b * q[h] + c * r[h] + d * s[h]
            k += 4
        while k < end:
            a, p = data[k], dense[indices[k]]
            for h in range(width):
                row[h] += a * p[h]
            k += 1
        base = own[begin + j]
        for h in range(width):
            row[h] = scale * row[h] + (base + other[h])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def fold(tile, first, second, out):
    """Add Σ over h of tile[j, h] · (first[h], second[h]) to out[j], in float64."""
    for j in range(tile.shape[0]):
        row = tile[j]
        a, b = 0.0, 0.0
        for h in range(tile.shape[1]):
            value = np.float64(row[h])
            a += value * first[h]
            b += value * second[h]
        out[j, 0] += a
        out[j, 1] += b


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def absolute_differences(rows, begin, dense, out):
    """out[j, h] = Σ over features of |row begin + j − column h of ``dense``|, negated."""
    width = dense.shape[1]
    for j in range(out.shape[0]):
        row = out[j]
        for h in range(width):
            row[h] = 0
        x = rows[begin + j]
        for k in range(len(x)):
            value, other = x[k], dense[k]
            for h in range(width):
                row[h] -= abs(value - other[h])


@njit(cache=True, nogil=True, error_model="numpy")
def put(tile, shift, K, top, left):
    """K[top + j, left + h] = tile[j, h] + shift."""
    tall, wide = tile.shape
    for j in range(tall):
        source, row = tile[j], K[top + j, left : left + wide]
        for h in range(wide):
            row[h] = source[h] + shift


@njit(cache=True, nogil=True, error_model="numpy")
def put_mirrored(tile, shift, K, top, left):
    """K[top + h, left + j] = tile[j, h] + shift."""
    tall, wide = tile.shape
    for start in range(0, tall, 128):  # a strip of both stays in the innermost cache
        count = min(128, tall - start)
        strip = tile[start : start + count]
        for first in range(0, wide, 16):  # as many columns as a line of the cache holds
            for h in range(first, min(first + 16, wide)):
                row = K[top + h, left + start : left + start + count]
                for j in range(count):
                    row[j] = strip[j, h] + shift


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def add_rows(rows, chosen, coefficients, begin, end, out):
    """Add Σ of rows[chosen[i], begin:end] · coefficients[i] to out[begin:end], by 32 rows at a time in the rows' precision."""
    total = np.zeros(end - begin, dtype=rows.dtype)
    for i in range(len(chosen)):
        row, factor = rows[chosen[i], begin:end], rows.dtype.type(coefficients[i])
        for k in range(end - begin):
            total[k] += factor * row[k]
        if i % 32 == 31 or i == len(chosen) - 1:
            for k in range(end - begin):
                out[begin + k] += total[k]
                total[k] = 0


@njit(cache=True, nogil=True, error_model="numpy")
def picked_products(gram, right, left, coefficients):
    """out[i, m] = Σⱼ gram[right[i], left[j]] · coefficients[j, m], in float64."""
    out = np.zeros((len(right), coefficients.shape[1]))
    for m in range(coefficients.shape[1]):
        column = coefficients[:, m].copy()
        for i in range(len(right)):
            row, even, odd = gram[right[i]], 0.0, 0.0
            for j in range(0, len(left) - 1, 2):  # two sums, so that an addition need not wait for the one before
                even += row[left[j]] * column[j]
                odd += row[left[j + 1]] * column[j + 1]
            if len(left) % 2:
                even += row[left[-1]] * column[-1]
            out[i, m] = even + odd
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def picked(gram, chosen, out):
    """Write the chosen rows and columns of a square matrix to ``out``, by runs of columns that are side by side, and return it."""
    m = len(chosen)
    begins, runs = np.empty(m + 1, dtype=np.int64), 0
    for j in range(m):
        if j == 0 or chosen[j] != chosen[j - 1] + 1:
            begins[runs] = j
            runs += 1
    begins[runs] = m
    for i in range(m):
        row, to = gram[chosen[i]], out[i]
        for r in range(runs):
            first, count = begins[r], begins[r + 1] - begins[r]
            source, target = row[chosen[first] : chosen[first] + count], to[first : first + count]
            for j in range(count):
                target[j] = source[j]
    return out
