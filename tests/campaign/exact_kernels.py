"""Gram matrices in interval arithmetic: every entry is an interval that contains the kernel of the numbers as given.

The module is written from the definitions of the kernels, with python-flint's ``arb`` at the precision that the caller has set; it uses nothing of
Gapless.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

Table = list[list[Any]]
PAIRWISE = ("laplacian", "chi2")  # kernels that need a sum over features for each pair


def entries_needed(kernel: list[Any], n: int, d: int) -> int:
    """An estimate of the interval operations that a Gram matrix takes."""
    return n * n * (d if kernel[0] in PAIRWISE else 2)


def gram_table(kernel: list[Any], rows: np.ndarray, gram: np.ndarray | None) -> Table:
    """K as a table of intervals."""
    kind, *given = kernel
    n = len(rows)
    match kind:
        case "precomputed":
            assert gram is not None
            return _symmetric(n, lambda i, j: arb(float(gram[i, j])).union(arb(float(gram[j, i]))))
        case "function":
            first = [float(v) for v in rows[:, 0]]
            return _symmetric(n, lambda i, j: arb(min(first[i], first[j])))
        case "map":
            return _inner(np.hstack([rows, np.abs(rows)]))
        case "linear":
            return _inner(rows)
        case "sum" | "product":
            left, right = (gram_table(part, rows, gram) for part in given)
            if kind == "sum":
                return _symmetric(n, lambda i, j: left[i][j] + right[i][j])
            return _symmetric(n, lambda i, j: left[i][j] * right[i][j])
        case "scaled":
            inner, scale = gram_table(given[1], rows, gram), arb(given[0])
            return _symmetric(n, lambda i, j: scale * inner[i][j])
        case "power":
            inner = gram_table(given[1], rows, gram)
            return _symmetric(n, lambda i, j: inner[i][j] ** given[0])
        case "exp":
            inner = gram_table(given[0], rows, gram)
            return _symmetric(n, lambda i, j: inner[i][j].exp())
        case "series":
            inner = gram_table(given[1], rows, gram)
            return _symmetric(n, lambda i, j: sum((arb(c) * inner[i][j] ** k for k, c in enumerate(given[0])), arb(0)))
        case "laplacian" | "chi2":
            return _pairwise(kind, arb(given[0]), rows)
    return _by_inner_products(kind, given, rows)


def _by_inner_products(kind: str, given: list[Any], rows: np.ndarray) -> Table:
    n, G = len(rows), _inner(rows)

    def square(i: int, j: int) -> arb:  # a squared distance is not negative, so that its interval is cut at zero
        return (G[i][i] + G[j][j] - 2 * G[i][j]).nonnegative_part() if i != j else arb(0)

    match kind:
        case "polynomial":
            gamma, degree, coef0 = arb(given[0]), given[1], arb(given[2])
            return _symmetric(n, lambda i, j: (gamma * G[i][j] + coef0) ** degree)
        case "sigmoid":
            gamma, coef0 = arb(given[0]), arb(given[1])
            return _symmetric(n, lambda i, j: (gamma * G[i][j] + coef0).tanh())
        case "rbf":
            gamma = arb(given[0])
            return _symmetric(n, lambda i, j: (-gamma * square(i, j)).exp())
        case "cosine":
            norms = [G[i][i].sqrt() for i in range(n)]
            zero = [not rows[i].any() for i in range(n)]
            return _symmetric(n, lambda i, j: arb(0) if zero[i] or zero[j] else G[i][j] / (norms[i] * norms[j]))
        case "matern":
            length = arb(1.0 / given[0])  # the same float64 as the constructor's argument
            return _symmetric(n, lambda i, j: _matern(square(i, j), length, given[1]))
    raise AssertionError(f"no kernel is called {kind!r}")


def _matern(square: arb, length: arb, nu: float) -> arb:
    if math.isinf(nu):
        return (-square / (2 * length * length)).exp()
    r = (arb(2 * nu) * square).sqrt() / length
    factor = {0.5: arb(1), 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[nu]
    return factor * (-r).exp()


def _pairwise(kind: str, gamma: arb, rows: np.ndarray) -> Table:
    exact = [[fmpq(*v.as_integer_ratio()) for v in row] for row in rows.tolist()]

    def entry(i: int, j: int) -> arb:
        pairs = zip(exact[i], exact[j], strict=True)
        if kind == "laplacian":
            distance = sum((abs(x - z) for x, z in pairs), fmpq(0))
        else:
            distance = sum(((x - z) ** 2 / (x + z) for x, z in pairs if x + z != 0), fmpq(0))
        return (-gamma * arb(distance)).exp()

    return _symmetric(len(rows), entry)


def _inner(rows: np.ndarray) -> Table:
    X = arb_mat(*rows.shape, rows.ravel().tolist())
    return (X * X.transpose()).tolist()


def _symmetric(n: int, entry: Callable[[int, int], arb]) -> Table:
    lower = [[entry(i, j) for j in range(i + 1)] for i in range(n)]
    return [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
