"""The list of slow tests names tests that there are, and their order lets parallel workers end together."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import slowest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", slowest.read())
def test_a_listed_test_exists(name):
    file, _, test = name.partition("::")
    assert (ROOT / file).is_file(), f"{name} is gone: make slowest writes the list anew"
    if file.startswith("tests/"):
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert test in functions, f"{name} is gone: make slowest writes the list anew"


def test_the_list_is_whole():
    listed = slowest.read()
    assert len(set(listed)) == len(listed) == slowest.COUNT


@pytest.mark.parametrize("workers", [1, 2, 3, 7, 50])
def test_every_test_runs_once_and_each_share_begins_with_slow_ones(workers):
    names = [str(k) for k in range(41)]
    listed = names[40:19:-2]
    order = slowest.ordered(names, listed, workers)
    assert sorted(order) == list(range(41))
    if workers <= len(listed):
        start = 0
        for k in range(workers):  # as worksteal deals them out
            assert names[order[start]] == listed[k]
            start += (len(names) - start) // (workers - k)


def test_listed_tests_are_dealt_out_in_turns_and_the_others_keep_their_order():
    names = [f"t{k}[{p}]" for k in range(50) for p in "ab"]
    order = [names[place] for place in slowest.ordered(names, ["t30", "t3"], workers=2)]
    assert order[:2] == ["t30[a]", "t3[a]"] and order[50:52] == ["t30[b]", "t3[b]"]
    assert [name for name in order if name[:3] not in ("t30", "t3[")] == [
        name for name in names if name[:3] not in ("t30", "t3[")
    ]


def test_a_run_records_its_slowest_calls(tmp_path, monkeypatch):
    monkeypatch.setattr(slowest, "COUNT", 2)
    recorder = slowest.Recorder(tmp_path / "list.txt")
    seen = [("a", "setup", 60.0), ("a", "call", 0.1), ("b[1]", "call", 9.0), ("b[2]", "call", 0.5), ("c", "call", 12.0)]
    for name, when, duration in seen:
        recorder.pytest_runtest_logreport(SimpleNamespace(nodeid=name, when=when, duration=duration))
    recorder.pytest_sessionfinish()
    assert slowest.read(recorder.path) == ["c", "b"]
