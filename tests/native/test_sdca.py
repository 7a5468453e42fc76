"""SDCA's epochs beside the same written with NumPy, at every instruction set and for every storage."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import gapless as gl
from gapless import _native
from gapless.data.rows import CsrRows
from tests.native.storages import STORAGES, stored

LOSSES = ("hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive")


@pytest.fixture(params=_native.isa_levels(), autouse=True)
def level(request) -> Iterator[str]:
    """Each instruction set of this machine in its turn."""
    before = _native.isa()
    _native.use_isa(request.param)
    yield request.param
    _native.use_isa(before)


def soft(value: float, epsilon: float) -> float:
    return max(value - epsilon, 0.0) + min(value + epsilon, 0.0)


class Twin:
    """The same epochs, line by line."""

    def __init__(self, X, box, q, shift, free=False, shrinks=True, seed=1):
        self.X, self.box, self.q, self.shift, self.free, self.shrinks = X, box, q, shift, free, shrinks
        n, d = X.shape
        self.beta, self.w, self.offset, self.total = np.zeros(n), np.zeros(d), 0.0, 0.0
        self.dual, self.threshold, self.full_gap = 0.0, np.inf, np.inf
        self.active, self.gone = np.arange(n), np.zeros(n, dtype=bool)
        self.random = _native.Random(seed)

    def epoch(self, halves: int = 0) -> None:
        """All active rows once; in rounds of ``halves`` rows on two copies of w where that is not zero."""
        self.random.shuffle(self.active)
        visits, self.gap, self.largest = self.active.copy(), 0.0, 0.0
        full = len(visits) == len(self.beta)
        if halves == 0:
            self.w, self.offset, moved, gain = self.sweep(visits, self.w, self.offset)
            self.total += moved
            self.dual += gain
        for begin in range(0, len(visits) if halves else 0, halves or 1):
            self.round(visits[begin : begin + halves])
        if self.free:
            self.gap += abs(self.offset * self.total)
            self.offset += self.shift * self.total
            self.dual -= self.shift * self.total**2
        if full:
            self.full_gap = self.gap
        if not full and self.gap <= 0.1 * self.full_gap:
            self.bring_back()
            return
        self.active = self.active[~self.gone[self.active]]
        self.threshold = self.largest if self.shrinks and self.largest > 0 else np.inf
        if not len(self.active):
            self.bring_back()

    def bring_back(self) -> None:
        self.active, self.threshold = np.arange(len(self.beta)), np.inf
        self.gone[:] = False

    def sweep(self, visits, w, offset):
        w, moved, gain = w.copy(), 0.0, 0.0
        for i in visits:
            p, epsilon, d, lower, upper = (float(vector[i]) for vector in self.box)
            old, q = self.beta[i], self.q[i]
            slope = p - self.X[i] @ w - offset
            bend = q + d
            best = soft(slope + q * old, epsilon) * (1 / bend if bend > 0 else 1e300 * np.isfinite(upper - lower))
            new = min(max(best, lower), upper)
            pull = soft(slope, epsilon)
            ideal = np.clip(pull / d, lower, upper) if d > 0 else upper if pull > 0 else lower if pull < 0 else 0.0

            def value(b, slope=slope, epsilon=epsilon, d=d):
                return slope * b - epsilon * abs(b) - 0.5 * d * b * b

            self.gap += value(ideal) - value(old)
            change = new - old
            if change != 0:
                gain += value(new) - value(old) - 0.5 * q * change**2
                self.largest = max(self.largest, abs(change) * bend)
                self.beta[i], moved, offset = new, moved + change, offset + self.shift * change
                w += change * self.X[i]
            elif self.slack(i, old, slope) > self.threshold:
                self.gone[i] = True
        return w, offset, moved, gain

    def slack(self, i, beta, slope):
        _, epsilon, d, lower, upper = (float(vector[i]) for vector in self.box)
        outward = slope - d * beta
        if lower == upper:
            return np.inf
        if beta == 0 and epsilon > 0:
            return epsilon - abs(outward)
        if beta == upper:
            return outward - epsilon if upper > 0 else outward + epsilon
        if beta == lower:
            return -outward - epsilon if lower < 0 else -outward + epsilon
        return -np.inf

    def round(self, visits) -> None:
        """Two halves from one w, and the best sum of their changes."""
        old, middle, largest = self.beta.copy(), len(visits) // 2, self.largest
        ends = []
        for part in (visits[:middle], visits[middle:]):
            self.largest = largest
            ends.append((self.sweep(part, self.w, self.offset), self.largest))
        self.largest = max(end[1] for end in ends)
        step_w = sum(end[0][0] - self.w for end in ends)
        delta = self.beta - old
        p, epsilon, d, *_ = self.box
        linear = delta @ (p - d * old) - epsilon @ (np.abs(self.beta) - np.abs(old))
        linear -= self.offset * delta.sum() + self.w @ step_w
        square = d @ delta**2 + self.shift * delta.sum() ** 2 + step_w @ step_w
        step = 1.0 if linear >= square else max(0.0, linear / square)
        self.w = self.w + step * step_w
        self.beta = old + step * delta if step < 1 else self.beta  # at a bound to the digit
        self.offset += step * self.shift * delta.sum()
        self.total += step * delta.sum()
        self.dual += step * linear - 0.5 * step**2 * square


def both(storage, loss, n, d, C=0.5, shift=1.0, seed=3, halved_from=np.inf, **options):
    """(our epochs, the twin) of one problem; some costs are zero."""
    rows, X = stored(storage, n, d, seed)
    rng = np.random.default_rng(seed)
    signal = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)
    y = signal if "insensitive" in loss else np.where(signal > 0, 1.0, -1.0)
    box = gl.losses.as_loss(loss).dual_box(y, np.where(np.arange(n) % 17 == 0, 0.0, C))
    q = (X**2).sum(axis=1) + shift
    free = options.get("free", False)
    shrinks = options.get("shrinks", True)
    ours = _native.Sdca(
        rows,
        d,
        box,
        q,
        shift=shift,
        free_intercept=free,
        uniform=False,
        shrinks=shrinks,
        halved_from=halved_from,
        seed=9,
    )
    return ours, Twin(X, box, q, shift, free, shrinks, seed=9)


def assert_same(ours, twin) -> None:
    scale = np.abs(twin.beta).max()
    np.testing.assert_allclose(ours.beta, twin.beta, atol=1e-9 * scale)
    np.testing.assert_allclose(ours.w, twin.w, atol=1e-9 * np.abs(twin.w).max())
    np.testing.assert_allclose(ours.offset, twin.offset, atol=1e-9 * max(1, abs(twin.offset)))
    np.testing.assert_allclose([ours.gap, ours.dual_value], [twin.gap, twin.dual], rtol=1e-8, atol=1e-10)
    assert sorted(ours.active) == sorted(twin.active)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", STORAGES)
def test_epochs_with_shrinking(storage, loss):
    ours, twin = both(storage, loss, 60, 9)
    least = 60
    for _ in range(12):
        assert ours.step(len(ours.active), 0.0) == len(twin.active)
        twin.epoch()
        assert_same(ours, twin)
        least = min(least, len(twin.active))
    assert least < 60  # something was left out


@pytest.mark.parametrize("loss", LOSSES)
def test_a_free_intercept_is_a_multiplier(loss):
    ours, twin = both("csr float64", loss, 60, 9, free=True, shrinks=False)
    for _ in range(6):
        ours.step(60, 0.0)
        twin.epoch()
        assert_same(ours, twin)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("storage", STORAGES)
def test_halves(storage, loss):
    """1024 rows a round, and a rest."""
    ours, twin = both(storage, loss, 1500, 6, C=0.05, halved_from=0.0)
    for _ in range(3):
        ours.step(len(ours.active), 0.0)
        twin.epoch(halves=1024)
        assert_same(ours, twin)


@pytest.mark.parametrize("storage", STORAGES)
def test_the_entropy(storage):
    rows, X = stored(storage, 40, 7)
    rng = np.random.default_rng(0)
    y, cost = np.where(rng.random(40) < 0.5, -1.0, 1.0), rng.random(40) + 0.1
    dual, shift = gl.losses.Logistic().dual_box(y, cost), 0.5
    q = (X**2).sum(axis=1) + shift
    ours = _native.Sdca(
        rows, 7, dual, q, shift=shift, free_intercept=False, uniform=False, shrinks=True, halved_from=0.0, seed=4
    )
    order, random = np.arange(40), _native.Random(4)
    beta = np.zeros(40)
    for _ in range(3):
        ours.step(40, 1e-3)
        random.shuffle(order)
        for i in order:
            beta[i] = _native.dual_step(
                dual, int(i), float(X[i] @ (X.T @ beta) + shift * beta.sum()), float(beta[i]), float(q[i])
            )
    np.testing.assert_allclose(ours.beta, beta, atol=1e-9)
    np.testing.assert_allclose(ours.w, X.T @ beta, atol=1e-9)
    assert ours.gap == np.inf and not ours.ready


@pytest.mark.parametrize("free", [False, True])
def test_a_given_order(free):
    """Whatever the options say, nothing is left out and nothing is halved; a free intercept's multiplier moves when the order begins anew."""
    rows, X = stored("csr float32", 30, 5)
    y = np.where(np.arange(30) % 2 == 0, -1.0, 1.0)
    order, shift = np.array([4, 4, 0, 29, 7, 12]), 0.5
    box, q = gl.losses.Hinge().dual_box(y, np.ones(30)), (X**2).sum(axis=1) + shift
    ours = _native.Sdca(
        rows,
        5,
        box,
        q,
        shift=shift,
        free_intercept=free,
        uniform=False,
        shrinks=True,
        halved_from=0.0,
        seed=4,
        order=order,
    )
    beta, b = np.zeros(30), 0.0
    for k in range(31):
        i = order[k % 6]
        slope = y[i] - X[i] @ (X.T @ beta) - shift * beta.sum() - b
        beta[i] = np.clip(beta[i] + slope / q[i], box.lower[i], box.upper[i])
        if free and k % 6 == 5:
            b += shift * beta.sum()
        assert ours.step(1, 0.0) == 1
        np.testing.assert_allclose(ours.beta, beta, atol=1e-12)
        assert ours.offset == pytest.approx(b + shift * beta.sum(), abs=1e-12)
    assert ours.active.size == 30 and ours.gap == np.inf and not ours.ready


