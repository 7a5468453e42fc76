"""From decision values to probabilities: a sigmoid for each pair of classes, the coupling of the pairs, and agreement with the predicted labels.

- The sigmoid is Platt's, P(first class of the pair | f) = 1 / (1 + exp(A f + B)), fitted to held-out decision values by Newton's method: Lin, Lin and
  Weng, "A note on Platt's probabilistic outputs for support vector machines", 2007. Here A ≤ 0: a larger f never makes its class less probable.
- The probabilities of several classes follow from those of their pairs by the second method of Wu, Lin and Weng, "Probability estimates for
  multi-class classification by pairwise coupling", 2004.
- The predicted label comes from the signs of f, and the sigmoid of a pair may cross ½ elsewhere than at f = 0. Where the predicted label would not be
  the most probable one, the nearest distribution in which it is takes the place of the calibrated one (``agreeing``).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

_STEPS = 100  # of Newton's method, which takes fewer than ten; Lin, Lin and Weng's bound
_HALVINGS = 30  # of a step: what is left of it is below the rounding of A and B
_DECREASE = 1e-12  # for each sample: where a step promises less of the loss than this, A and B have more digits than the held-out values
_RIDGE = 1e-12  # Lin, Lin and Weng's, with the decision values of a pair scaled to at most one
LEAST = 1e-7  # the least probability of a class, LIBSVM's: a sigmoid from hundreds of samples says nothing of what is rarer than this
LEAD = 2.0**-20  # of the predicted label before an equal one: enough for an argmax in float32
_ENTRIES = 2**22  # of the systems that are solved at a time, 32 MB


def fit_sigmoids(
    f: np.ndarray, positive: np.ndarray, weight: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(A, B) of each group of samples, such as a pair of classes; group k is ``starts[k]`` to ``starts[k + 1]``, and has positive weights.

    The weights of a group count relative to their mean. A sample has the target (n₊ + 1)/(n₊ + 2) or 1/(n₋ + 2) in place of 1 or 0.

    >>> f = np.array([2.0, 1.0, 0.5, -0.5, -1.0, -2.0])
    >>> A, B = fit_sigmoids(f, f > 0, np.ones(6), np.array([0, 6]))
    >>> expit(-(A * f + B)).round(2)
    array([0.88, 0.73, 0.62, 0.38, 0.27, 0.12])
    """
    begin, sizes = starts[:-1], np.diff(starts)

    def total(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, begin)

    def spread(of_groups: np.ndarray) -> np.ndarray:
        return np.repeat(of_groups, sizes)

    weight = weight / spread(total(weight) / sizes)
    n_positive, n_negative = total(weight * positive), total(weight * ~positive)
    target = np.where(positive, spread((n_positive + 1) / (n_positive + 2)), spread(1 / (n_negative + 2)))
    scale = np.maximum.reduceat(np.abs(f), begin)
    scale[scale == 0] = 1.0
    f = f / spread(scale)

    def loss(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        z = spread(A) * f + spread(B)
        return total(weight * (target * z + np.logaddexp(0.0, -z)))

    A, B = np.zeros(len(begin)), np.log((n_negative + 1) / (n_positive + 1))
    value = loss(A, B)
    for _ in range(_STEPS):
        z = spread(A) * f + spread(B)
        p = expit(-z)
        slope, curve = weight * (target - p), weight * p * expit(z)
        g_A, g_B = total(f * slope), total(slope)
        aa, ab, bb = total(f * f * curve) + _RIDGE, total(f * curve), total(curve) + _RIDGE
        determinant = aa * bb - ab * ab
        step_A, step_B = (ab * g_B - bb * g_A) / determinant, (ab * g_A - aa * g_B) / determinant
        descent = g_A * step_A + g_B * step_B
        size = (-descent > _DECREASE * sizes).astype(np.float64)
        if not size.any():
            break
        for _ in range(_HALVINGS):
            changed = loss(A + size * step_A, B + size * step_B)
            worse = (changed > value + 1e-4 * size * descent) & (size > 0)
            if not worse.any():
                break
            size[worse] *= 0.5
        size[worse] = 0.0  # rounding keeps these from a further decrease
        A, B, value = A + size * step_A, B + size * step_B, np.where(size > 0, changed, value)
    # The loss is convex: where its minimum has A > 0, that under A ≤ 0 has A = 0.
    mean = total(weight * target) / sizes
    return np.where(A > 0, 0.0, A / scale), np.where(A > 0, np.log((1 - mean) / mean), B)


def probabilities(decisions: np.ndarray, A: np.ndarray, B: np.ndarray, n_classes: int) -> np.ndarray:
    """The probabilities of the classes, from the decisions of their pairs in LIBSVM's order, positive for the first class of a pair."""
    r = np.clip(expit(-(A * decisions + B)), LEAST, 1 - LEAST)
    if n_classes == 2:
        return np.hstack([r, 1 - r])
    p = np.empty((len(r), n_classes))
    step = max(1, _ENTRIES // (n_classes + 1) ** 2)
    for start in range(0, len(r), step):
        p[start : start + step] = coupled(r[start : start + step], n_classes)
    return p


def coupled(r: np.ndarray, n_classes: int) -> np.ndarray:
    """The p that minimises Σ over pairs s ≠ t of (r_ts p_s − r_st p_t)², Σ p = 1; r_st is the probability of s where it can only be s or t.

    The minimum is p ≥ 0, and solves the linear system Q p + b e = 0, eᵀp = 1 with Q_tt = Σ_s r_st² and Q_ts = −r_ts r_st.

    >>> coupled(np.array([[0.6 / 0.9, 0.6 / 0.7, 0.3 / 0.4]]), 3).round(6)
    array([[0.6, 0.3, 0.1]])
    """
    first, second = np.triu_indices(n_classes, 1)
    R = np.zeros((len(r), n_classes, n_classes))
    R[:, first, second], R[:, second, first] = r, 1 - r
    system = np.ones((len(r), n_classes + 1, n_classes + 1))
    system[:, -1, -1] = 0.0
    system[:, :-1, :-1] = -R * R.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = (R**2).sum(axis=1)
    right = np.zeros((len(r), n_classes + 1, 1))
    right[:, -1] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], LEAST)
    return p / p.sum(axis=1, keepdims=True)


