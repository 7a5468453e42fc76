"""The tables of the searches, from measurements that are made up."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

SIZES = [100, 100]
GRID = {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}
RIGHT = np.array([[80, 81], [90, 91], [70, 71], [60, 61]]) / 100
OFF = np.array([[80, 81], [90, 91], [70, 75], [60, 60]]) / 100
KEPT = np.array([[80, 81], [90, 91], [np.nan, np.nan], [60, np.nan]]) / 100


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    return importlib.import_module("_selection_report")


def searched(seconds, scores=RIGHT, index=1, proof=None):
    found = {
        "seconds": seconds,
        "scores": scores.tolist(),
        "index": index,
        "sizes": SIZES,
        "load": 1.0,
        "features": 7,
        "classes": 2,
    }
    if proof is not None:
        low, high = proof
        chosen = {"proven": True, "tied": [1], "text": "Proven best."}
        found |= {"low": low.tolist(), "high": high.tolist(), "selection": chosen}
    return found


@pytest.fixture
def measured(report):
    of_data = {
        "toy": {
            "ours": searched([1.0, 2.0, 3.0], proof=(RIGHT, RIGHT)),
            "racing": searched([1.0], KEPT, proof=(RIGHT - 0.01, RIGHT)),
            "scikit-learn, n_jobs=2": searched([40.0], OFF),
            "sklearnex": searched([12.0]),
            "sklearnex, n_jobs=2": searched([16.0]),
        },
        "other": {
            "ours": searched([1.0], proof=(OFF, OFF)),
            "racing": searched([0.5], proof=(OFF, OFF)),
            "scikit-learn, n_jobs=2": searched([5.0], index=0),
        },
    }
    return {report.key(data, 200, 2, label): search for data, ways in of_data.items() for label, search in ways.items()}


@pytest.fixture
def references(report):
    halves = {1.0: RIGHT[:2], 10.0: RIGHT[2:]}
    return {
        report.reference_key(data, 200, 2, 1e-8, C): {"seconds": 60.0, "scores": scores.tolist()}
        for data in ("toy", "other")
        for C, scores in halves.items()
    }


def rows_of(text, first):
    """The cells of the rows of tables whose first cell is this one."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    return [line for line in lines if line[0] == first]


def test_times_are_medians_and_ratios_are_to_the_faster_number_of_jobs(report, measured, references):
    text, wrong = report.text(measured, references, report.Case(200, 2, 2, 1e-8), GRID)
    assert wrong == []
    assert rows_of(text, "toy")[0] == [
        "toy",
        "7",
        "2",
        "2.00",
        "1.00",
        "2.00",
        "40.00 (2)",
        "20.00",
        "12.00 (None)",
        "6.00",
        "",
        "",
    ]
    assert rows_of(text, "other")[0] == ["other", "7", "2", "1.00", "0.50", "2.00", "5.00 (2)", "5.00", "", "", "", ""]
    mean = rows_of(text, "**geometric mean**")[0]
    assert (mean[5], mean[7], mean[9], mean[11]) == ("**2.00**", "**10.00**", "**6.00**", "")
    assert rows_of(text, "least")[0][7] == "5.00"
    assert [cell for cell in rows_of(text, "aim")[0] if cell] == ["aim", "2", "15", "5", "4"]


def test_fold_scores_and_choices_are_compared_with_the_right_ones(report, measured, references):
    text, _ = report.text(measured, references, report.Case(200, 2, 2, 1e-8), GRID)
    toy = {row[1]: row[3:] for row in rows_of(text, "toy")[1:] if len(row) == 10}
    assert toy["*right*"][:2] == ["1", "1"] and toy["*right*"][3] == "8"
    assert toy["ours"] == ["1", "1", "same", "8", "0", "0", "0"]
    assert toy["racing"] == ["1", "1", "same", "5", "0", "0", "0"]
    assert toy["scikit-learn, n_jobs=2"] == ["1", "1", "same", "8", "2", "4", "5"]
    other = {row[1]: row[3:] for row in rows_of(text, "other")[1:] if len(row) == 10}
    assert other["scikit-learn, n_jobs=2"][:3] == ["1", "0.1", "other"]


def test_proofs_tell_what_is_undecided_and_where_the_tight_tol_is_not_the_optimum(report, measured, references):
    text, _ = report.text(measured, references, report.Case(200, 2, 2, 1e-8), GRID)
    proofs = [row for name in ("toy", "other") for row in rows_of(text, name) if len(row) == 7]
    assert [row[:4] for row in proofs] == [
        ["toy", "ours", "0", "0"],
        ["toy", "racing", "8", "0"],
        ["other", "ours", "0", "2"],
        ["other", "racing", "0", "2"],
    ]


def test_every_fold_score_of_ours_that_is_not_right_is_named(report, measured, references):
    measured[report.key("toy", 200, 2, "ours")]["scores"] = OFF.tolist()
    text, _ = report.text(measured, references, report.Case(200, 2, 2, 1e-8), GRID)
    assert "Ours minus right on toy, in samples: C 10, γ 0.1, fold 1: +4; C 10, γ 1, fold 1: -1." in text
    assert "Ours minus right on other" not in text


def test_another_choice_by_racing_is_told(report, measured, references):
    measured[report.key("other", 200, 2, "racing")]["index"] = 3
    _, wrong = report.text(measured, references, report.Case(200, 2, 2, 1e-8), GRID)
    assert wrong == ["other"]


def test_without_the_right_scores_the_times_stand_alone(report, measured, references):
    del references[report.reference_key("toy", 200, 2, 1e-8, 10.0)]
    text, _ = report.text(measured, references, report.Case(200, 2, 2, 1e-8), GRID)
    assert all(row[5] == "" for row in rows_of(text, "toy") if len(row) == 10)
    assert rows_of(text, "toy")[0][7] == "20.00"


def test_measurements_of_other_cases_are_left_out(report, measured, references):
    text, _ = report.text(measured, references, report.Case(300, 2, 2, 1e-8), GRID)
    assert rows_of(text, "toy") == []
