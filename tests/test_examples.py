"""The gallery's examples run as plain scripts, warn about nothing, draw one figure each, and show what their texts claim."""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

import gapless as gl

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))
Names = dict[str, Any]


def two_rings(names: Names, printed: str) -> None:
    accuracy = names["accuracy"]
    assert accuracy["linear, Cartesian"] < 0.7 < 0.98 < min(accuracy["linear, polar"], accuracy["RBF kernel"])
    assert printed.count("relative gap") == 3


def primal_meets_dual(names: Names, printed: str) -> None:
    low, high = map(float, re.search(r"together: dual (\S+) <= optimum <= (\S+) primal\n", printed).groups())  # type: ignore[union-attr]
    assert low <= high <= low * (1 + 1e-6)
    solvers = [name for name in gl.solvers.SOLVERS if name != "newton"]
    assert re.findall(r"^(\w+) .*\d\.\de-\d\d", printed, flags=re.MULTILINE) == solvers
    assert " all meet at " in plt.gca().get_title(loc="left")


def no_hard_margin(names: Names, printed: str) -> None:
    assert names["apart"].status is gl.Status.CONVERGED and names["stray"].status is gl.Status.NOT_SEPARABLE
    left, right = printed.strip().splitlines()[-2:]
    assert left.split(" = ")[1] == right.split(" = ")[1]  # the point that both hulls share


CLAIMS: dict[str, Callable[[Names, str], None]] = {
    claim.__name__: claim for claim in (two_rings, primal_meets_dual, no_hard_margin)
}


def test_every_example_has_its_claims():
    assert {path.stem for path in EXAMPLES} == set(CLAIMS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_shows_what_it_claims(path, capsys, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    try:
        names = runpy.run_path(str(path), run_name="__main__")
        assert len(plt.get_fignums()) == 1, "an example draws one figure"
        assert any(ax.get_title() or ax.get_title(loc="left") for ax in plt.gcf().axes)
        CLAIMS[path.stem](names, capsys.readouterr().out)
    finally:
        plt.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_a_title_and_a_sentence(path):
    """What sphinx-gallery reads for the page and for the words under its thumbnail."""
    title, rule, _, sentence = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").splitlines()[:4]
    assert title and rule == "=" * len(title) and len(sentence) > 40