def agreeing(p: np.ndarray, label: np.ndarray) -> np.ndarray:
    """The distributions nearest to the rows of p whose largest entry is that of ``label``: the other entries are cut to a common level, and what is
    cut off goes to ``label``, which so reaches that level.

    Of all distributions q with q_label ≥ q_j this is the nearest one in squares and in relative entropy alike: it is an isotonic regression, which
    minimises every Bregman divergence (Robertson, Wright and Dykstra, "Order restricted statistical inference", 1988). So that ``argmax`` finds the
    label, the level is lowered by a millionth, the more the larger p_label is: of two classes, f then still orders the samples whose odds are even.

    >>> agreeing(np.array([[0.6, 0.3, 0.1], [0.5, 0.3, 0.2]]), np.array([1, 0])).round(3)
    array([[0.45, 0.45, 0.1 ],
           [0.5 , 0.3 , 0.2 ]])
    """
    rows = np.arange(len(p))
    own = p[rows, label]
    others = p.copy()
    others[rows, label] = 0.0
    # The mean of p_label and the k largest of the others grows with k as long as the k-th is above it: its largest value is the level.
    largest = -np.sort(-others, axis=1)[:, :-1]
    level = ((own[:, None] + largest.cumsum(axis=1)) / np.arange(2, p.shape[1] + 1)).max(axis=1)
    q = np.minimum(others, (level * (1 - LEAD * (1 + own)))[:, None])
    q[rows, label] = 1 - q.sum(axis=1)
    return q
