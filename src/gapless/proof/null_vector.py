"""Whole numbers z ≠ 0 with Mz = 0 exactly, for a matrix M of whole numbers.

Columns that depend on others are found modulo a prime p; the rest is one regular system A z = b, whose solution is rational. The solution is lifted
digit by digit in base p from the inverse of A modulo p (Dixon, "Exact solution of linear equations using p-adic expansions", 1982), so that each
digit takes two products of a matrix of floats with a vector instead of operations on long numbers. Euclid's algorithm turns the digits into
fractions. Mz = 0 is checked by multiplication before z is returned: the result does not depend on p.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

_PRIME = 2**21 - 9  # the largest prime of 21 bits
_LIMB = 21  # bits of the pieces (limbs) that the entries of M are split into
# float64 has 53 bits: sums of so many products of 21 bits by 21 bits are exact, in any order.
_MOST_COLUMNS = 2 ** (53 - 2 * _LIMB)
_MOST_WORK = 4e9  # multiplications for one vector: some ten seconds
_FINE = 2**30  # the largest of the whole numbers that a guess is rounded to: finer than a linear program's seven digits


def null_vector(M: np.ndarray, guess: Sequence[Fraction], until: float = math.inf) -> list[int] | None:
    """z ≠ 0 with Mz = 0 exactly; of many such z one near a positive multiple of ``guess``. None where there is none, or where M is too large.

    M holds Python's integers; a clock (``time.monotonic``) past ``until`` raises a :class:`TimeoutError`.

    >>> import numpy as np
    >>> null_vector(np.array([[1, 2, 3], [0, 1, 1]], dtype=object), [Fraction(1, 2)] * 3)
    [-1, -1, 1]
    """
    M = _primitive(M)
    rows, columns = M.shape
    if columns > _MOST_COLUMNS or rows * columns**2 > _MOST_WORK:
        return None
    # The entries of the first independent columns are solved for, and may move away from the guess: largest entries first, which keep their signs.
    order = sorted(range(columns), key=lambda i: -abs(guess[i]))
    R, B = _pivots((M[:, order] % _PRIME).astype(np.int64), until)
    B = [order[i] for i in B]
    F = [i for i in order if i not in set(B)]
    if not F:
        return None
    z = np.zeros(columns, dtype=object)
    z[F] = _whole([guess[i] for i in F])
    if B:
        solution = _solve(M[np.ix_(R, B)], -(M[np.ix_(R, F)] @ z[F]), until)
        if solution is None:
            return None
        z[B], denominator = solution
        z[F] *= denominator
    if not z.any() or (M @ z).any():
        return None
    divisor = math.gcd(*z)
    return [int(each) // divisor for each in z]


def independent_rows(M: np.ndarray, until: float = math.inf) -> np.ndarray:
    """Rows of M on which all others depend, found modulo the prime. They are wrong with a chance of about one in a million: check what follows."""
    M = _primitive(M)
    rows, _ = _pivots((M % _PRIME).astype(np.int64), until)
    return M[rows]


def _primitive(M: np.ndarray) -> np.ndarray:
    """The rows of M that are not zero, each divided by the greatest common divisor of its entries."""
    divisors = [math.gcd(*row) for row in M]
    kept = [i for i, divisor in enumerate(divisors) if divisor]
    return M[kept] // np.array([divisors[i] for i in kept], dtype=object)[:, None]


def _whole(values: list[Fraction]) -> np.ndarray:
    """Whole numbers that are about proportional to the values."""
    largest = max(abs(value) for value in values)
    if len(values) == 1 or not largest:
        return np.array([-1 if value < 0 else 1 for value in values], dtype=object)
    return np.array([round(value / largest * _FINE) for value in values], dtype=object)


def _pivots(W: np.ndarray, until: float) -> tuple[list[int], list[int]]:
    """(rows, columns) of a regular square part of W modulo the prime, with every column that does not depend on the columns before it. Writes W."""
    place = np.arange(len(W))
    found: list[int] = []
    for j in range(W.shape[1]):
        hurry(until)
        i = len(found)
        (below,) = W[i:, j].nonzero()
        if not len(below):
            continue
        first = i + below[0]
        W[[i, first]], place[[i, first]] = W[[first, i]], place[[first, i]]
        others = i + below[1:]
        factors = W[others, j] * pow(int(W[i, j]), -1, _PRIME) % _PRIME
        W[others, j:] = (W[others, j:] - factors[:, None] * W[i, j:]) % _PRIME
        found.append(j)
    return place[: len(found)].tolist(), found


def _inverse(A: np.ndarray, until: float) -> np.ndarray:
    """A⁻¹ modulo the prime, where it exists, by Gauss and Jordan."""
    n = len(A)
    W = np.hstack([A, np.eye(n, dtype=np.int64)])
    for j in range(n):
        hurry(until)
        first = j + int(W[j:, j].nonzero()[0][0])
        W[[j, first]] = W[[first, j]]
        W[j] = W[j] * pow(int(W[j, j]), -1, _PRIME) % _PRIME
        others = W[:, j].nonzero()[0]
        others = others[others != j]
        W[others] = (W[others] - W[others, j, None] * W[j]) % _PRIME
    return W[:, n:].astype(np.float64)


def _solve(A: np.ndarray, b: np.ndarray, until: float) -> tuple[np.ndarray, int] | None:
    """(z, denominator) with A z = denominator · b, for an A that is regular modulo the prime."""
    n = len(A)
    inverse, limbs = _inverse((A % _PRIME).astype(np.int64), until), _limbs(A)
    # By Cramer's rule numerators and denominator are determinants, which Hadamard's inequality bounds by the lengths of the columns.
    bits = sum(_length_bits(column) for column in A.T) + _length_bits(b)
    enough = math.ceil((2 * bits + 4) / math.log2(_PRIME)) + 1
    digits: list[np.ndarray] = []
    residual, look = b, 8
    while len(digits) < enough:
        hurry(until)
        digit = (inverse @ (residual % _PRIME).astype(np.float64)) % _PRIME
        digits.append(digit)
        product = sum((limb @ digit).astype(np.int64).astype(object) << _LIMB * i for i, limb in enumerate(limbs))
        residual = (residual - product) // _PRIME
        if len(digits) in (look, enough):
            look *= 2
            found = _fractions(_join(digits), _PRIME ** len(digits), until)
            if found is not None and not (A @ found[0] - found[1] * b).any():
                return found
        if len(digits) * n * n * (len(limbs) + 1) > _MOST_WORK:
            return None
    return None


def _limbs(A: np.ndarray) -> list[np.ndarray]:
    """The limbs of A, with Σ limbs[i] 2^(21 i) = A, each with the signs of A."""
    signs, rest = np.where(A < 0, -1, 1), np.abs(A)
    limbs = []
    while rest.any():
        limbs.append((signs * (rest & (2**_LIMB - 1)).astype(np.int64)).astype(np.float64))
        rest = rest >> _LIMB
    return limbs


def _length_bits(column: np.ndarray) -> float:
    """A number of at least log₂ of the Euclidean length, and at least 0."""
    return 0.5 * max(1, sum(int(each) ** 2 for each in column)).bit_length()


def _join(digits: list[np.ndarray]) -> np.ndarray:
    """Σ digits[t] p^t, joined pair by pair, so that few operations are on long numbers."""
    parts, base = [digit.astype(np.int64).astype(object) for digit in digits], _PRIME
    while len(parts) > 1:
        pairs = [low + base * high for low, high in zip(parts[::2], parts[1::2], strict=False)]
        parts, base = pairs + parts[len(parts) - len(parts) % 2 :], base * base
    return parts[0]


def _fractions(residues: np.ndarray, modulus: int, until: float) -> tuple[np.ndarray, int] | None:
    """(numerators, common denominator) of the fractions that the residues stand for; None where the modulus is too small to tell them."""
    bound, denominator = math.isqrt(modulus // 2), 1
    for residue in residues:
        hurry(until)
        value = residue * denominator % modulus
        if min(value, modulus - value) > bound:
            denominator *= _denominator(value, modulus, bound)
            if denominator > bound:
                return None
    numerators = residues * denominator % modulus
    return np.where(numerators > modulus // 2, numerators - modulus, numerators), denominator


def _denominator(value: int, modulus: int, bound: int) -> int:
    """The smallest t > 0 that Euclid's algorithm finds such that t · value, modulo the modulus, is at most ``bound`` in size."""
    r, s, t, u = modulus, value, 0, 1
    while s > bound:
        q = r // s
        r, s, t, u = s, r - q * s, u, t - q * u
    return abs(u)


def hurry(until: float) -> None:
    """Raise a :class:`TimeoutError` where the clock is past ``until``."""
    if until < math.inf and time.monotonic() > until:
        raise TimeoutError("the exact arithmetic took longer than it was given.")
