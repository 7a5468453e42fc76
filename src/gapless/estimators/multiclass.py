"""Labels, class weights, and one-vs-one: the pairs of classes, and the layout of their coefficients, which is LIBSVM's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from gapless import _native
from gapless.data.scale import LARGEST
from gapless.errors import InvalidInputError


def encode_labels(y: Any, weight: np.ndarray, one_class: str) -> tuple[np.ndarray, np.ndarray]:
    """(classes, codes): the labels of the samples with a positive weight, and the class of each sample, which is −1 where the weight is zero.

    ``one_class`` is the error message for the case that the weights leave a single class.
    """
    y = y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)
    used = weight > 0
    whole = y.dtype.kind in "biu"  # whole numbers are labels, unless they are so many that they look like targets
    if used.all():
        found = _two_numbers(y) if y.dtype.kind == "f" else _few_numbers(y)
        if found is not None:
            return found
    if not whole:
        check_classification_targets(y)
    classes, inverse = np.unique(y[used], return_inverse=True)
    if whole and 2 * len(classes) > len(y):
        check_classification_targets(y)
    if len(classes) < 2:
        if len(np.unique(y)) < 2:
            raise InvalidInputError(f"The number of classes has to be greater than one; got {len(classes)} class")
        raise InvalidInputError(one_class)
    codes = np.full(len(y), -1)
    codes[used] = inverse
    return classes, codes


def _few_numbers(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(classes, codes) of labels that are few whole numbers close to each other, found without sorting; None for other labels."""
    if y.dtype.kind not in "iu" or not len(y):
        return None
    low, high = int(y.min()), int(y.max())
    if high - low >= len(y):
        return None
    offset = (y - low).astype(np.int64)
    (present,) = np.bincount(offset).nonzero()
    if not 2 <= len(present) <= len(y) // 2:
        return None
    classes = (present + low).astype(y.dtype)
    if len(present) == high - low + 1:
        return classes, offset
    place = np.zeros(high - low + 1, dtype=np.int64)
    place[present] = np.arange(len(present))
    return classes, place[offset]


