"""The line that a search shows on a terminal: the fits that are done, the best score, and the time left."""

from __future__ import annotations

import io
import math
import re

import numpy as np
import pytest
from rich.console import Console
from sklearn.datasets import load_iris

import gapless as gl
from gapless.model_selection import GridSearchCV, progress
from gapless.model_selection.outcomes import Outcome, Outcomes
from gapless.model_selection.progress import BestSoFar, TimeLeft

X, Y = load_iris(return_X_y=True)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_fit_takes_as_long_as_on_other_folds():
    clock = Clock()
    left = TimeLeft(Outcomes(2, 3), clock=clock)
    assert left.seconds == math.inf and str(left) == ""
    clock.now = 2.0
    left.add(0, 2.0)
    assert left.seconds == 2 * 2.0 + 3 * 2.0  # of the other candidate nothing is known yet
    clock.now = 12.0
    left.add(1, 10.0)
    assert left.seconds == 2 * 2.0 + 2 * 10.0 and str(left) == "24 s left"
    clock.now = 20.0
    assert left.seconds == 16.0  # it counts down between two fits
    clock.now = 100.0
    assert left.seconds == 0.0


def test_two_fits_at_a_time_take_half_the_time():
    clock = Clock()
    left = TimeLeft(Outcomes(4, 1), clock=clock)
    clock.now = 5.0
    left.add(0, 5.0)
    left.add(1, 5.0)
    assert left.seconds == 5.0


def test_fits_that_are_known_and_candidates_that_are_out_take_no_time():
    clock, known = Clock(), Outcomes(3, 2)
    known.put(0, 0, Outcome(0.5, None, 100.0, 0.0, 1))
    bounds = np.array([[0.5, 1.0], [0.6, 0.9], [0.1, 0.55]])
    left = TimeLeft(known, lambda: bounds, clock)
    clock.now = 1.0
    left.add(1, 1.0)
    assert left.seconds == 1.0 + 1.0


@pytest.mark.parametrize("metric", [None, "a"])
def test_the_best_score_is_that_of_the_candidates_with_the_most_folds(metric):
    def outcome(score):
        return Outcome(score if metric is None else {"a": score, "b": 9.0}, None, 1.0, 0.0, 1)

    known = Outcomes(3, 2)
    assert str(BestSoFar(known, metric)) == ""
    known.put(0, 0, outcome(0.9))
    best = BestSoFar(known, metric)
    assert best.score == 0.9
    best.add(1, outcome(0.5))
    best.add(1, outcome(0.7))
    assert best.score == 0.6 and str(best) == ", best score 0.6"
    best.add(2, outcome(math.nan))
    best.add(2, outcome(0.5))
    assert best.score == 0.6


def run(monkeypatch, terminal, **options):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=terminal, width=120, color_system=None)
    monkeypatch.setattr(progress, "make_console", lambda: console)
    GridSearchCV(gl.SVC(), {"C": [1.0, 10.0]}, cv=3, **options).fit(X, Y)
    return shown.getvalue()


def test_a_terminal_shows_the_line(monkeypatch, capsys):
    shown = run(monkeypatch, True, verbose=1)
    assert "GridSearchCV" in shown and "6 of 6 fits, best score 0.9733 0:00:00 0 s left" in shown
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Fitting 3 folds for each of 2 candidates, totalling 6 fits" and len(said) == 2


def test_nothing_is_shown_elsewhere(monkeypatch, capsys):
    assert run(monkeypatch, False, verbose=1) == ""
    assert run(monkeypatch, True) == ""
    assert capsys.readouterr().err == ""


def test_the_line_begins_with_what_a_file_has(monkeypatch, tmp_path):
    run(monkeypatch, False, resume=tmp_path / "fits")
    shown = run(monkeypatch, True, resume=tmp_path / "fits", verbose=1)
    assert "6 of 6 fits" in shown and "0 of 6 fits" not in shown


def test_a_fit_that_is_made_once_more_is_counted_once(monkeypatch):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120, color_system=None)
    monkeypatch.setattr(progress, "make_console", lambda: console)
    search = GridSearchCV(gl.SVR(), {"C": [1.0, 1.001]}, cv=3, verbose=1, scoring="neg_mean_squared_error")
    search.fit(X[:, 1:], X[:, 0])  # the scores are close, so that they are computed more sharply in further rounds
    assert max(map(int, re.findall(r"(\d+) of 6 fits", shown.getvalue()))) == 6
