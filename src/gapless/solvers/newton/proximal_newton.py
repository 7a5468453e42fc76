"""The second-order end of a linear solve: augmented Lagrangians by semismooth Newton steps (Li, Sun & Toh 2018; Yan & Li 2020).

Each outer round solves the dual with −½ Σ ρᵢ(βᵢ − cᵢ)² added, c being the last β. Its primal is smooth,

    φ(w, b) = ½‖w‖² (+ ½ b²/s²) + Σ hᵢ(fᵢ),   hᵢ(f) = max over the box of (pᵢ + ρᵢcᵢ − f)β − εᵢ|β| − ½(dᵢ + ρᵢ)β²,

and quadratic between kinks: Newton steps on I + X_Jᵀ diag(1/(d + ρ)) X_J end it, where J are the few rows whose β is strictly between its bounds
(and off zero, inside a tube). A loss that is smooth by itself (d > 0) needs no ρ and one round. A free intercept is one more
coordinate of φ without a penalty, whose derivative −Σβ the steps bring to zero. Nothing here is slower for a large C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from gapless.data.rows import DenseRows, Rows, arrays_add, arrays_dot, arrays_of, row_entries
from gapless.losses import DualBox
from gapless.problems.problem import Problem
from gapless.solvers.interior_point.mehrotra import factored
from gapless.solvers.newton.newton import _beta_at, _inverse, line_search
from gapless.solvers.newton.sparse_gram import sparse_gram
from gapless.solvers.newton.two_threads import by_halves

# The widest hinge's corner, as a share of its unit margin, that ρ rounds in the first round, and what each round leaves of it.
_WIDTH, _NARROWER, _LEAST = 1.0, 0.5, 1e-2
# Newton's matrix is formed up to this many features; above, conjugate gradients only multiply by it.
_DENSE = 1500
_CG_STEPS = 200
_TWO_THREADS = 400_000  # entries of X from which a second thread pays
# A round ends when its own gap is at most so many times what the round's centre still costs.
_INNER = 2.0
_MOST_STEPS = 500


def covers(problem: Problem) -> bool:
    """Whether every row's β is bounded, or its dual bends: what a Newton step on φ needs. A hard margin has neither."""
    dual = problem.dual
    return isinstance(dual, DualBox) and bool((np.isfinite(dual.upper - dual.lower) | (dual.d > 0)).all())


def expected_work(problem: Problem, rows: Rows) -> float:
    """What a solve is likely to cost, in entries touched: some steps, of which each passes over all rows and forms (or multiplies by) its matrix."""
    n, d, entries = problem.n_samples, problem.n_features, row_entries(rows)
    assert isinstance(problem.dual, DualBox)
    smooth = bool(problem.dual.d.any())
    if d <= _DENSE:
        steps, inside = (6, 0.6 * n) if smooth else (16, 0.05 * n)
        return steps * (n * (entries + 4) + 0.5 * inside * entries**2 + d**3 / 60)
    # With more features than that, many rows are inside, and their matrix is conditioned as badly as the epochs' own problem: that is worth
    # the few steps of a smooth loss, not one of them for each round.
    return 5 * n * (3 * entries + 10 + _CG_STEPS * 2 * 0.4 * entries) if smooth else math.inf