def test_uniform_draws():
    rows, X = stored("csr float32", 30, 5)
    y = np.where(np.arange(30) % 2 == 0, -1.0, 1.0)
    box, q = gl.losses.Hinge().dual_box(y, np.ones(30)), (X**2).sum(axis=1)
    ours = _native.Sdca(
        rows, 5, box, q, shift=0.0, free_intercept=False, uniform=True, shrinks=True, halved_from=0.0, seed=4
    )
    draws = np.empty(30, dtype=np.int64)
    _native.Random(4).draw(draws)
    ours.step(30, 0.0)
    alpha, w = np.zeros(30), np.zeros(5)
    for i in draws:
        new = min(max(alpha[i] + (1 - y[i] * X[i] @ w) / q[i], 0.0), 1.0) if q[i] > 0 else 1.0
        w += (new - alpha[i]) * y[i] * X[i]
        alpha[i] = new
    np.testing.assert_allclose(ours.beta, y * alpha, atol=1e-12)
    np.testing.assert_allclose(ours.w, w, atol=1e-12)


@pytest.mark.parametrize("free", [False, True])
def test_it_goes_on_from_where_it_was(free):
    """``resume`` takes β, w, b and D's separable part: the next epochs are those of a twin that starts there."""
    ours, twin = both("dense float64", "squared_hinge", 50, 6, shrinks=False, free=free)
    beta = np.clip(np.random.default_rng(0).normal(size=50), twin.box.lower, twin.box.upper)
    w, b = twin.X.T @ beta, 0.3 if free else 0.0
    p, epsilon, d, *_ = twin.box
    separable = float(p @ beta - epsilon @ np.abs(beta) - 0.5 * d @ beta**2)
    ours.resume(beta, w, b, separable)
    total = beta.sum()
    twin.beta, twin.w, twin.total, twin.offset = beta.copy(), w.copy(), total, b + twin.shift * total
    twin.dual = separable - 0.5 * w @ w - b * total - 0.5 * twin.shift * total**2
    for _ in range(3):
        ours.step(50, 0.0)
        twin.epoch()
        assert_same(ours, twin)


