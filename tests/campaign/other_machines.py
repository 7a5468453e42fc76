"""P of machines with objectives of their own, at the model that an estimator's attributes show: l1-regularised, Crammer and Singer's, multinomial."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from tests.campaign.cases import Case
from tests.campaign.exact_kernels import gram_table
from tests.campaign.referee import BITS, rationals
from tests.campaign.specs import Spec


def primal_value(spec: Spec, case: Case, model: Any) -> Any:
    """P of a fitted model as a rational number or an interval; None where the machine is not one of these."""
    ctx.prec = BITS
    weight = np.ones(len(case.rows)) if case.weight is None else case.weight
    cost = rationals(spec["C"] * weight)
    codes = np.searchsorted(model.classes_, case.y).tolist()
    variant = spec.get("variant", "")
    if variant == "l1" and len(model.classes_) == 2:
        return _l1(case, cost, [2 * code - 1 for code in codes], model)
    if variant == "crammer_singer" and len(model.classes_) > 2:
        return _crammer_singer(case, cost, codes, model)
    if spec["estimator"] == "KernelLogisticRegression" and len(model.classes_) > 2:
        return _multinomial(case, cost, codes, model)
    return None


def _l1(case: Case, cost: list[fmpq], signs: list[int], model: Any) -> fmpq:
    """‖w‖₁ + |b| + Σ c max(0, 1 − y f)²."""
    w, (b,) = rationals(model.coef_[0]), rationals(model.intercept_)
    f = _linear(case, [w], [b])
    losses = (c * max(1 - y * v[0], fmpq(0)) ** 2 for c, y, v in zip(cost, signs, f, strict=True))
    return sum((abs(v) for v in [*w, b]), fmpq(0)) + sum(losses, fmpq(0))


def _crammer_singer(case: Case, cost: list[fmpq], codes: list[int], model: Any) -> fmpq:
    """½ Σ ‖w_m‖² + ½ Σ b_m² + Σ c max_m ([m ≠ y] + f_m − f_y)."""
    weights, offsets = [rationals(row) for row in model.coef_], rationals(model.intercept_)
    total = sum((v * v for row in [*weights, offsets] for v in row), fmpq(0)) / 2
    for c, y, f in zip(cost, codes, _linear(case, weights, offsets), strict=True):
        total += c * max((m != y) + v - f[y] for m, v in enumerate(f))
    return total


def _multinomial(case: Case, cost: list[fmpq], codes: list[int], model: Any) -> arb:
    """½ Σ ‖w_m‖² + Σ c (log Σ exp f_m − f_y)."""
    n, classes = len(case.rows), len(model.classes_)
    table = np.zeros((n, classes))
    table[model.support_] = np.asarray(
        model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    ).T
    expansion = arb_mat(n, classes, table.ravel().tolist())
    f = arb_mat(gram_table(case.kernel, case.rows, case.gram)) * expansion
    total = sum((e * v for e, v in zip(expansion.entries(), f.entries(), strict=True)), arb(0)) / 2
    offsets = [arb(float(b)) for b in model.intercept_]
    for c, y, row in zip(cost, codes, f.tolist(), strict=True):
        values = [v + b for v, b in zip(row, offsets, strict=True)]
        largest = max(v.mid() for v in values)
        total += arb(c) * (sum(((v - largest).exp() for v in values), arb(0)).log() + largest - values[y])
    return total


def _linear(case: Case, weights: list[list[fmpq]], offsets: list[fmpq]) -> list[list[fmpq]]:
    X = fmpq_mat(*case.rows.shape, rationals(case.rows.ravel()))
    W = fmpq_mat(len(weights), case.rows.shape[1], [v for row in weights for v in row])
    return [[v + b for v, b in zip(row, offsets, strict=True)] for row in (X * W.transpose()).tolist()]