@dataclass
class ProximalNewton:
    """One such solve under way. ``step`` makes one Newton step; ``gap`` and ``primal`` are its own reckoning, not a certificate."""

    problem: Problem
    rows: Rows
    beta: np.ndarray
    w: np.ndarray
    b: float
    width: float = _WIDTH
    gap: float = np.inf
    primal: float = np.inf
    work: float = 0.0
    steps: int = 0
    idle: int = 0

    def __post_init__(self) -> None:
        problem = self.problem
        assert isinstance(problem.dual, DualBox)
        self.box = problem.dual
        self.arrays = arrays_of(self.rows)
        room = self.box.upper - self.box.lower
        self.per_width = np.where(room > 0, 1.0 / np.maximum(room, 1e-300), 1.0)
        self.smooth = bool(((self.box.d > 0) | (room == 0)).all())
        # 1/s² of the intercept: zero where it is free, and no coordinate where there is none.
        self.price = {"none": np.inf, "free": 0.0, "regularized": 1.0 / max(problem.shift, 1e-300)}[problem.intercept]
        self.center = self.beta.copy()
        self.f = self._decide(self.w, self.b)
        self.inside = np.empty(problem.n_samples, dtype=np.uint32)
        self.v = np.zeros(problem.n_features)
        self.found = self.beta  # what ``gap`` is about, not yet the answer of the next round
        self._begin()

    @property
    def stuck(self) -> bool:
        """Whether it has nothing left to offer."""
        return self.idle >= 3 or self.steps >= _MOST_STEPS

    def _begin(self) -> None:
        """Start a round: β answers f anew, and v = Xᵀβ."""
        self.rho = np.zeros_like(self.per_width) if self.smooth else self.width * self.per_width
        box = self.box
        self.bent = DualBox(box.p + self.rho * self.center, box.epsilon, box.d + self.rho, box.lower, box.upper)
        self.inverse = _inverse(self.bent)
        self.beta = self.beta.copy()
        self.count = respond(*self.bent, self.inverse, self.f, self.beta, self.inside)
        self.v[:] = 0.0
        add_rows(*self.arrays, self.beta, np.zeros_like(self.beta), self.v)
        self.work += 2 * len(self.f) * row_entries(self.rows)

    def _decide(self, w: np.ndarray, b: float) -> np.ndarray:
        """Xw + b."""
        f = np.empty(self.problem.n_samples)
        large = len(f) * row_entries(self.rows) >= _TWO_THREADS
        by_halves(lambda part: decide(*self.arrays, w, b, part.start, part.stop, f), f, large)
        return f

    def step(self) -> None:
        """One Newton step with its line search; then, where the round is solved well enough, the next round."""
        price = 0.0 if np.isinf(self.price) else self.price
        with_b = not np.isinf(self.price)
        g = self.w - self.v
        g_b = price * self.b - float(self.beta.sum()) if with_b else 0.0
        J = self.inside[: self.count]
        self.steps += 1
        d_w, d_b = self._direction(J, self.inverse[J], g, g_b, price, with_b)
        d_f = self._decide(d_w, d_b)
        linear, square = float(self.w @ d_w) + price * self.b * d_b, float(d_w @ d_w) + price * d_b * d_b
        t = line_search(self.bent, self.inverse, self.f, d_f, linear, square, -float(g @ d_w) - g_b * d_b)
        self.idle = 0 if t > 0 else self.idle + 1
        self.w = self.w + t * d_w
        self.b += t * d_b
        self.f += t * d_f
        last = self.beta.copy()
        self.count = respond(*self.bent, self.inverse, self.f, self.beta, self.inside)
        add_rows(*self.arrays, self.beta, last, self.v)
        self.found = self.beta
        self._judge(price, with_b)
        self.work += len(self.f) * (row_entries(self.rows) + 4.0)

    def _judge(self, price: float, with_b: bool) -> None:
        """Reckon the gap; end the round where its own gap is small beside the distance that the round went."""
        total = float(self.beta.sum())
        away = self.w - self.v
        inner = 0.5 * float(away @ away)
        if with_b and price > 0:
            inner += 0.5 * price * (self.b - total / price) ** 2
        fenchel, loss = reckon(self.box, self.f, self.beta)
        self.primal = 0.5 * float(self.w @ self.w) + 0.5 * price * self.b**2 + loss
        self.gap = fenchel + inner + (abs(self.b * total) if with_b and price == 0 else 0.0)
        went = 0.5 * float((self.rho * (self.beta - self.center) ** 2).sum())
        if not self.smooth and (self.idle or inner <= _INNER * went + 1e-12 * self.primal):
            self.center = self.beta.copy()
            self.width *= _NARROWER if self.width > _LEAST else _NARROWER**0.5
            self._begin()

    def _direction(self, J, weight, g, g_b, price, with_b):
        d = len(g)
        entries = row_entries(self.rows)
        price += 1e-12 * (1.0 + float(weight.sum()))  # where no row is inside, nothing else holds a free intercept
        if d <= _DENSE:
            if isinstance(self.rows, DenseRows):
                H = np.zeros((d + 1, d + 1))
                dense_gram(self.rows.values, J, weight, H)
            else:
                H = sparse_gram(self.rows, J, weight, d + 1, ones=True)
            self.work += 0.5 * len(J) * entries**2 + d**3 / 60
            size = d + 1 if with_b else d
            ridge = np.ones(size)
            if with_b:
                ridge[d] = price
            solution = factored(H[:size, :size], ridge)(-np.append(g, g_b)[:size])
            return solution[:d], float(solution[d]) if with_b else 0.0
        diagonal = np.ones(d + 1)
        squares(*self.arrays, J, weight, diagonal)
        diagonal[d] = price + float(weight.sum())
        x, r = np.zeros(d + 1), -np.append(g, g_b if with_b else 0.0)
        first = float(np.sqrt(r @ (r / diagonal)))
        if first == 0.0:
            return x[:d], 0.0
        z = r / diagonal
        p, rz = z.copy(), float(r @ z)
        out = np.empty(d + 1)
        for _ in range(_CG_STEPS):
            multiply(*self.arrays, J, weight, p, out)
            out[d] = out[d] + price * p[d] if with_b else p[d]
            if not with_b:
                p[d] = 0.0
            alpha = rz / float(p @ out)
            x += alpha * p
            r -= alpha * out
            z = r / diagonal
            last, rz = rz, float(r @ z)
            self.work += 2 * len(J) * entries + d
            if np.sqrt(rz) <= max(0.1 * min(1.0, first), 1e-14) * first:
                break
            p = z + (rz / last) * p
        return x[:d], float(x[d]) if with_b else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def decide(values, indices, indptr, w, b, begin, end, f):
    """f = Xw + b of some rows, writing f."""
    for i in range(begin, end):
        f[i] = arrays_dot(values, indices, indptr, i, w) + b


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(values, indices, indptr, beta, last, v):
    """v += Xᵀ(β − last), writing v; rows that did not move cost nothing."""
    for i in range(len(beta)):
        change = beta[i] - last[i]
        if change != 0.0:
            arrays_add(values, indices, indptr, i, change, v)


