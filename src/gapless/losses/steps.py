"""Compiled one- and two-variable maximisers of the dual, one loop for every loss.

With f the current decision value (without intercept) of a sample and q its curvature in K, a step changes βᵢ alone, or βᵢ up and βⱼ down by the
same amount. ``hasattr(dual, "cost")`` tells the logistic entropy from the box, at compile time.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy", inline="always")
def dual_step(dual, i, f, beta, q):
    """The βᵢ that maximises the dual along coordinate i, where f = (Kβ)ᵢ and q = Kᵢᵢ; with q = L a projected gradient step.

    Box: clip(soft(p − f + qβ, ε) / (q + d)). Logistic: the root of t = y f + q c (σ(−t) − a), a = yβ/c, by Newton inside a bracket.
    """
    if hasattr(dual, "cost"):
        return _entropy_step(dual.y[i], dual.cost[i], f, beta, q)
    else:
        target = dual.p[i] - f + q * beta
        curvature = q + dual.d[i]
        epsilon = dual.epsilon[i]
        if target > epsilon:
            target -= epsilon
        elif target < -epsilon:
            target += epsilon
        elif curvature > 0.0 or epsilon > 0.0:
            target = 0.0
        else:
            return beta
        if curvature > 0.0:
            new = target / curvature
        elif target == 0.0:
            new = 0.0
        else:
            new = np.inf if target > 0.0 else -np.inf
        new = min(max(new, dual.lower[i]), dual.upper[i])
        # An unbounded coordinate (xᵢ = 0 under a hard margin) is a ray: it stays, and the separability test reports it.
        return new if math.isfinite(new) else beta


@njit(cache=True, error_model="numpy")
def _entropy_step(y, cost, f, beta, q):
    if cost <= 0.0:
        return 0.0
    a = y * beta / cost
    pull = q * cost
    low = y * f - pull * a
    high = y * f + pull * (1.0 - a)
    t = y * f
    last = high - low
    for _ in range(200):
        s = 1.0 / (1.0 + math.exp(min(t, 700.0)))
        h = t - y * f - pull * (s - a)
        if h > 0.0:
            high = t
        else:
            low = t
        new = t - h / (1.0 + pull * s * (1.0 - s))
        if not (low <= new <= high) or abs(new - t) > 0.5 * last:  # Newton must halve its steps, or it may cycle
            new = 0.5 * (low + high)
        last = abs(new - t)
        t = new
        if last <= 1e-15 * (1.0 + abs(t)):
            break
    return y * cost / (1.0 + math.exp(min(t, 700.0)))


@njit(cache=True, error_model="numpy", inline="always")
def dual_of(dual, i, f):
    """−cᵢ ℓ′(yᵢ, f): the β that a decision value f calls for (a sub-gradient; zero at a kink)."""
    if hasattr(dual, "cost"):
        return dual.y[i] * dual.cost[i] / (1.0 + math.exp(min(dual.y[i] * f, 700.0)))
    else:
        return dual_step(dual, i, f, 0.0, 0.0)


@njit(cache=True, error_model="numpy", inline="always")
def rise_slope(dual, i, beta):
    """The derivative of the separable part as βᵢ rises; −inf at the upper bound, where it can't."""
    if hasattr(dual, "cost"):
        if dual.cost[i] <= 0.0:
            return -np.inf
        a = dual.y[i] * beta / dual.cost[i]
        return dual.y[i] * (math.log(max(1.0 - a, 1e-300)) - math.log(max(a, 1e-300)))
    else:
        if beta >= dual.upper[i]:
            return -np.inf
        return dual.p[i] - dual.d[i] * beta - (dual.epsilon[i] if beta >= 0.0 else -dual.epsilon[i])


