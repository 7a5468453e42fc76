"""Fits of a race that are made twice, since their scores are decided when it is known who may win: each counts once, with the time of both."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gapless as gl
from gapless.model_selection import GridSearchCV, SearchInterrupted
from gapless.model_selection.evaluation import Evaluation
from gapless.model_selection.outcomes import Outcome
from gapless.model_selection.progress import SearchLine
from gapless.model_selection.report import Report
from gapless.model_selection.wishes import SearchWishes

RNG = np.random.default_rng(1)
Y = np.arange(120) % 3
X = RNG.normal(size=(3, 3))[Y] + RNG.normal(size=(120, 3))
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
SPLITS = [f"split{k}_test_score" for k in range(5)]


def search(**options):
    return GridSearchCV(gl.SVC(tol=0.1), GRID, **{"racing": True, "refit": False, **options})


@pytest.fixture
def made(monkeypatch):
    """Of each fit, by candidate and fold, the outcomes in the order in which they were made."""
    outcomes: dict[tuple[int, int], list[Outcome]] = {}
    take = SearchWishes.take

    def taken(self, candidate, fold, outcome):
        outcomes.setdefault((candidate, fold), []).append(outcome)
        return take(self, candidate, fold, outcome)

    monkeypatch.setattr(SearchWishes, "take", taken)
    return outcomes


def test_an_outcome_is_replaced_by_the_decided_one(made):
    whole = search(racing=False).fit(X, Y)
    assert all(len(each) == 1 for each in made.values())
    made.clear()
    raced = search().fit(X, Y)
    twice = {place: each for place, each in made.items() if len(each) == 2}
    assert twice and all(len(each) <= 2 for each in made.values())
    assert raced.best_index_ == whole.best_index_ and raced.selection_ == whole.selection_
    for (candidate, fold), (first, second) in twice.items():
        low, high = second.intervals["score"]
        assert first.intervals["score"][0] <= low <= high <= first.intervals["score"][1]
        assert raced.cv_results_[f"split{fold}_test_score"][candidate] == second.test_scores
        assert raced.cv_results_[f"split{fold}_test_score_low"][candidate] == low
    for candidate in range(9):
        spent = [sum(each.fit_time for each in made.get((candidate, fold), [])) for fold in range(5)]
        assert raced.cv_results_["mean_fit_time"][candidate] == pytest.approx(np.mean(spent))


def test_each_fit_is_told_of_once(made, capsys, monkeypatch):
    shown = Counter()
    monkeypatch.setattr(SearchLine, "show", lambda self, candidate, outcome: shown.update([candidate]))
    search(verbose=10).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    for word in ("START", "END"):
        told = Counter(re.match(r"\[CV (\d)/5; (\d)/9\]", line).groups() for line in lines if f"] {word}" in line)
        assert set(told.values()) == {1} and len(told) == len(made)
    assert shown == Counter(candidate for candidate, _ in made)


def test_the_file_has_both_and_the_last_counts(tmp_path, made):
    path = tmp_path / "race.jsonl"
    first = search(resume=path).fit(X, Y)
    assert path.read_bytes().count(b"\n") == 1 + sum(len(each) for each in made.values())
    made.clear()
    again = search(resume=path).fit(X, Y)
    assert not made and again.selection_ == first.selection_
    for key in (*SPLITS, "mean_fit_time", "mean_test_score_low", "mean_test_score_high"):
        np.testing.assert_array_equal(again.cv_results_[key], first.cv_results_[key])


def test_a_race_that_was_interrupted_is_decided_when_it_goes_on(tmp_path, made, monkeypatch):
    """Wherever Ctrl-C comes, scores that the race had left open do not stay so."""
    expected = search().fit(X, Y)
    total = sum(len(each) for each in made.values())
    tell = Evaluation._run

    for stop in (9, 20, len(made), (len(made) + total) // 2, total - 1):
        path, left = tmp_path / f"{stop}.jsonl", [stop]

        def interrupted(self, candidates, wanted, wishes, told, left=left):
            def then(*outcome):
                told(*outcome)
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt

            return tell(self, candidates, wanted, wishes, then)

        with monkeypatch.context() as patch:
            patch.setattr(Evaluation, "_run", interrupted)
            with pytest.raises(SearchInterrupted):
                search(resume=path).fit(X, Y)
        found = search(resume=path).fit(X, Y)
        assert found.selection_ == expected.selection_ and found.selection_.proven
        assert found.best_index_ == expected.best_index_ and found.best_score_ == expected.best_score_
        assert all(json.loads(line) for line in path.read_text().splitlines())


def test_of_two_proofs_the_closer_one_stays():
    class Scoring:
        X, y = np.zeros((4, 1)), np.arange(4)

        @staticmethod
        def metrics(model):
            return {}

    wishes = SearchWishes(Scoring(), [gl.SVC()], [(None, None)], Report(0, [{}], 1), "score", True)
    outcomes = [
        Outcome(score, None, 1.0, 0.5, 2, intervals={"score": ends})
        for score, ends in ((0.5, (0.5, 0.75)), (0.75, (0.5, 1.0)), (0.5, (0.5, 0.5)))
    ]
    seen = [wishes.take(0, 0, outcome) for outcome in outcomes]
    assert [each.intervals["score"] for each in seen] == [(0.5, 0.75), (0.5, 0.75), (0.5, 0.5)]
    assert [each.test_scores for each in seen] == [0.5, 0.5, 0.5]
    assert [(each.fit_time, each.score_time) for each in seen] == [(1.0, 0.5), (2.0, 1.0), (3.0, 1.5)]
    failed = wishes.take(0, 0, Outcome(np.nan, None, 1.0, 0.0, 2, fit_error="an error"))
    assert failed.fit_error == "an error" and failed.fit_time == 4.0


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), classes=st.integers(2, 3), mirrored=st.booleans(), tol=st.sampled_from([0.1, 1e-3]))
def test_samples_on_the_boundary_do_not_change_the_choice(seed, classes, mirrored, tol):
    """Rows of few whole numbers with all labels: optimal decision values may be zero, and no proof decides the label."""
    rng = np.random.default_rng(seed)
    y = np.arange(36) % classes
    rows = rng.integers(-1, 2, size=(36, 2)).astype(float)
    if mirrored and classes == 2:
        rows, y = np.vstack([rows, -rows]), np.r_[y, 1 - y]
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
    whole, raced = (
        GridSearchCV(gl.SVC(tol=tol), grid, cv=3, racing=racing, refit=False).fit(rows, y) for racing in (False, True)
    )
    assert raced.best_index_ == whole.best_index_ and raced.best_score_ == whole.best_score_


@pytest.mark.parametrize("few", [0, 400])
def test_fits_that_the_engine_leaves_are_decided_as_well(few, made, monkeypatch):
    """The native object gives up after so many steps; the estimator's own stages go on from there, or anew where the samples are few."""
    expected = search(racing=False).fit(X, Y)
    monkeypatch.setattr("gapless.model_selection.members._TURNS", 0.0)
    monkeypatch.setattr("gapless.model_selection.shared._FEW", few)
    for racing in (False, True):
        made.clear()
        found = search(racing=racing).fit(X, Y)
        assert found.selection_ == expected.selection_ and found.selection_.proven
        if not racing:
            for key in SPLITS:
                np.testing.assert_array_equal(found.cv_results_[key], expected.cv_results_[key])
            decided = found.cv_results_["mean_test_score_low"] == found.cv_results_["mean_test_score_high"]
            assert decided.all() and all(len(each) == 1 for each in made.values())
