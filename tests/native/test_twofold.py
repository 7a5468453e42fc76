"""native/proof/twofold*: numbers of twice the digits, against exact rationals and interval arithmetic of 400 bits."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("flint", reason="the exact referee needs python-flint")

from flint import arb, ctx

from gapless import _native
from gapless.data.rows import as_rows
from gapless.kernels.formula import TWOFOLD_UNIT, twofold_expansion
from gapless.kernels.rounding import magnitudes
from gapless.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from gapless.proof.values import expansion_error
from tests.campaign.cases import make_kernel
from tests.campaign.exact_kernels import gram_table

KERNELS: list[list[Any]] = [
    ["linear"], ["polynomial", 0.5, 5, 1e4], ["rbf", 0.7], ["rbf", 1e6], ["laplacian", 0.3], ["sigmoid", 0.2, 0.1], ["cosine"],
    ["chi2", 0.4], ["matern", 0.5, 0.5], ["matern", 0.5, 1.5], ["matern", 0.5, 2.5], ["matern", 0.5, math.inf], ["function"], ["map"],
    ["sum", ["rbf", 0.7], ["linear"]], ["product", ["rbf", 0.7], ["linear"]], ["scaled", 3.0, ["cosine"]],
    ["power", 3, ["linear"]], ["exp", ["cosine"]], ["series", [1.0, 0.0, 2.0], ["cosine"]],
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_an_expansion_is_the_exact_one_to_its_bound(kernel: list[Any], offset: float, storage: Any):
    ctx.prec = 400
    rng = np.random.default_rng(0)
    rows = np.abs(rng.normal(size=(7, 5))) + offset
    rows[3] = rows[0]
    rows[4] = rows[1] + 1e-9
    rows[5, :3] = 0.0
    beta = rng.normal(size=7) * 10.0 ** rng.uniform(-8, 8, 7)
    beta[2] = 0.0
    ours, X = make_kernel(kernel, None), storage(rows)
    f = twofold_expansion(ours, X, beta)
    error = expansion_error(beta, *magnitudes(ours, X, TWOFOLD_UNIT), TWOFOLD_UNIT)
    for i, row in enumerate(gram_table(kernel, rows, None)):
        exact = sum((arb(b) * k for b, k in zip(beta.tolist(), row, strict=True)), arb(0))
        found = arb(float(f[0, i])) + arb(float(f[1, i]))
        assert abs(found - exact) < arb(float(error[i])), i
        size = sum((abs(arb(b) * k) for b, k in zip(beta.tolist(), row, strict=True)), arb(0))
        assert kernel[0] in ("cosine", "polynomial", "sigmoid") or error[i] <= 1e-8 * float(size.mid()) + 1e-15


@pytest.mark.parametrize("storage", [np.asarray, np.float32, sp.csr_array], ids=["dense", "float32", "csr"])
def test_weights_and_products_of_linear_problems(storage: Any):
    rng = np.random.default_rng(1)
    X = storage(rng.normal(size=(40, 6)) * 10.0 ** rng.uniform(-8, 8, 6))
    dense = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    beta, w = rng.normal(size=40), rng.normal(size=6) * 10.0 ** rng.uniform(-8, 8, 6)
    sums, f, sizes, reach = np.empty((2, 6)), np.empty((2, 40)), np.empty(6), np.empty(40)
    _native.twofold_weights(as_rows(X), beta, sums, sizes)
    _native.twofold_products(as_rows(X), w, f, reach)
    for found, values, size, columns in ((sums, beta, sizes, dense.T), (f, w, reach, dense)):
        for i, column in enumerate(columns):
            terms = [Fraction(x) * Fraction(v) for x, v in zip(column.tolist(), values.tolist(), strict=True)]
            assert size[i] == pytest.approx(float(sum(map(abs, terms))), rel=1e-14)
            assert abs(Fraction(found[0, i]) + Fraction(found[1, i]) - sum(terms)) <= Fraction(2.0**-95) * Fraction(
                size[i]
            )


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.25)], ids=repr)
def test_both_values_are_within_a_few_units_of_the_exact_ones(loss: Any):
    """P and D of given decision values in rationals, where the values cancel to their last digits with the offset."""
    rng = np.random.default_rng(2)
    n, groups, totals = 30, np.zeros(30, dtype=np.int64), np.zeros(1)
    y, cost = np.where(rng.random(n) < 0.5, -1.0, 1.0), 2.0 ** rng.integers(-3, 4, n)
    dual, offsets = loss.dual_box(y, cost), np.array([-1e8])
    f = np.vstack([rng.normal(size=n) + 1e8, 1e-9 * rng.normal(size=n)])
    f[0], f[1] = f[0] + f[1], f[1] - ((f[0] + f[1]) - f[0])
    beta = np.clip(rng.integers(-8, 9, n) / 8, dual.lower, dual.upper)
    none = np.zeros(n)
    plain, above = _native.twofold_primal(dual, groups, totals, offsets, f, none, (3.0, 1e-20), 0.0, 0.0)
    p, e, d, lower, upper = ([Fraction(float(v)) if math.isfinite(v) else None for v in each] for each in dual)
    exact = (Fraction(3.0) + Fraction(1e-20)) / 2
    for i in range(n):
        apart = p[i] - Fraction(f[0, i]) - Fraction(f[1, i]) + Fraction(1e8)
        for s, u in ((apart - e[i], upper[i]), (-apart - e[i], None if lower[i] is None else -lower[i])):
            if s > 0 and u != 0:
                exact += s * u if d[i] == 0 else s * s / (2 * d[i])
    assert float(exact) <= above <= float(exact) * (1 + 1e-14) and plain <= above
    assert exact >= Fraction(above) - 2 * (Fraction(above) - Fraction(plain))  # all that was added for rounding is said
    plain, below = _native.twofold_dual(dual, groups, totals, False, beta, f, none, (3.0, 0.0), 0.0, 0.0, 1.0)
    exact = sum(
        (
            p[i] * Fraction(b) - e[i] * abs(Fraction(b)) - d[i] * Fraction(b) ** 2 / 2
            for i, b in enumerate(beta.tolist())
        ),
        Fraction(-3, 2),
    )
    assert float(exact) - 1e-13 <= below <= float(exact) and below <= plain


def test_the_exact_sum_costs_what_its_slopes_say():
    """Σβ = 2⁻⁶⁰ too much: D of the exactly feasible point is below that of β by the slope times the way, in rationals."""
    box = Hinge().dual_box(np.array([1.0, -1.0, 1.0]), np.full(3, 4.0))
    beta, f = np.array([1.0, -1.0, 2.0**-60]), np.vstack([[1e9, 1e9, 1e9], np.zeros(3)])
    _, proven = _native.twofold_dual(
        box, np.zeros(3, dtype=np.int64), np.zeros(1), True, beta, f, np.zeros(3), (2.0, 0.0), 0.0, 0.0, 1.0
    )
    # β scaled by 1 / (1 + 2⁻⁶⁰) on its positive side: each unit of way gains f − 1.
    gain = (1e9 - 1) * 2.0**-60
    assert 1.0 + gain - 4e-15 <= proven <= 1.0 + 2 * gain


def test_an_exact_sum_needs_no_room():
    """All at their bounds, whose sum is the total: nothing can move, and nothing has to."""
    ones = np.ones(3)
    box = Hinge().dual_box(ones, ones)._replace(lower=np.zeros(3))
    for total, feasible in ((3.0, True), (3.0 + 1e-15, False)):
        _, proven = _native.twofold_dual(
            box, np.zeros(3, dtype=np.int64), np.array([total]), True, ones, np.zeros((2, 3)), np.zeros(3), (0.0, 0.0),
            0.0, 0.0, 1.0,
        )  # fmt: skip
        assert (proven > 2.9) == feasible and (proven == -math.inf) != feasible


def test_the_entropy_keeps_its_digits_near_both_ends():
    cost, a = np.full(4, 2.0), np.array([1e-300, 1e-17, 0.5, 1.0 - 2.0**-53])
    entropy = Logistic().dual_box(np.ones(4), cost)
    ctx.prec = 2000  # of which 1 − 1e-300 takes half
    for i in range(4):
        beta = np.zeros(4)
        beta[i] = 2.0 * a[i]
        plain, below = _native.twofold_dual(
            entropy, np.zeros(4, dtype=np.int64), np.zeros(1), False, beta, np.zeros((2, 4)), np.zeros(4), (0.0, 0.0),
            0.0, 0.0, 1.0,
        )  # fmt: skip
        x = arb(float(a[i]))
        exact = -2 * (x * x.log() + (1 - x) * (1 - x).log())
        assert arb(below) < exact and arb(plain) * (1 + arb(1e-14)) > exact
