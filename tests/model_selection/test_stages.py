"""The stages of a search: parts of the samples that grow, with their shares of every fold and of every class."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold, TimeSeriesSplit

from gapless.model_selection.stages import FIRST, sizes, stages_of

N = 5000
RNG = np.random.default_rng(0)
LABELS = RNG.choice(["a", "b", "c"], size=N, p=[0.7, 0.29, 0.01])
TARGETS = np.exp(RNG.normal(size=N))


def test_the_first_stage_is_small_and_the_last_has_all_samples():
    assert sizes(FIRST) == [FIRST]
    for n in (1, 500, 1499, 1500, 4000, 7000, 123_456):
        found = sizes(n)
        assert found[-1] == n and all(b >= 1.5 * a for a, b in itertools.pairwise(found))
        assert found[0] <= 1.5 * FIRST


@pytest.mark.parametrize("y, of_classes", [(LABELS, True), (TARGETS, False)], ids=["labels", "targets"])
@pytest.mark.parametrize(
    "cv", [StratifiedKFold(5), KFold(3, shuffle=True, random_state=1), TimeSeriesSplit(4), GroupKFold(4)], ids=str
)
def test_each_stage_has_its_share_of_every_fold_and_what_the_stage_before_has(cv, y, of_classes):
    groups = np.arange(N) % 50
    labels = y if of_classes else (y > 1).astype(int)
    folds = list(cv.split(np.zeros(N), labels, groups if isinstance(cv, GroupKFold) else None))
    found = stages_of(folds, y, of_classes)
    assert [stage.number for stage in found] == [0, 1]
    assert np.array_equal(found[-1].rows, np.unique(np.concatenate([np.concatenate(pair) for pair in folds])))
    for k, (train, test) in enumerate(folds):
        before: list[set[int]] = [set(), set()]
        for stage in found:
            parts = [stage.rows[part] for part in stage.folds[k]]
            for own, whole, less in zip(parts, (train, test), before, strict=True):
                assert less <= set(own) <= set(whole)
                share = len(own) / len(whole)
                assert share == 1 if stage is found[-1] else share == pytest.approx(FIRST / N, rel=0.3)
            before = [set(part) for part in parts]
        assert not before[0] & before[1]
        assert np.array_equal(parts[0], train) and np.array_equal(parts[1], test)


def test_classes_and_targets_are_in_proportion_and_no_class_is_lost():
    folds = list(StratifiedKFold(5).split(LABELS, LABELS))
    first = stages_of(folds, LABELS, True)[0]
    for part, whole in ((first.rows[first.folds[0][0]], folds[0][0]), (first.rows[first.folds[0][1]], folds[0][1])):
        for label in "abc":
            own, all_of_it = (LABELS[part] == label).sum(), (LABELS[whole] == label).sum()
            assert own >= 2 and abs(own - all_of_it * len(part) / len(whole)) <= 2
    rows = stages_of(list(KFold(5).split(TARGETS)), TARGETS, False)[0].rows
    for share in (0.1, 0.5, 0.9):
        assert (TARGETS[rows] <= np.quantile(TARGETS, share)).mean() == pytest.approx(share, abs=0.01)


def test_a_rare_class_keeps_training_and_test_rows():
    y = np.zeros(N, dtype=int)
    y[:10] = 1
    for train, test in stages_of(list(StratifiedKFold(5).split(y, y)), y, True)[0].folds:
        rows = stages_of(list(StratifiedKFold(5).split(y, y)), y, True)[0].rows
        assert y[rows[train]].sum() >= 2 and y[rows[test]].sum() == 2


def test_the_same_folds_have_the_same_stages_and_small_or_whole_searches_have_one():
    folds = list(KFold(5).split(TARGETS))
    for one, other in zip(stages_of(folds, TARGETS, False), stages_of(folds, TARGETS, False), strict=True):
        assert np.array_equal(one.rows, other.rows)
    assert len(stages_of(folds, TARGETS, False, first=np.inf)) == 1
    assert len(stages_of(list(KFold(5).split(TARGETS[:1400])), TARGETS[:1400], False)) == 1
    assert len(stages_of(list(LeaveOneOut().split(TARGETS[:20])), TARGETS[:20], False)) == 1


def test_rows_in_no_fold_change_nothing():
    used = np.flatnonzero(np.arange(N) % 3 > 0)
    folds = list(KFold(5).split(used))
    for y, of_classes in ((LABELS, True), (TARGETS, False)):
        among_all = stages_of([(used[train], used[test]) for train, test in folds], y, of_classes)[0]
        alone = stages_of(folds, y[used], of_classes)[0]
        assert np.array_equal(among_all.rows, used[alone.rows])


def test_masks_are_rows_and_rows_in_no_fold_are_in_no_stage():
    train = np.arange(N) < 2000
    test = (np.arange(N) >= 2000) & (np.arange(N) < 3000)
    first, last = stages_of([(train, test)], TARGETS, False)
    assert np.array_equal(last.rows, np.arange(3000)) and set(first.rows) < set(last.rows)
    assert len(first.folds[0][0]) == 667 and len(first.folds[0][1]) == 334