@njit(cache=True, error_model="numpy", inline="always")
def fall_slope(dual, i, beta):
    """The derivative of the separable part as βᵢ falls; +inf at the lower bound, where it can't."""
    if hasattr(dual, "cost"):
        if dual.cost[i] <= 0.0:
            return np.inf
        a = dual.y[i] * beta / dual.cost[i]
        return dual.y[i] * (math.log(max(1.0 - a, 1e-300)) - math.log(max(a, 1e-300)))
    else:
        if beta <= dual.lower[i]:
            return np.inf
        return dual.p[i] - dual.d[i] * beta - (dual.epsilon[i] if beta > 0.0 else -dual.epsilon[i])


@njit(cache=True, error_model="numpy", inline="always")
def bend(dual, i, beta, rises):
    """The curvature of the separable part that a step of βᵢ meets, for the second-order choice of what to move.

    The entropy bends without bound at its ends: a step towards the nearer end meets that, a step away from it soon meets the least, 4/c.
    """
    if hasattr(dual, "cost"):
        if dual.cost[i] <= 0.0:
            return 0.0
        a = dual.y[i] * beta / dual.cost[i]
        outward = (a < 0.5) != (rises == (dual.y[i] > 0.0))
        return 1.0 / (dual.cost[i] * max(a * (1.0 - a), 1e-300)) if outward else 4.0 / dual.cost[i]
    else:
        return dual.d[i]


@njit(cache=True, error_model="numpy")
def pair_step(dual, i, j, f_i, f_j, beta_i, beta_j, eta):
    """(βᵢ, βⱼ) after the best rise of βᵢ and equal fall of βⱼ, where η = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ > 0.

    Box: the slope is piecewise linear, with kinks where a variable passes zero (ε > 0): at most three pieces. Logistic: bisection guards Newton.
    """
    if hasattr(dual, "cost"):
        room = min(dual.upper[i] - beta_i, beta_j - dual.lower[j])
        low, high = 0.0, room
        delta = 0.5 * room
        last = room
        for _ in range(200):
            slope = (
                rise_slope(dual, i, beta_i + delta) - fall_slope(dual, j, beta_j - delta) - (f_i - f_j) - eta * delta
            )
            if slope > 0.0:
                low = delta
            else:
                high = delta
            a_i = dual.y[i] * (beta_i + delta) / dual.cost[i]
            a_j = dual.y[j] * (beta_j - delta) / dual.cost[j]
            bend_i = 1.0 / (dual.cost[i] * max(a_i * (1.0 - a_i), 1e-300))
            bend_j = 1.0 / (dual.cost[j] * max(a_j * (1.0 - a_j), 1e-300))
            new = delta + slope / (eta + bend_i + bend_j)
            if not (low < new < high) or abs(new - delta) > 0.5 * last:
                new = 0.5 * (low + high)
            last = abs(new - delta)
            delta = new
            if last <= 1e-15 * room:
                break
        return beta_i + delta, beta_j - delta
    else:
        for _ in range(4):
            curvature = eta + dual.d[i] + dual.d[j]
            slope = rise_slope(dual, i, beta_i) - fall_slope(dual, j, beta_j) - (f_i - f_j)
            if not slope > 0.0:
                break
            delta = slope / curvature
            room_i = dual.upper[i] - beta_i
            room_j = beta_j - dual.lower[j]
            limit = min(room_i, room_j)
            if dual.epsilon[i] > 0.0 and beta_i < 0.0:
                limit = min(limit, -beta_i)
            if dual.epsilon[j] > 0.0 and beta_j > 0.0:
                limit = min(limit, beta_j)
            done = delta < limit or limit in (room_i, room_j)
            delta = min(delta, limit)
            # Bounds are met exactly, so that "at the bound" is a comparison and not a tolerance.
            beta_i = dual.upper[i] if delta == room_i else beta_i + delta
            beta_j = dual.lower[j] if delta == room_j else beta_j - delta
            if done:
                break
            f_i, f_j = f_i + 0.5 * eta * delta, f_j - 0.5 * eta * delta
        return beta_i, beta_j
