"""The compiled parts of the interior-point method against the same in plain NumPy, at every instruction set."""

from __future__ import annotations

import numpy as np
import pytest

from gapless import _native
from gapless.losses import DualBox
from tests.native.test_newton import best_term, box_of, level, term  # noqa: F401


def halves_of(box: DualBox, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(sign, target, price) of each half, a row a kind."""
    sign = np.stack([np.ones_like(box.p), -np.ones_like(box.p)])
    return sign, sign * box.p - box.epsilon, factor * np.stack([box.upper, -box.lower])


class Twin:
    """The barrier method as barrier.hpp states it, on dense arrays."""

    def __init__(self, A, box, factor, rho, g, w, width):
        self.A, self.rho, self.g, self.w = A, rho, g, w.copy()
        self.sign, self.target, self.price = halves_of(box, factor)
        self.bend = np.broadcast_to(box.d / factor, self.price.shape)
        self.f = A @ w
        r = self.target - self.sign * self.f
        # u − ξ = dα − r with width/u + width/ξ = 1 and α = c width/u, by halving u, of which the former rises
        low, high = np.full_like(r, width), np.full_like(r, 1e9)
        for _ in range(200):
            self.u = 0.5 * (low + high)
            with np.errstate(divide="ignore"):
                above = self.u - width * self.u / (self.u - width) - self.bend * self.price * width / self.u > -r
            low, high = np.where(above, low, self.u), np.where(above, self.u, high)
        self.alpha = self.price * width / self.u
        self.x = self.u + r - self.bend * self.alpha

    def iterate(self):
        """One predictor and one corrector step, by the full Newton system of each half."""
        c, a, u, x, A = self.price, self.alpha, self.u, self.x, self.A
        s = c - a
        some = c > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            T = np.where(some, 1.0 / (u / a + x / s + self.bend), 0.0)
        H = A.T @ (T.sum(axis=0)[:, None] * A) + np.diag(self.rho)
        base = self.g - self.rho * self.w

        def direction(second_u, second_x):
            # u da + a du = second_u − ua,  −x da + s dx = second_x − xs,  σ df + d da = du − dx
            short = self.target - self.sign * self.f - self.bend * a
            with np.errstate(divide="ignore", invalid="ignore"):
                q = np.where(some, short + second_u / a - second_x / s, 0.0)
            dw = np.linalg.solve(H, base + A.T @ (self.sign * (a + T * q)).sum(axis=0))
            da = T * (q - self.sign * (A @ dw))
            with np.errstate(divide="ignore", invalid="ignore"):
                du = np.where(some, (second_u - u * da) / a - u, 0.0)
                dx = np.where(some, (second_x + x * da) / s - x, 0.0)
            return dw, da, du, dx

        def reach(da, du, dx):
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = [np.where(some, v, 0.0) for v in (-da / a, da / s, -du / u, -dx / x)]
            return 1.0 / max(float(np.max(shares)), 1e-300)

        _, da, du, dx = direction(0.0 * u, 0.0 * x)
        t = min(1.0, reach(da, du, dx))
        zero = (u * a + x * s)[some].sum()
        ahead = ((u + t * du) * (a + t * da) + (x + t * dx) * (s - t * da))[some].sum()
        mu = (max(ahead, 0.0) / zero) ** 3 * zero / (2.0 * c.sum())
        dw, da, du, dx = direction(c * mu - du * da, c * mu + dx * da)
        t = min(1.0, 0.995 * reach(da, du, dx))
        self.w, self.f = self.w + t * dw, self.f + t * (A @ dw)
        self.alpha, self.u, self.x = a + t * da, u + t * du, x + t * dx


@pytest.mark.parametrize("n", [37, 9000])  # the longer is cut in pieces
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("bent", [False, True])
def test_the_barrier_takes_the_steps_of_its_equations(n, two, bent):
    rng = np.random.default_rng(n)
    A, c = np.hstack([rng.normal(size=(n, 5)), np.ones((n, 1))]), rng.random(n)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    zero = np.zeros(n)
    box = DualBox(y, zero, zero, np.minimum(c * y, 0.0), np.maximum(c * y, 0.0))
    if two:
        c[::9] = 0.0
        box = DualBox(rng.normal(size=n), np.full(n, 0.2), zero, -c, 2.0 * c)
    if bent:
        box = box._replace(d=3.0 * rng.random(n))
    factor, rho, g, w = 1.0 + rng.random(n), np.append(np.ones(5), 0.0), rng.normal(size=6), rng.normal(size=6)
    barrier, twin = _native.Barrier(A, box, factor, rho, g, 0.0, w, 2.0), Twin(A, box, factor, rho, g, w, 2.0)
    for _ in range(6):
        used = twin.price > 0
        beta = (twin.sign * twin.alpha).sum(axis=0)
        np.testing.assert_allclose(barrier.w, twin.w, rtol=1e-7)
        np.testing.assert_allclose(barrier.f, twin.f, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(barrier.beta(), beta, rtol=1e-6, atol=1e-9)
        if two:
            for name, own in (("alpha", twin.alpha), ("surplus", twin.u), ("slack", twin.x)):
                found = getattr(barrier, name).reshape(2, n)
                np.testing.assert_allclose(found[used], own[used], rtol=1e-5, atol=1e-9)
        r = np.maximum(0.0, twin.target - twin.sign * twin.f)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(twin.bend > 0, np.minimum(twin.price, r / twin.bend), twin.price)
        losses = (best * r - 0.5 * twin.bend * best**2).sum()
        assert barrier.value == pytest.approx(0.5 * rho @ twin.w**2 - g @ twin.w + losses, rel=1e-8)
        barrier.iterate()
        twin.iterate()
    assert not barrier.stuck


def test_the_sides_of_kinks():
    rng = np.random.default_rng(0)
    n = 400
    box = box_of(n, rng)
    f, df = rng.normal(size=n), rng.normal(size=n)
    f[:5] = box.p[:5] - box.epsilon[:5]  # at a kink
    e = box.p - f
    best = np.where(e > box.epsilon, box.upper, np.where(e < -box.epsilon, box.lower, 0.0))
    beta = np.where(rng.random(n) < 0.5, best, rng.uniform(box.lower, box.upper))

    phi = best_term(box, f)
    expected = (phi - term(box, box.p, box.d, f, beta)).sum()
    assert _native.fenchel_gap(box, f, beta) == pytest.approx(expected, rel=1e-12)
    bent = box._replace(d=np.full(n, 0.7))
    expected = (best_term(bent, f) - term(bent, box.p, bent.d, f, beta)).sum()
    assert _native.fenchel_gap(bent, f, beta) == pytest.approx(expected, rel=1e-12)

    found, distance = np.empty(n), np.empty(n)
    _native.survey_kinks(box, f, found, distance)
    np.testing.assert_array_equal(found[5:], best[5:])
    near = np.minimum(
        np.where(box.upper > 0, np.abs(e - box.epsilon), np.inf),
        np.where(box.lower < 0, np.abs(e + box.epsilon), np.inf),
    )
    np.testing.assert_allclose(distance, near, atol=1e-15)

    wrong = np.empty(n, dtype=bool)
    _native.wrong_side(box, f, beta, wrong)
    np.testing.assert_array_equal(wrong, (beta != best) & (np.abs(np.abs(e) - box.epsilon) > 1e-14))

    h = 1e-7
    for t in (0.0, 0.3):
        slope = (best_term(box, f + (t + h) * df) - best_term(box, f + (t - h) * df)) / (2 * h)
        smooth = np.abs(np.abs(e - t * df) - box.epsilon) > 1e-6
        masked = np.where(smooth, df, 0.0)
        assert _native.loss_slope(box, f + t * (df - masked), masked, t) == pytest.approx(slope[smooth].sum(), rel=1e-5)


def test_the_pieces_of_the_prox():
    rng = np.random.default_rng(1)
    n = 300
    box, gamma = box_of(n, rng), 0.5 + rng.random(n)
    f, beta, piece = rng.normal(size=n), rng.normal(size=n), np.empty(n, dtype=np.int8)
    _native.kink_pieces(box, f, beta, gamma, piece)
    v, edge = beta + gamma * (box.p - f), gamma * box.epsilon
    prox = np.clip(np.sign(v) * np.maximum(np.abs(v) - edge, 0.0), box.lower, box.upper)
    both = (box.lower < 0) & (box.upper > 0)
    np.testing.assert_array_equal(prox[piece == 2], box.upper[piece == 2])
    np.testing.assert_array_equal(prox[piece == -2], box.lower[piece == -2])
    np.testing.assert_array_equal(prox[piece == 0], 0.0)
    between = np.abs(piece) == 1
    assert ((prox[between] > box.lower[between]) & (prox[between] < box.upper[between])).all()
    assert {-2, -1, 0, 1, 2} <= set(piece[both].tolist())
