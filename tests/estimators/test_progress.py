"""The live line of ``verbose``."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

import gapless as gl
from gapless.estimators import progress
from gapless.estimators.progress import log_share
from tests.estimators.data import cancer, iris


@pytest.fixture
def terminal(monkeypatch):
    """A console that takes itself for a terminal, and what was written to it."""
    written = io.StringIO()
    monkeypatch.setattr(progress, "make_console", lambda: Console(file=written, force_terminal=True, width=200))
    return written


def test_one_line_with_gap_support_vectors_and_rate(terminal):
    gl.SVC(verbose=True, tol=1e-6).fit(*cancer())
    text = terminal.getvalue()
    assert "SVC" in text and "→ 1e-06" in text and "support vectors" in text and "pairs/s" in text


def test_subproblems_are_counted(terminal):
    gl.LinearSVC(verbose=1, solver="sdca").fit(*iris())
    assert "LinearSVC 3/3" in terminal.getvalue() and "epochs/s" in terminal.getvalue()


def test_silent_unless_asked(terminal):
    gl.SVC().fit(*cancer())
    assert terminal.getvalue() == ""


def test_silent_where_there_is_no_terminal(capfd):
    gl.SVC(verbose=True).fit(*cancer())
    gl.LinearSVC(verbose=3).fit(*cancer())
    assert capfd.readouterr() == ("", "")


def test_the_bar_is_logarithmic():
    assert log_share(1.0, 1.0, 1e-4) == 0.0
    assert log_share(1.0, math.inf, 1e-4) == 0.0
    assert log_share(1.0, 1e-2, 1e-4) == pytest.approx(0.5)
    assert log_share(1.0, 1e-5, 1e-4) == 1.0


def test_the_line_ends_after_an_interruption(terminal):
    def press(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gl.SVC(verbose=True, callback=press).fit(*cancer())
    terminal.truncate(0)
    gl.SVC().fit(*cancer())
    assert terminal.getvalue().strip("\0") == ""