def test_an_epoch_in_pieces_is_the_same_epoch():
    whole, _ = both("csr float64", "hinge", 60, 9)
    pieces, _ = both("csr float64", "hinge", 60, 9)
    assert whole.step(150, 0.0) == 150
    assert sum(pieces.step(7, 0.0) for _ in range(21)) + pieces.step(3, 0.0) == 150
    assert (whole.beta == pieces.beta).all() and whole.gap == pieces.gap


def test_buckets_visit_every_active_row_once():
    """Many short rows are shuffled in buckets: an epoch from β = 0 with tiny C moves each row of a positive cost to its bound."""
    ours, twin = both("csr float64", "hinge", 5003, 6, C=1e-9)
    assert ours.step(5003, 0.0) == 5003
    assert (ours.beta == np.where(twin.box.p > 0, twin.box.upper, twin.box.lower)).all()


def test_many_features_are_numbered_anew_and_nothing_else_changes():
    """The same rows with 2,000 features, and with these spread over 135,000: the latter are numbered by how often they occur."""
    rng = np.random.default_rng(0)
    n, used, d = 2300, 2000, 135_000
    few = np.sort(rng.permuted(np.tile(np.arange(used), (n, 1)), axis=1)[:, :60], axis=1)
    place = np.sort(rng.choice(d, used, replace=False))
    values, indptr = rng.normal(size=few.size), np.arange(0, few.size + 1, 60)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    box, q = gl.losses.SquaredHinge().dual_box(y, np.full(n, 0.1)), (values.reshape(n, 60) ** 2).sum(axis=1)
    options = {
        "shift": 0.0,
        "free_intercept": False,
        "uniform": False,
        "shrinks": True,
        "halved_from": np.inf,
        "seed": 4,
    }
    narrow, wide = (
        _native.Sdca(CsrRows(values, _native.Structure(indices.ravel(), indptr, columns)), columns, box, q, **options)
        for indices, columns in ((few, used), (place[few], d))
    )
    start = np.clip(0.01 * y, box.lower, box.upper)
    weights = np.bincount(few.ravel(), values * np.repeat(start, 60), minlength=used)
    for epoch in range(8):
        for sdca in (narrow, wide):
            if epoch == 5:  # the new numbers are known by now, and a start has none
                full = np.zeros(d)
                full[place] = weights
                sdca.resume(start, weights if sdca is narrow else full, 0.0, 0.0)
            sdca.step(n, 0.0)
        np.testing.assert_allclose(wide.beta, narrow.beta, atol=1e-12)
        np.testing.assert_allclose(wide.w[place], narrow.w, atol=1e-12)
        assert np.count_nonzero(wide.w) == np.count_nonzero(narrow.w)
