"""The rounds of a descent: their gap against plain formulas, with and without kinks, by factorisation and by conjugate gradients."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gapless import _native
from gapless.data.rows import as_rows
from gapless.losses import DualBox
from gapless.solvers.newton import descent as descents
from gapless.solvers.newton.descent import Descent
from gapless.solvers.newton.weighted_gram import Samples


def box_of(n: int, bend: float, rng: np.random.Generator) -> DualBox:
    c = rng.random(n)
    return DualBox(rng.normal(size=n), np.full(n, 0.1), np.full(n, bend), -c, c)


def test_the_gap_splits_into_the_residual_and_what_beta_lacks():
    rng = np.random.default_rng(0)
    A, n = rng.normal(size=(50, 3)), 50
    box = box_of(n, 0.0, rng)
    p, c = box.p, box.upper
    descent = Descent(Samples.of(as_rows(A), 3, False), box, np.ones(3), rng.normal(size=3), 0.5, 1.0)
    for _ in range(5):
        w, beta = descent.w.copy(), descent.beta.copy()
        f, own = A @ w, A.T @ beta
        P = 0.5 * w @ w + (c * np.maximum(0.0, np.abs(p - f) - 0.1)).sum()
        D = p @ beta - 0.1 * np.abs(beta).sum() - 0.5 * own @ own
        assert descent.value == pytest.approx(P, rel=1e-12)
        assert descent.gap == pytest.approx(P - D, rel=1e-9, abs=1e-12)
        assert descent.lacking == pytest.approx(_native.fenchel_gap(box, f, beta), rel=1e-9, abs=1e-12)
        assert (np.abs(beta) <= c).all()
        descent.advance(1e-9)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("bend", [0.0, 0.5])
def test_conjugate_gradients_lead_where_the_factorisation_does(storage, bend, monkeypatch):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(200, 12)) * (rng.random((200, 12)) < 0.3)
    rows = as_rows(A if storage == "dense" else sp.csr_array(A))
    box, values = box_of(200, bend, rng), []
    for most in (1500, 5):
        monkeypatch.setattr(descents, "DENSE_COLUMNS", most)
        descent = Descent(
            Samples.of(rows, 12, True), box, np.append(np.ones(12), 0.25), np.zeros(13), 0.0 if bend else 1.0, 1.0
        )
        while not descent.stuck and descent.gap > 1e-10 * descent.value:
            descent.advance(1e-10 * descent.value)
        assert descent.gap <= 1e-9 * descent.value
        values.append(descent.value)
    assert values[0] == pytest.approx(values[1], rel=2e-9)
