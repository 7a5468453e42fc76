"""One-vs-one: the samples and classes of a fit, from which the problem of each pair of classes is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gapless.estimators.every_pair import EveryPair, every_pair
from gapless.estimators.kernel_spec import KernelSpec
from gapless.estimators.multiclass import ClassPairs
from gapless.problems.problem import Problem


@dataclass(frozen=True)
class OneVersusOne:
    """The pairs of classes of a classifier.

    Attributes
    ----------
    estimator : SVC or NuSVC
        Whose problems they are.
    samples, spec : array or CSR, KernelSpec
        The samples as the problems see them, and the kernel on them.
    codes : array of int
        The class of each sample, −1 of samples that do not take part.
    class_weight : array
        A number for each class.
    counts : array or None
        The weight of each sample; None where all are one.
    whole : bool
        Whether these are all samples of the fit, and not those of some folds.
    """

    estimator: Any
    samples: Any
    spec: KernelSpec
    codes: np.ndarray
    class_weight: np.ndarray
    counts: np.ndarray | None
    whole: bool = True

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.class_weight)

    @cached_property
    def members(self) -> ClassPairs:
        """The samples of each pair of classes."""
        return ClassPairs(self.codes, self.n_classes)

    def problem(self, k: int) -> Problem:
        """The problem of pair k, in which the second class is positive."""
        member = self.members[k]
        codes = self.codes[member]
        counts = None if self.counts is None else self.counts[member]
        weighted = self.estimator.class_weight is not None
        box = self.class_weight[codes] if weighted else None
        positive = codes != self.members.first[k]
        return self.estimator._problem(self.samples[member], positive, counts, box, self.spec, self.whole)

    def together(self) -> EveryPair | None:
        """All pairs, to be tried in one go; None where this is not possible."""
        estimator = self.estimator
        many = estimator.solver == "auto" and self.n_classes > 2
        terms = estimator._pair_terms(self.members, self.counts, self.class_weight) if many else None
        pairs = every_pair(self.members, self.samples, self.spec.kernel, terms, float(estimator.cache_size))
        if pairs is not None and self.whole and estimator._chain is not None:
            estimator._chain.begin_pairs(estimator.C, pairs)
        return pairs

    def without(self, left_out: np.ndarray) -> tuple[OneVersusOne, np.ndarray]:
        """(task, classes): the same without some samples, and which of the classes are still there."""
        codes = np.where(left_out, -1, self.codes)
        classes = np.unique(codes[codes >= 0])
        new = np.full(self.n_classes + 1, -1)  # the last place is for the code −1
        new[classes] = np.arange(len(classes))
        return replace(self, codes=new[codes], class_weight=self.class_weight[classes], whole=False), classes
