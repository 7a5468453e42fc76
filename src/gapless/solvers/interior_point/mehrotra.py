"""Mehrotra's predictor–corrector method for a sum of hinges, on a matrix of few columns.

    min over w of  ½ Σ ρⱼ wⱼ² − gᵀw + Σ over halves c max(0, t − σ ⟨a, w⟩)

A row a of A has one or two halves (σ = +1 or −1), a price c and a target t each: the hinge is one half, the ε-insensitive loss two. With the
surplus u, the slack ξ and the multiplier α of a half, σf − t = u − ξ, and on the central path u α = ξ (c − α) = cμ. Eliminating all of them leaves

    (diag ρ + AᵀTA) dw = g − ρ∘w + Aᵀ(β + σTq),   T = 1/(u/α + ξ/(c − α)),   dα = T (q − σ A dw),

so that an iteration costs one weighted AᵀA, four products with A, and a factorisation whose size is the number of columns.
Mehrotra 1992; Ferris & Munson 2003 for support vector machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.linalg.lapack
from numba import njit

from gapless.losses import DualBox
from gapless.solvers.newton.two_threads import by_halves, times, transposed_times

_BOUNDARY = 0.995  # share of the way to the nearest bound that a step may go
GRAM_FLOPS = 2_000_000  # multiplications of AᵀTA from which a second thread pays
_PANEL = 1 << 18  # entries of A scaled at a time for AᵀTA: 2 MiB, which stay in the cache


class Halves(NamedTuple):
    """Signs, targets and prices, one row for each half, one column for each sample. A price of zero is no half."""

    sign: np.ndarray
    target: np.ndarray
    price: np.ndarray


def halves_of(dual: DualBox, part: np.ndarray | slice, factor: float | np.ndarray = 1.0) -> Halves:
    """The hinges whose conjugate is a box: upper · max(0, p − ε − f) − lower · max(0, f − p − ε), prices times ``factor``."""
    p, epsilon, lower, upper = (v[part] for v in (dual.p, dual.epsilon, dual.lower, dual.upper))
    if not ((upper > 0) & (lower < 0)).any():
        sign = np.where(lower < 0, -1.0, 1.0)
        return Halves(sign[None], (sign * p - epsilon)[None], factor * np.maximum(upper, -lower)[None])
    sign = np.ones((2, len(p)))
    sign[1] = -1.0
    return Halves(sign, np.stack([p - epsilon, -p - epsilon]), factor * np.stack([upper, -lower]))


@dataclass
class Barrier:
    """A problem of this form and its iterate; ``constant`` is what its value lacks of the whole problem's."""

    A: np.ndarray
    rho: np.ndarray
    g: np.ndarray
    halves: Halves
    constant: float
    w: np.ndarray
    f: np.ndarray
    alpha: np.ndarray
    surplus: np.ndarray
    slack: np.ndarray
    infeasible: float = 1.0  # how much of the first residual of stationarity is left
    residual: float = np.inf  # that residual, as a share of the gap
    gap: float = np.inf
    value: float = np.nan
    stuck: bool = False
    panels: list[np.ndarray] = field(default_factory=list, repr=False)

    @classmethod
    def start(
        cls, A: np.ndarray, rho: np.ndarray, g: np.ndarray, halves: Halves, constant: float, w: np.ndarray, width: float
    ) -> Barrier:
        """From w, with all halves centred as if μ were ``width``: their residual of feasibility is zero."""
        f = times(A, w)
        alpha, surplus, slack = (np.empty(halves.sign.shape) for _ in range(3))
        _centre(halves, f, width, alpha, surplus, slack)
        self = cls(A, rho, g, halves, constant, w.copy(), f, alpha, surplus, slack)
        short = rho * w - g - transposed_times(A, self.beta)
        bounded = rho > 0
        self.residual = 0.5 * float((short[bounded] ** 2 / rho[bounded]).sum())
        self.residual += float(np.abs(short[~bounded]).sum()) * width
        self.measure()
        return self

    @property
    def beta(self) -> np.ndarray:
        """β = Σ σα over a sample's halves."""
        return (self.halves.sign * self.alpha).sum(axis=0)

    def measure(self) -> None:
        """Estimate P − D, by what complementarity lacks and the residual of stationarity, and take the whole problem's objective."""
        lacking, loss = _measure(self.halves, self.f, self.alpha, self.surplus, self.slack)
        self.gap = lacking + self.infeasible * self.residual
        self.value = 0.5 * float(self.rho @ self.w**2) - float(self.g @ self.w) + self.constant + loss

    @property
    def share(self) -> float:
        """The gap relative to the objective."""
        return self.gap / max(abs(self.value), np.finfo(float).tiny)

    @property
    def mu(self) -> float:
        """The μ of the central path that the iterate is about at."""
        return self.gap / max(2.0 * float(self.halves.price.sum()), np.finfo(float).tiny)

    def iterate(self) -> None:
        """One predictor and one corrector step."""
        A, halves = self.A, self.halves
        m = len(A)
        weight, rhs, shape = np.empty(m), np.empty(m), halves.sign.shape
        iterate = (self.alpha, self.surplus, self.slack)
        _predictor_terms(halves, self.f, *iterate, weight, rhs)
        base = self.g - self.rho * self.w
        solve = factored(weighted_gram(A, weight, self.panels), self.rho)
        aimed = times(A, solve(base + transposed_times(A, rhs)))
        reach, zero, two, total = _predict(halves, self.f, aimed, *iterate)
        ahead = (1.0 - reach) * zero + reach * reach * two
        mu = (max(ahead, 0.0) / zero) ** 3 * zero / total
        _corrector_terms(halves, self.f, aimed, mu, *iterate, rhs)
        dw = solve(base + transposed_times(A, rhs))
        df = times(A, dw)
        moves = (np.empty(shape), np.empty(shape), np.empty(shape))
        step = min(1.0, _BOUNDARY * _correct(halves, self.f, aimed, df, mu, *iterate, *moves))
        if not (np.isfinite(dw).all() and step > 1e-6):
            self.stuck = True
            return
        self.w += step * dw
        self.f += step * df
        _move(halves, step, *iterate, *moves)
        self.infeasible *= (1.0 - step) ** 2
        self.measure()


