"""Epochs of dual coordinate ascent, compiled: the order of visits, the exact steps, and shrinking (Hsieh et al. 2008, §3).

A sample at a bound whose slope points out of the box by more than anything moved in the last epoch is left out, and comes back with all others
as soon as the rest is nearly solved. While it visits, a sweep sums up the Fenchel gaps cᵢℓ(fᵢ) + cᵢℓ*(−βᵢ/cᵢ) + βᵢfᵢ, which are the duality gap
but for the moves in between: a guess that says when a certificate pays, and never replaces it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from gapless.data.rows import arrays_add, arrays_dot
from gapless.losses import DualBox, DualTerms
from gapless.losses.steps import dual_step
from gapless.solvers.textbook.sampling import _below, _draw, _shuffle

# Short rows are visited in shuffled buckets of so many neighbours, which the processor fetches ahead: no more of them, because neighbours in a
# file are often alike, and undo each other's steps. Few rows, and long ones, are shuffled one by one.
BUCKET = 8
_FEW = 4096
LONG = 64.0
# What a full epoch's gap must fall to among the active rows before all rows are looked at again.
_RETURN = 0.1

# Where ``numbers`` and ``counts`` keep what; arrays, because a compiled function cannot write into a tuple.
OFFSET, THRESHOLD, LARGEST, GAP, DUAL, FULL_GAP, LAST_GAP, TOTAL, PLAIN = range(9)
POSITION, LENGTH, ACTIVE, UNIFORM, SHRINKS, FREE, READY, SINGLY = range(8)


class Epoch(NamedTuple):
    """The arrays that a sweep writes."""

    beta: np.ndarray
    w: np.ndarray
    numbers: (
        np.ndarray
    )  # float64: the decision offset, the shrinking threshold, sums over the epoch so far, and those of finished epochs
    counts: np.ndarray  # int64: position in the epoch and its length, active rows, flags
    active: np.ndarray  # uint32: the rows not shrunk, then what is left of a fuller list
    visit: np.ndarray  # uint32: the rows of this epoch in their order
    buckets: np.ndarray  # uint32: scratch
    gone: np.ndarray  # uint8: rows to leave out from the next epoch on
    word: np.ndarray  # state of the random generator


def start_epoch(n: int, d: int, rng: np.random.Generator, *, uniform: bool, shrinks: bool, free: bool) -> Epoch:
    """β = 0 and w = 0, before the first visit. ``free``: the intercept is, see :func:`_finish`."""
    numbers = np.zeros(9)
    numbers[[THRESHOLD, FULL_GAP, LAST_GAP]] = np.inf
    counts = np.zeros(8, dtype=np.int64)
    counts[ACTIVE], counts[UNIFORM], counts[SHRINKS], counts[FREE] = n, uniform, shrinks, free
    index = np.arange(n, dtype=np.uint32)
    return Epoch(
        beta=np.zeros(n),
        w=np.zeros(d),
        numbers=numbers,
        counts=counts,
        active=index,
        visit=np.empty_like(index),
        buckets=np.empty(n // BUCKET + 1, dtype=np.uint32),
        gone=np.zeros(n, dtype=np.uint8),
        word=rng.integers(1, 2**63, size=1, dtype=np.uint64),
    )


def inverse_curvature(dual: DualTerms, q: np.ndarray) -> np.ndarray:
    """1/(qᵢ + dᵢ). Where nothing bends the dual, a slope of any size leads to its bound, or nowhere if there is none (a hard margin's zero row)."""
    if not isinstance(dual, DualBox):
        return np.zeros(0)
    bend = q + dual.d
    flat = np.where(np.isfinite(dual.upper - dual.lower), 1e300, 0.0)
    return np.divide(1.0, bend, out=flat, where=bend > 0)


@njit(cache=True, nogil=True, error_model="numpy")
def advance(values, indices, indptr, dual, q, inverse, shift, epoch, visits, target):
    """Make at most so many visits; returns how many. Stops after an epoch over all rows whose gap is at most target · P, and says so in READY."""
    counts = epoch.counts
    made = 0
    counts[READY] = 0
    while made < visits:
        if counts[POSITION] == counts[LENGTH]:
            _order(epoch)
        stop = min(counts[LENGTH], counts[POSITION] + visits - made)
        made += stop - counts[POSITION]
        piece = epoch.visit[counts[POSITION] : stop]
        sweep(values, indices, indptr, dual, q, inverse, shift, piece, epoch.beta, epoch.w, epoch.numbers, epoch.gone)
        counts[POSITION] = stop
        if stop == counts[LENGTH] and counts[UNIFORM] == 0:
            _finish(epoch, shift, target)
            if counts[READY] == 1:
                break
    return made


@njit(cache=True, nogil=True, error_model="numpy")
def _finish(epoch, shift, target):
    """After an epoch: leave out what it marked, bring all back where the rest is solved, set the next threshold.

    A free intercept is a multiplier b of Σβ = 0 beside the penalty ½ shift (Σβ)²: the decision offset is b + shift Σβ, and after each epoch
    b becomes that offset (the method of multipliers, which is proximal point on b).
    """
    numbers, counts, active, gone = epoch.numbers, epoch.counts, epoch.active, epoch.gone
    n = len(epoch.beta)
    full = counts[LENGTH] == n
    gap = numbers[GAP]
    if counts[FREE] == 1:
        gap += abs(numbers[OFFSET] * numbers[TOTAL])
        numbers[OFFSET] += shift * numbers[TOTAL]
        numbers[DUAL] -= shift * numbers[TOTAL] ** 2
    numbers[LAST_GAP] = gap
    solved = target > 0.0 and gap < np.inf and gap <= target * (numbers[DUAL] + gap)
    if full:
        numbers[FULL_GAP] = gap
        counts[READY] = 1 if solved else 0
    if not full and (solved or gap <= _RETURN * numbers[FULL_GAP]):
        bring_back(epoch)
    else:
        kept = 0
        for k in range(counts[ACTIVE]):
            i = active[k]
            if gone[i] == 0:
                active[kept] = i
                kept += 1
        counts[ACTIVE] = kept
        numbers[THRESHOLD] = numbers[LARGEST] if numbers[LARGEST] > 0.0 and counts[SHRINKS] == 1 else np.inf
        if kept == 0:
            bring_back(epoch)
    numbers[GAP] = 0.0
    numbers[LARGEST] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def bring_back(epoch):
    """All rows are active again, and none is left out before an epoch has seen them all."""
    n = len(epoch.beta)
    for i in range(n):
        epoch.active[i] = i
        epoch.gone[i] = 0
    epoch.counts[ACTIVE] = n
    epoch.numbers[THRESHOLD] = np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _order(epoch):
    """Write the next epoch's visits: every active row once, or uniform draws."""
    counts, active, visit, buckets, word = epoch.counts, epoch.active, epoch.visit, epoch.buckets, epoch.word
    count = counts[ACTIVE]
    counts[POSITION] = 0
    counts[LENGTH] = count
    if counts[UNIFORM] == 1:
        _draw(visit, word)
        return
    if count < _FEW or counts[SINGLY] == 1:
        _shuffle(active[:count], word)
        visit[:count] = active[:count]
        return
    whole = count // BUCKET
    for k in range(whole):
        buckets[k] = k
    _shuffle(buckets[:whole], word)
    place = 0
    for k in range(whole):
        begin = np.int64(buckets[k]) * BUCKET
        draw = _below(word, BUCKET * BUCKET // 2)
        at, stride = draw % BUCKET, 2 * (draw // BUCKET) + 1  # an odd stride meets each of the 2ᵏ places once
        for _ in range(BUCKET):
            visit[place] = active[begin + at]
            at = (at + stride) & (BUCKET - 1)
            place += 1
    for k in range(whole * BUCKET, count):
        visit[k] = active[k]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(values, indices, indptr, dual, q, inverse, shift, visit, beta, w, numbers, gone):
    """One exact maximisation for each row of ``visit``; writes beta, w, numbers and gone."""
    if hasattr(dual, "cost"):
        _sweep_entropy(values, indices, indptr, dual, q, shift, visit, beta, w, numbers)
    elif numbers[PLAIN] == 1.0:
        p, lower, upper = dual.p, dual.lower, dual.upper
        _sweep_plain(values, indices, indptr, p, lower, upper, q, inverse, shift, visit, beta, w, numbers, gone)
    else:
        p, epsilon, d, lower, upper = dual.p, dual.epsilon, dual.d, dual.lower, dual.upper
        _sweep_box(
            values, indices, indptr, p, epsilon, d, lower, upper, q, inverse, shift, visit, beta, w, numbers, gone
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep_entropy(values, indices, indptr, dual, q, shift, visit, beta, w, numbers):
    for k in range(len(visit)):
        i = np.int64(visit[k])
        old = beta[i]
        new = dual_step(dual, i, arrays_dot(values, indices, indptr, i, w) + numbers[OFFSET], old, q[i])
        if new != old:
            beta[i] = new
            numbers[TOTAL] += new - old
            numbers[OFFSET] += shift * (new - old)
            arrays_add(values, indices, indptr, i, new - old, w)
    numbers[GAP] = np.inf  # not reckoned: its logarithms cost more than the steps


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep_box(
    values, indices, indptr, p, epsilons, bends, lowers, uppers, q, inverse, shift, visit, beta, w, numbers, gone
):
    offset = numbers[OFFSET]
    threshold, largest, gap, gain, moved = numbers[THRESHOLD], numbers[LARGEST], 0.0, 0.0, 0.0
    for k in range(len(visit)):
        i = np.int64(visit[k])
        old = beta[i]
        slope = p[i] - arrays_dot(values, indices, indptr, i, w) - offset
        epsilon, bend, lower, upper = epsilons[i], bends[i], lowers[i], uppers[i]
        # clip(soft(slope + qβ, ε) / (q + d)), without branches that depend on the label
        best = slope + q[i] * old
        best = (max(best - epsilon, 0.0) + min(best + epsilon, 0.0)) * inverse[i]
        new = min(max(best, lower), upper)
        # the row's part of the gap: what its best β for this f, w held fixed, has more than its own
        pull = max(slope - epsilon, 0.0) + min(slope + epsilon, 0.0)
        end = upper if pull > 0.0 else (lower if pull < 0.0 else 0.0)
        ideal = min(max(pull / bend, lower), upper) if bend > 0.0 else end
        gap += slope * (ideal - old) - epsilon * (abs(ideal) - abs(old)) - 0.5 * bend * (ideal * ideal - old * old)
        change = new - old
        if change != 0.0:
            gain += change * (slope - 0.5 * q[i] * change) - 0.5 * bend * (new * new - old * old)
            gain -= epsilon * (abs(new) - abs(old))
            largest = max(largest, abs(change) * (q[i] + bend))
            beta[i] = new
            moved += change
            offset += shift * change
            arrays_add(values, indices, indptr, i, change, w)
        elif old in (lower, upper, 0.0) and _slack(old, slope - bend * old, epsilon, lower, upper) > threshold:
            gone[i] = 1
    numbers[TOTAL] += moved
    numbers[OFFSET] = offset
    numbers[LARGEST] = largest
    numbers[GAP] += gap
    numbers[DUAL] += gain


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep_plain(values, indices, indptr, p, lowers, uppers, q, inverse, shift, visit, beta, w, numbers, gone):
    """What ``_sweep_box`` does where ε = d = 0 and the box is finite, the hinge: on short rows all else it computes costs more than the row."""
    offset = numbers[OFFSET]
    threshold, largest, gap, gain, moved = numbers[THRESHOLD], numbers[LARGEST], 0.0, 0.0, 0.0
    for k in range(len(visit)):
        i = np.int64(visit[k])
        old, lower, upper = beta[i], lowers[i], uppers[i]
        slope = p[i] - arrays_dot(values, indices, indptr, i, w) - offset
        new = min(max((slope + q[i] * old) * inverse[i], lower), upper)
        gap += max(slope * (upper - old), slope * (lower - old))
        change = new - old
        if change != 0.0:
            gain += change * (slope - 0.5 * q[i] * change)
            largest = max(largest, abs(change) * q[i])
            beta[i] = new
            moved += change
            offset += shift * change
            arrays_add(values, indices, indptr, i, change, w)
        elif (old == upper and slope > threshold) or (old == lower and -slope > threshold):
            gone[i] = 1
    numbers[TOTAL] += moved
    numbers[OFFSET] = offset
    numbers[LARGEST] = largest
    numbers[GAP] += gap
    numbers[DUAL] += gain


def is_plain(dual: DualTerms) -> bool:
    """Whether a dual is linear in a finite box, as the hinge's is."""
    if not isinstance(dual, DualBox) or dual.epsilon.any() or dual.d.any():
        return False
    return bool(np.isfinite(dual.upper).all() and np.isfinite(dual.lower).all())


@njit(cache=True, error_model="numpy", inline="always")
def _slack(old, outward, epsilon, lower, upper):
    """How far the slope is from calling a sample off its bound, or off zero inside a tube."""
    if lower == upper:
        return np.inf
    if old == 0.0 and epsilon > 0.0:
        return epsilon - abs(outward)
    if old == upper:
        return outward - epsilon if upper > 0.0 else outward + epsilon
    return -outward - epsilon if lower < 0.0 else -outward + epsilon