@njit(cache=True, nogil=True, error_model="numpy")
def respond(p, epsilon, d, lower, upper, inverse, f, beta, inside):
    """β of all rows at f, and the rows strictly inside; writes beta and inside, returns how many these are."""
    for i in range(len(f)):
        beta[i] = _beta_at(p[i] - f[i], epsilon[i], inverse[i], lower[i], upper[i])
    count = 0
    for i in range(len(f)):
        inside[count] = i
        count += lower[i] < beta[i] < upper[i] and (beta[i] != 0.0 or epsilon[i] == 0.0)
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def reckon(box, f, beta):
    """(Σ of the Fenchel gaps at f, Σ of the losses)."""
    gap, loss = 0.0, 0.0
    p, epsilons, d, lower, upper = box.p, box.epsilon, box.d, box.lower, box.upper
    for i in range(len(f)):
        slope, epsilon, bend = p[i] - f[i], epsilons[i], d[i]
        pull = max(slope - epsilon, 0.0) + min(slope + epsilon, 0.0)
        end = upper[i] if pull > 0.0 else (lower[i] if pull < 0.0 else 0.0)
        ideal = min(max(pull / bend, lower[i]), upper[i]) if bend > 0.0 else end
        best = slope * ideal - epsilon * abs(ideal) - 0.5 * bend * ideal * ideal
        loss += best
        gap += best - slope * beta[i] + epsilon * abs(beta[i]) + 0.5 * bend * beta[i] * beta[i]
    return gap, loss


@njit(cache=True, nogil=True, error_model="numpy")
def dense_gram(X, J, weight, H):
    """[X_J, 1]ᵀ diag(weight) [X_J, 1], added to H."""
    d = X.shape[1]
    for k in range(len(J)):
        x, t = X[J[k]], weight[k]
        for a in range(d):
            scaled = t * x[a]
            H[d, a] += scaled
            for c in range(a + 1):
                H[a, c] += scaled * x[c]
        H[d, d] += t
    for a in range(d + 1):
        for c in range(a):
            H[c, a] = H[a, c]


@njit(cache=True, nogil=True, error_model="numpy")
def squares(values, indices, indptr, J, weight, out):
    """out += Σ over J of weight · x², entry by entry; the last entry of out is left alone."""
    d = len(out) - 1
    for k in range(len(J)):
        i = np.int64(J[k])
        if len(indptr) == 0:
            for j in range(d):
                out[j] += weight[k] * values[i * d + j] ** 2
        else:
            for a in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                out[indices[a]] += weight[k] if len(values) == 0 else weight[k] * values[a] ** 2


@njit(cache=True, nogil=True, error_model="numpy")
def multiply(values, indices, indptr, J, weight, p, out):
    """out = (I + [X_J, 1]ᵀ diag(weight) [X_J, 1]) p, the last entry without the I; writes out."""
    d = len(p) - 1
    out[:] = p
    out[d] = 0.0
    head, sums = p[:d], out[:d]
    for k in range(len(J)):
        i = np.int64(J[k])
        value = weight[k] * (arrays_dot(values, indices, indptr, i, head) + p[d])
        arrays_add(values, indices, indptr, i, value, sums)
        out[d] += value
