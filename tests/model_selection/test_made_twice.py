"""How often fits are made: in a race once, and twice where regressions are close to the best, or where a file has the open scores of another race.

A fit that is made twice counts once, with the time of both and the closer of two proofs.
"""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
TARGET = X[:, 0] + 0.3 * RNG.normal(size=120)
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
SPLITS = [f"split{k}_test_score" for k in range(5)]


def search(grid=GRID, **options):
    return GridSearchCV(gl.SVC(tol=0.1), grid, **{"racing": True, "refit": False, "prove": "full", **options})


def piped(**options):
    pipeline = make_pipeline(StandardScaler(), gl.SVC(tol=0.1))
    grid = {f"svc__{name}": values for name, values in GRID.items()}
    return GridSearchCV(pipeline, grid, **{"racing": True, "refit": False, "prove": "full", **options})


def regression(**options):
    """Of which candidates with the larger C are close to each other."""
    grid = {"C": [1.0, 1.01, 1e-3], "gamma": [0.1]}
    return GridSearchCV(gl.SVR(tol=0.1), grid, **{"refit": False, "prove": "full", **options})


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


@pytest.mark.filterwarnings("ignore:The optimum of NuSVC")  # which is zero where classes overlap that far
@pytest.mark.parametrize(
    "race",
    [
        search(),
        search({"C": [0.1, 1.0, 10.0], "gamma": ["scale", 0.01]}),
        piped(),
        GridSearchCV(
            gl.NuSVC(tol=0.1), {"nu": [0.1, 0.3, 0.6], "gamma": [0.01, 1.0]}, racing=True, refit=False, prove="full"
        ),
        GridSearchCV(gl.LinearSVC(tol=0.1), {"C": [1e-4, 1e-2, 1.0]}, racing=True, refit=False, prove="full"),
    ],
    ids=["SVC", "scale", "pipeline", "NuSVC", "LinearSVC"],
)
def test_a_race_makes_each_fit_of_a_classifier_at_most_once(made, race):
    whole = clone(race).set_params(racing=False).fit(X, Y)
    everything = dict(made)
    made.clear()
    raced = clone(race).fit(X, Y)
    assert set(made) <= set(everything) and all(len(each) == 1 for each in made.values())
    assert raced.best_index_ == whole.best_index_ and raced.selection_ == whole.selection_
    # A score is decided as without a race, unless the candidate is out.
    bound = raced.cv_results_["mean_test_score_high"]
    for (candidate, fold), (outcome,) in made.items():
        ends = everything[candidate, fold][0].intervals["score"]
        assert outcome.intervals["score"] == ends or bound[candidate] < raced.best_score_
        assert raced.cv_results_[f"split{fold}_test_score"][candidate] == outcome.test_scores


def test_regressions_that_are_close_are_made_again_and_count_once(made):
    found = regression().fit(X, TARGET)
    assert found.selection_.proven
    assert {len(made[2, fold]) for fold in range(5)} == {1}  # far behind
    twice = {place: each for place, each in made.items() if len(each) > 1}
    assert {candidate for candidate, _ in twice} == {0, 1}
    for (candidate, fold), outcomes in twice.items():
        closest = min(outcomes, key=lambda outcome: np.ptp(outcome.intervals["score"]))
        low, high = closest.intervals["score"]
        assert found.cv_results_[f"split{fold}_test_score"][candidate] == closest.test_scores
        assert found.cv_results_[f"split{fold}_test_score_low"][candidate] == low
        assert found.cv_results_[f"split{fold}_test_score_high"][candidate] == high
    for candidate in range(3):
        spent = [sum(each.fit_time for each in made[candidate, fold]) for fold in range(5)]
        assert found.cv_results_["mean_fit_time"][candidate] == pytest.approx(np.mean(spent))


@pytest.mark.parametrize(("searched", "y"), [(search, Y), (piped, Y), (regression, TARGET)])
def test_each_fit_is_told_of_once(made, capsys, monkeypatch, searched, y):
    shown = Counter()
    monkeypatch.setattr(SearchLine, "show", lambda self, candidate, outcome: shown.update([candidate]))
    found = searched(verbose=10).fit(X, y)
    lines, n_candidates = capsys.readouterr().out.splitlines(), len(found.cv_results_["params"])
    for word in ("START", "END"):
        told = Counter(
            re.match(rf"\[CV (\d)/5; (\d)/{n_candidates}\]", line).groups() for line in lines if f"] {word}" in line
        )
        assert told == Counter((str(fold + 1), str(candidate + 1)) for candidate, fold in made)
    assert shown == Counter(candidate for candidate, _ in made)


@pytest.mark.parametrize(("searched", "y"), [(search, Y), (regression, TARGET)])
def test_the_file_has_each_fit_and_the_last_counts(tmp_path, made, searched, y):
    path = tmp_path / "search.jsonl"
    first = searched(resume=path).fit(X, y)
    assert path.read_bytes().count(b"\n") == 1 + sum(len(each) for each in made.values())
    made.clear()
    again = searched(resume=path).fit(X, y)
    assert not made and again.selection_ == first.selection_
    for key in (*SPLITS, "mean_fit_time", "mean_test_score_low", "mean_test_score_high"):
        np.testing.assert_array_equal(again.cv_results_[key], first.cv_results_[key])


def test_a_race_that_was_interrupted_chooses_the_same_when_it_goes_on(tmp_path, made, monkeypatch):
    """Wherever Ctrl-C comes."""
    expected = search().fit(X, Y)
    total = len(made)
    tell = Evaluation._take

    for stop in (1, 9, 20, total - 1):
        path, left = tmp_path / f"{stop}.jsonl", [stop]

        def interrupted(self, *told, left=left):
            tell(self, *told)
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Evaluation, "_take", interrupted)
            with pytest.raises(SearchInterrupted):
                search(resume=path).fit(X, Y)
        found = search(resume=path).fit(X, Y)
        assert found.selection_ == expected.selection_ and found.selection_.proven
        assert found.best_index_ == expected.best_index_ and found.best_score_ == expected.best_score_
        assert all(json.loads(line) for line in path.read_text().splitlines())


def test_scores_that_a_race_left_open_are_decided_without_its_winner(tmp_path, made):
    path = tmp_path / "race.jsonl"
    first = search(resume=path).fit(X, Y)
    is_open = {candidate for (candidate, _), (each,) in made.items() if np.ptp(each.intervals["score"]) > 0}
    assert is_open
    rest = [
        {name: [value] for name, value in params.items()}
        for k, params in enumerate(first.cv_results_["params"])
        if k in is_open
    ]
    expected = search(rest).fit(X, Y)
    found = search(rest, resume=path).fit(X, Y)
    assert found.best_params_ == expected.best_params_ and found.selection_ == expected.selection_
    assert found.selection_.proven


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
