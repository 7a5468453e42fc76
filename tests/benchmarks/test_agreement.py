from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from benchmarks._agreement import Agreement, agreement, best_of, choice, fold_scores, outside, undecided

SIZES = np.array([1000, 1001, 999])


@st.composite
def right_answers(draw):
    """Numbers of samples that are predicted right: candidates × folds."""
    rows = draw(st.lists(st.tuples(*(st.integers(0, size) for size in SIZES)), min_size=1, max_size=6))
    return np.array(rows)


@given(right=right_answers(), other=st.data())
def test_scores_are_compared_to_the_sample(right, other):
    moved = np.array([[other.draw(st.integers(0, size)) for size in SIZES] for _ in right])
    off = np.abs(moved - right)
    expected = Agreement(right.size, int((off > 0).sum()), int(off.max()), int(off.sum()))
    assert agreement(moved / SIZES, right / SIZES, SIZES) == expected


def test_folds_that_were_not_run_are_not_compared():
    reference = np.array([[900, 801, 700], [1, 2, 3]]) / SIZES
    scores = np.array([[900, 800, 700], [np.nan, np.nan, 5]]) / SIZES
    assert agreement(scores, reference, SIZES) == Agreement(scored=4, differ=2, most=2, total=3)
    nothing = np.full_like(reference, np.nan)
    assert agreement(nothing, reference, SIZES) == Agreement(scored=0, differ=0, most=0, total=0)


def test_other_candidates_are_refused():
    with pytest.raises(ValueError, match=r"shape \(1, 3\); expected that of reference, \(2, 3\)"):
        agreement(np.zeros((1, 3)), np.zeros((2, 3)), SIZES)


@given(right=right_answers(), room=st.data())
def test_a_score_within_its_interval_is_not_outside(right, room):
    below = np.array([[room.draw(st.integers(0, 5)) for _ in SIZES] for _ in right])
    above = np.array([[room.draw(st.integers(0, 5)) for _ in SIZES] for _ in right])
    low, high = (right - below) / SIZES, (right + above) / SIZES
    assert outside(right / SIZES, low, high, SIZES) == 0
    assert outside((right - below - 1) / SIZES, low, high, SIZES) == right.size
    assert outside((right + above + 1) / SIZES, low, high, SIZES) == right.size
    assert undecided(low, high, SIZES) == ((below + above) > 0).sum()


def test_an_unknown_interval_proves_nothing():
    unknown = np.full((2, 3), np.nan)
    assert outside(np.zeros((2, 3)), unknown, unknown, SIZES) == 0
    assert undecided(unknown, unknown, SIZES) == 6


def test_the_choice_is_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 2))
    y = (X[:, 0] + rng.standard_normal(90) > 0).astype(int)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e2, 1e-9, 1e-3, 1e-9]}, cv=3).fit(X, y)
    scores = fold_scores(search.cv_results_, 3)
    assert scores.shape == (4, 3)
    np.testing.assert_array_equal(scores.mean(axis=1), search.cv_results_["mean_test_score"])
    assert best_of(scores) == search.best_index_


def test_a_choice_is_the_same_or_tied_or_another_one():
    # The means of the first and the third row are equal but for the order in which they are summed.
    reference = np.array([[0.9, 0.8, 0.7], [0.1, 0.2, 0.3], [0.7, 0.8, 0.9]])
    verdicts = [choice(index, reference) for index in range(3)]
    assert verdicts[1] == "other" and sorted([verdicts[0], verdicts[2]]) == ["same", "tied"]
    assert verdicts[best_of(reference)] == "same"


def test_ends_of_intervals_are_read_by_their_keys():
    results = {"split0_test_score_low": [0.5, 0.25], "split1_test_score_low": [0.75, 1.0]}
    np.testing.assert_array_equal(fold_scores(results, 2, bound="_low"), [[0.5, 0.75], [0.25, 1.0]])