def weighted_gram(A: np.ndarray, weight: np.ndarray, panels: list[np.ndarray] | None = None) -> np.ndarray:
    """AᵀTA for a diagonal T ≥ 0. ``panels`` keeps its buffers from one call to the next, since fresh memory is slow at first."""
    p = A.shape[1]
    step = max(1, _PANEL // p)
    rooms = [] if panels is None else panels
    while len(rooms) < 2:
        rooms.append(np.empty((0, p)))

    def of(rows: slice) -> np.ndarray:
        place, size = int(rows.start > 0), min(step, rows.stop - rows.start)
        if len(rooms[place]) < size:
            rooms[place] = np.empty((size, p))
        scaled = rooms[place]
        total: np.ndarray | None = None
        for begin in range(rows.start, rows.stop, step):
            end = min(begin + step, rows.stop)
            panel = scaled[: end - begin]
            _scale(A[begin:end], weight[begin:end], panel)
            product = panel.T @ panel
            total = product if total is None else total + product
        return np.zeros((p, p)) if total is None else total

    first, *second = by_halves(of, A, A.size * p >= GRAM_FLOPS)
    return first + second[0] if second else first


def factored(H: np.ndarray, rho: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function that solves (H + diag ρ) x = r. Columns are first brought to one scale; a singular H gets the least ridge that helps."""
    diagonal = H.diagonal() + rho
    unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    ridge = 0.0
    while True:
        scaled = H * unit
        scaled *= unit[:, None]
        scaled.ravel()[:: len(scaled) + 1] += rho * unit**2 + ridge
        # LAPACK itself, in place: SciPy's wrappers around it take longer than the factorisation of a small matrix.
        factor, failed = scipy.linalg.lapack.dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
        if not failed:
            break
        ridge = max(1e-14, 100.0 * ridge)
        if ridge > 1.0:
            return lambda r: np.full_like(r, np.nan)
    return lambda r: unit * scipy.linalg.lapack.dpotrs(factor, unit * r, lower=1)[0]


@njit(cache=True, nogil=True, error_model="numpy")
def _scale(A, weight, out):
    """√T A; writes out."""
    for i in range(A.shape[0]):
        root = np.sqrt(weight[i])
        for j in range(A.shape[1]):
            out[i, j] = root * A[i, j]


@njit(cache=True, nogil=True, error_model="numpy")
def _centre(halves, f, width, alpha, surplus, slack):
    """u, ξ and α of a central path for given decisions: u α = ξ (c − α) = c · width and σf − t = u − ξ."""
    for h in range(halves.sign.shape[0]):
        for i in range(len(f)):
            c = halves.price[h, i]
            r = halves.target[h, i] - halves.sign[h, i] * f[i]
            # width/u + width/(u + r) = 1, the positive root that keeps u + r positive, without cancellation
            root = np.sqrt(r * r + 4.0 * width * width)
            if r > 0.0:
                slack[h, i] = 0.5 * (root + r) + width
                surplus[h, i] = width * slack[h, i] / (slack[h, i] - width)
            else:
                surplus[h, i] = 0.5 * (root - r) + width
                slack[h, i] = width * surplus[h, i] / (surplus[h, i] - width)
            alpha[h, i] = c * width / surplus[h, i]


# With s = c − α and e = us + ξα, T is αs/e, and of the affine direction dα = αs q/e, du = −u(1 + dα/α), dξ = −ξ(1 − dα/s): the loops below
# divide as rarely as they can, since divisions are most of what they cost.


@njit(cache=True, nogil=True, error_model="numpy")
def _measure(halves, f, alpha, surplus, slack):
    """(Σ uα + ξ(c − α), Σ c max(0, t − σf))."""
    lacking, loss = 0.0, 0.0
    for h in range(halves.sign.shape[0]):
        for i in range(len(f)):
            c, a = halves.price[h, i], alpha[h, i]
            lacking += surplus[h, i] * a + slack[h, i] * (c - a)
            loss += c * max(0.0, halves.target[h, i] - halves.sign[h, i] * f[i])
    return lacking, loss


@njit(cache=True, nogil=True, error_model="numpy")
def _predictor_terms(halves, f, alpha, surplus, slack, weight, rhs):
    """T and β + σTq of the affine step, whose q is the shortfall t − σf; writes weight and rhs."""
    for i in range(len(f)):
        weight[i] = 0.0
        rhs[i] = 0.0
    for h in range(halves.sign.shape[0]):
        for i in range(len(f)):
            c, a = halves.price[h, i], alpha[h, i]
            if c > 0.0:
                T = a * (c - a) / (surplus[h, i] * (c - a) + slack[h, i] * a)
                weight[i] += T
                rhs[i] += halves.sign[h, i] * (a + T * (halves.target[h, i] - halves.sign[h, i] * f[i]))


@njit(cache=True, nogil=True, error_model="numpy")
def _predict(halves, f, aimed, alpha, surplus, slack):
    """The step t to the nearest bound of the affine direction; Z and Q of its complementarity (1 − t) Z + t² Q; Z on the path at μ = 1."""
    blocking = 1.0
    zero, two, total = 0.0, 0.0, 0.0
    for h in range(halves.sign.shape[0]):
        for i in range(len(f)):
            c, a, u, x, sigma = halves.price[h, i], alpha[h, i], surplus[h, i], slack[h, i], halves.sign[h, i]
            if c > 0.0:
                s = c - a
                part = (halves.target[h, i] - sigma * (f[i] + aimed[i])) / (u * s + x * a)
                by_a, by_s = s * part, a * part  # dα/α, dα/s
                blocking = max(blocking, -by_a, 1.0 + by_a, by_s, 1.0 - by_s)
                zero += u * a + x * s
                two += a * by_a * (x * (1.0 - by_s) - u * (1.0 + by_a))
                total += 2.0 * c
    return 1.0 / blocking, zero, two, total


@njit(cache=True, nogil=True, error_model="numpy")
def _corrector_terms(halves, f, aimed, mu, alpha, surplus, slack, rhs):
    """β + σTq of the corrected direction towards μ; writes rhs."""
    for i in range(len(f)):
        rhs[i] = 0.0
    for h in range(halves.sign.shape[0]):
        for i in range(len(f)):
            c, a, u, x, sigma = halves.price[h, i], alpha[h, i], surplus[h, i], slack[h, i], halves.sign[h, i]
            if c > 0.0:
                s = c - a
                inverse = 1.0 / (u * s + x * a)
                short = halves.target[h, i] - sigma * f[i]
                part = (short - sigma * aimed[i]) * inverse
                da = a * s * part
                second_u, second_x = c * mu + u * (1.0 + s * part) * da, c * mu - x * (1.0 - a * part) * da
                rhs[i] += sigma * (a + (a * s * short + s * second_u - a * second_x) * inverse)


@njit(cache=True, nogil=True, error_model="numpy")
def _correct(halves, f, aimed, df, mu, alpha, surplus, slack, dalpha, dsurplus, dslack):
    """The step to the nearest bound; writes the corrected direction."""
    blocking = 1e-300
    for h in range(halves.sign.shape[0]):
        for i in range(len(f)):
            c, a, u, x, sigma = halves.price[h, i], alpha[h, i], surplus[h, i], slack[h, i], halves.sign[h, i]
            da, du, dx = 0.0, 0.0, 0.0
            if c > 0.0:
                s = c - a
                inverse = 1.0 / (u * s + x * a)
                short = halves.target[h, i] - sigma * f[i]
                part = (short - sigma * aimed[i]) * inverse
                da = a * s * part
                second_u, second_x = c * mu + u * (1.0 + s * part) * da, c * mu - x * (1.0 - a * part) * da
                by_a, by_s = 1.0 / a, 1.0 / s
                da = (a * s * (short - sigma * df[i]) + s * second_u - a * second_x) * inverse
                du = (second_u - u * da) * by_a - u
                dx = (second_x + x * da) * by_s - x
                blocking = max(blocking, -da * by_a, da * by_s)
                if -du > blocking * u:
                    blocking = -du / u
                if -dx > blocking * x:
                    blocking = -dx / x
            dalpha[h, i], dsurplus[h, i], dslack[h, i] = da, du, dx
    return 1.0 / blocking


@njit(cache=True, nogil=True, error_model="numpy")
def _move(halves, step, alpha, surplus, slack, dalpha, dsurplus, dslack):
    """Make a step; writes alpha, surplus and slack."""
    for h in range(halves.sign.shape[0]):
        for i in range(halves.sign.shape[1]):
            alpha[h, i] = min(alpha[h, i] + step * dalpha[h, i], halves.price[h, i])
            surplus[h, i] += step * dsurplus[h, i]
            slack[h, i] += step * dslack[h, i]
