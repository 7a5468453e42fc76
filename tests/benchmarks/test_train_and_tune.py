"""The tables of train and tune, from measurements that are made up."""

from __future__ import annotations

import importlib
from argparse import Namespace
from pathlib import Path

import pytest

OURS = {
    "seconds": [9.0, 10.0, 30.0], "refit": 0.5, "peak_mb": 2048.0, "gamma": 0.02, "fits": 30, "certified": 29, "largest": 2e-3, "refit_gap": 1e-4,
    "index": 1, "lam": [1e3, 1.0, 1e-3], "wrong": [50, 10, 12], "proven": True, "tied": [1, 2], "text": "Tied.", "load": 1.0,
}  # fmt: skip


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    script = importlib.import_module("train_and_tune")
    monkeypatch.setattr(script, "version", lambda package: "4.3.2")
    return script


def tables(script, n, p, theirs):
    """The cells of the row of seconds and of the row of proofs."""
    measured = {script.key(n, p, 3, "ours"): OURS, script.key(n, p, 3, "torchkm 4.3.2"): theirs}
    text = script.text(measured, Namespace(sizes=[n], features=[p], lambdas=3))
    rows = [line for line in text.splitlines() if line.startswith(f"| {n:,} |")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_published_seconds_stand_beside_the_median_of_ours(script):
    times, _ = tables(script, 10_000, 1000, {"why": "not finished in 20 minutes"})
    assert times[2:6] == ["**10.0**", "9.0, 10.0, 30.0", "0.5", "2.0"]
    assert times[6:] == ["not finished in 20 minutes", "", "14,322.8", "279.4", "37.7", "**3.77**"]


def test_a_cell_that_is_not_in_the_paper_has_no_published_seconds(script):
    times, _ = tables(script, 10_000, 10, {"seconds": 25.0, "index": 1, "wrong": [50, 10, 12]})
    assert times[6:] == ["25.0", "2.5", "–", "–", "–", ""]


@pytest.mark.parametrize(("index", "verdict"), [(1, "same"), (2, "tied by our proof"), (0, "other")])
def test_their_choice_and_errors_are_compared_with_ours(script, index, verdict):
    _, proofs = tables(script, 500, 10, {"seconds": 25.0, "index": index, "wrong": [53, 10, 11]})
    assert proofs[3:9] == ["29 of 30", "2.0e-03", "1.0e-04", "1", "yes", "2"]
    assert proofs[10:] == [f"{OURS['lam'][index]:.3g}", verdict, "2 of 3", "3"]


def test_cells_of_an_earlier_run_stay_in_the_table(script):
    measured = {script.key(n, 1000, 3, "ours"): OURS for n in (10_000, 20_000)}
    text = script.text(measured, Namespace(sizes=[10_000], features=[1000], lambdas=3))
    assert [line.split(" | ")[6] for line in text.splitlines() if line.startswith(("| 10,000", "| 20,000"))][:2] == [
        "not run"
    ] * 2


def test_a_run_that_did_not_end_leaves_its_cells_empty(script):
    _, proofs = tables(script, 500, 10, {"why": "out of memory"})
    assert proofs[10:] == ["", "", "", ""]