def _two_numbers(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(classes, codes) of floating-point labels that are two whole numbers, found without sorting; None for other labels."""
    if not len(y):
        return None
    low, high = y.min(), y.max()
    upper = y == high
    if not (low < high and np.isfinite(low) and np.isfinite(high) and low == np.floor(low) and high == np.floor(high)):
        return None
    if np.count_nonzero(upper) + np.count_nonzero(y == low) != len(y):
        return None
    return np.array([low, high]), upper.astype(np.int64)


def class_weights(class_weight: Any, classes: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weight of each class; "balanced" counts a sample of weight 2 twice."""
    if class_weight is None:
        return np.ones(len(classes))
    used = codes >= 0
    if isinstance(class_weight, str):
        return weight.sum() / (len(classes) * np.bincount(codes[used], weights=weight[used]))
    for label, value in class_weight.items() if isinstance(class_weight, dict) else ():
        if not (isinstance(value, Real) and _size(value) <= LARGEST):
            raise InvalidInputError(
                f"class_weight must hold numbers of at most {LARGEST:g}; that of the class {label!r} is {value!r:.50}."
            )
    return compute_class_weight(class_weight, classes=classes, y=classes[codes[used]])


def _size(value: Real) -> float:
    try:
        return abs(float(value))
    except OverflowError:
        return math.inf


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """The pairs of classes in LIBSVM's order (0, 1), (0, 2), …, (1, 2), …; the first class of a pair is the positive one."""
    return list(combinations(range(n_classes), 2))


class ClassPairs:
    """The pairs of classes, in LIBSVM's order, and the samples of each: ``members[k]`` are those of pair k.

    Where there are two classes their samples stay in their own order. Where there are more, the samples of a pair's first class come first.

    Attributes
    ----------
    first, second : array of int
        The two classes of each pair.
    samples : array of int
        The samples of all pairs, pair after pair.
    starts : array of int
        Where each pair begins among them, and in the end their number.
    n_first, n_second : array of int
        The number of samples of the first and of the second class of each pair.
    """

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        self.n_classes = n_classes
        self.first, self.second = np.triu_indices(n_classes, 1)
        counts = np.bincount(codes[codes >= 0], minlength=n_classes)
        self.n_first, self.n_second = counts[self.first], counts[self.second]
        sizes = self.n_first + self.n_second
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        if n_classes == 2:
            self.samples = np.flatnonzero(codes >= 0)
            return
        by_class = np.argsort(codes, kind="stable")[len(codes) - counts.sum() :]  # without those of the code −1
        begin = np.cumsum(counts) - counts
        at = np.arange(self.starts[-1]) - self.spread(self.starts[:-1])
        of_first, of_second = begin[self.first], begin[self.second] - self.n_first
        self.samples = by_class[at + self.spread_by_class(of_first, of_second)]

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, k: int) -> np.ndarray:
        return self.samples[self.starts[k] : self.starts[k + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[k] for k in range(len(self)))

    def sums_by_class(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sums of values of ``samples`` over the first and over the second class of each pair, where there are more than two classes."""
        begin = self.starts[:-1]
        sums = np.add.reduceat(values, np.column_stack([begin, begin + self.n_first]).ravel())
        return sums[::2], sums[1::2]

    def spread(self, of_pairs: np.ndarray) -> np.ndarray:
        """A value of each pair, for each of its samples."""
        return np.repeat(of_pairs, self.n_first + self.n_second)

    def spread_by_class(self, of_first: np.ndarray, of_second: np.ndarray) -> np.ndarray:
        """Two values of each pair, for the samples of its first class and for those of its second."""
        return np.repeat(np.column_stack([of_first, of_second]), np.column_stack([self.n_first, self.n_second]).ravel())


def pack(beta: np.ndarray, members: ClassPairs, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(support, n_support, dual_coef): the support vectors sorted by class, and the coefficients of each in the n_classes − 1 pairs of its class.

    ``beta`` are the coefficients of ``members.samples``, positive for the first class of each pair.
    """
    n_classes = members.n_classes
    full = np.zeros((n_classes - 1, len(codes)))
    row = 0 if n_classes == 2 else members.spread_by_class(members.second - 1, members.first)
    full[row, members.samples] = beta
    used = np.flatnonzero(full.any(axis=0))
    support = used[codes[used].argsort(kind="stable")]
    n_support = np.bincount(codes[support], minlength=n_classes).astype(np.int32)
    # By an array of columns NumPy copies in the order of columns, and who hands dual_coef_ on to compiled code counts on rows, as in scikit-learn.
    return support.astype(np.int32), n_support, np.ascontiguousarray(full[:, support])


def unpack(dual_coef: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """The coefficient of each support vector in each pair of classes, as an array of shape (n_SV, n_pairs)."""
    ends = np.concatenate([[0], np.cumsum(n_support)])
    classes = len(n_support)
    if dual_coef.shape != (classes - 1, ends[-1]):
        raise InvalidInputError(
            f"dual coefficients of {classes} classes must have the shape {(classes - 1, int(ends[-1]))}; got {dual_coef.shape}."
        )
    out = np.zeros((dual_coef.shape[1], classes * (classes - 1) // 2))
    for k, (i, j) in enumerate(pairs(classes)):
        of_i, of_j = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        out[of_i, k] = dual_coef[j - 1, of_i]
        out[of_j, k] = dual_coef[i, of_j]
    return out


def vote(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """The class that wins the most pairs, for each sample; of several, the first."""
    if decisions.shape[1] != n_classes * (n_classes - 1) // 2:
        raise InvalidInputError(f"{n_classes} classes must have a decision for each pair; got {decisions.shape[1]}.")
    winners = np.empty(len(decisions), dtype=np.int64)
    _native.winners(np.ascontiguousarray(decisions, dtype=np.float64), n_classes, winners)
    return winners
