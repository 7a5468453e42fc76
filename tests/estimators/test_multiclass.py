"""One-vs-one: the samples of each pair of classes, and the layout of the coefficients."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gapless.estimators.multiclass import ClassPairs, pack, pairs


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_pairs_of_classes(classes):
    rng = np.random.default_rng(classes)
    codes = rng.integers(-1, classes, size=40)
    codes[:classes] = np.arange(classes)
    members = ClassPairs(codes, classes)
    assert len(members) == len(pairs(classes)) == len(list(members))
    betas = []
    for k, (i, j) in enumerate(itertools.combinations(range(classes), 2)):
        first, second = np.flatnonzero(codes == i), np.flatnonzero(codes == j)
        expected = np.flatnonzero(codes >= 0) if classes == 2 else np.concatenate([first, second])
        assert_array_equal(members[k], expected)
        assert (members.first[k], members.second[k]) == (i, j)
        assert (members.n_first[k], members.n_second[k]) == (len(first), len(second))
        betas.append(rng.normal(size=len(expected)) * (rng.random(len(expected)) < 0.7))
    support, n_support, packed = pack(np.concatenate(betas), members, codes)
    for k, (i, j) in enumerate(pairs(classes)):
        for row, beta in zip(members[k], betas[k], strict=True):
            place = np.flatnonzero(support == row)
            line = j - 1 if codes[row] == i else i
            assert (packed[line, place] == beta).all() and (len(place) or beta == 0)
    assert_array_equal(n_support, np.bincount(codes[support], minlength=classes))
    if classes > 2:
        values = rng.normal(size=len(members.samples))
        sums = np.column_stack(members.sums_by_class(values))
        parts = [values[a:b] for a, b in itertools.pairwise(members.starts)]
        expected = [[part[:n].sum(), part[n:].sum()] for part, n in zip(parts, members.n_first, strict=True)]
        assert_allclose(sums, expected)
