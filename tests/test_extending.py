"""docs/extending.md keeps its word: the solver, the kernel and the loss that it adds pass what is asked of every one of the package.

The classes are the page's own. The tests are those of the package: each function that runs for every solver, kernel or loss is called for the
newcomer.
"""

from __future__ import annotations

import doctest
import inspect
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gapless as gl
from tests import sample_problems
from tests import test_matrix as matrix
from tests.kernels import test_every_kernel
from tests.kernels.samples import CASE_DATA, Case
from tests.losses import test_every_loss
from tests.sample_problems import CATALOGUE, Entry
from tests.solvers import test_every_solver

PAGE = Path(__file__).resolve().parents[1] / "docs" / "extending.md"
NEWCOMER = "greedy_ascent"
REFEREE = "smo"  # whose bounds the newcomer's have to meet


def page_classes() -> dict[str, Any]:
    """What the page's imports and class statements define, none of it registered."""
    namespace: dict[str, Any] = {"__name__": __name__}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        if example.source.startswith(("import ", "from ", "class ", "@dataclass")):
            exec(example.source, namespace)
    return namespace


CLASSES = page_classes()


def functions(module: ModuleType, keep: Callable[[Any], bool]) -> list[Any]:
    found = [f for name, f in vars(module).items() if name.startswith("test_") and keep(f)]
    assert len(found) >= 4  # a module that no longer holds what this file reads
    return found


def parameters(function: Any) -> dict[str, list[Any]]:
    """The values of each argument that a test is parametrised by."""
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    return {mark.args[0]: list(mark.args[1]) for mark in marks}


def calls(function: Any, argument: str, newcomer: Any) -> Iterator[dict[str, Any]]:
    """The arguments of each call of a test for the newcomer, over all that it is parametrised by besides."""
    others = {name: values for name, values in parameters(function).items() if name != argument}
    for chosen in itertools.product(*others.values()):
        yield {argument: newcomer, **dict(zip(others, chosen, strict=True))}


@pytest.fixture
def solver(monkeypatch):
    """The page's solver in its place in the registry."""
    monkeypatch.setitem(gl.solvers.SOLVERS, NEWCOMER, CLASSES["GreedyAscent"])
    monkeypatch.setattr(matrix, "SOLVERS", [NEWCOMER, REFEREE])
    return NEWCOMER


# --- the solver


OF_RUNS = functions(matrix, lambda f: "runs" in inspect.signature(f).parameters)
OF_SOLVERS = functions(test_every_solver, lambda f: parameters(f).get("name") == list(gl.solvers.SOLVERS))


def ask_the_matrix(entry: Entry) -> None:
    """All tests of the matrix, on one entry."""
    known = {"entry": entry, "runs": matrix.runs_of.__wrapped__(entry)}
    for function in OF_RUNS:
        function(**{name: known[name] for name in inspect.signature(function).parameters})


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda entry: entry.name)
def test_the_solver_passes_the_matrix(solver, entry):
    ask_the_matrix(entry)


def test_the_solver_is_asked_to_converge_on_many_problems(solver):
    covered = [
        entry for entry in CATALOGUE.values() if gl.solvers.SOLVERS[solver]().unsupported(entry.problem()) is None
    ]
    assert NEWCOMER not in matrix.FIRST_ORDER
    assert sum(entry.easy for entry in covered) >= 20
    assert {entry.problem().loss.name for entry in covered} == set(gl.losses.LOSSES) - {"logistic"}


@pytest.mark.parametrize("function", OF_SOLVERS, ids=lambda f: f.__name__)
def test_the_solver_does_what_every_solver_does(solver, function):
    for arguments in calls(function, "name", solver):
        function(**arguments)


def test_its_refusals_are_sentences(solver):
    matrix.test_a_refusal_is_a_sentence_with_a_way_out(solver)


# --- the kernel and the loss


OF_KERNELS = functions(
    test_every_kernel,
    # The formulas of known kernels are written down beside the tests.
    lambda f: "case" in parameters(f) and f.__name__ != "test_agrees_with_its_formula",
)
OF_LOSSES = functions(test_every_loss, lambda f: "loss" in parameters(f))


@pytest.mark.parametrize("function", OF_KERNELS, ids=lambda f: f.__name__)
def test_the_kernel_keeps_the_laws_of_every_kernel(monkeypatch, function):
    kernel = CLASSES["RationalQuadratic"]
    monkeypatch.setattr(kernel, "__module__", gl.kernels.__name__)
    monkeypatch.setattr(gl.kernels, kernel.__name__, kernel, raising=False)
    monkeypatch.setattr(gl.kernels, "__all__", [*gl.kernels.__all__, kernel.__name__])
    for arguments in calls(function, "case", Case(kernel(), CASE_DATA)):
        function(**arguments)


@pytest.mark.parametrize("function", OF_LOSSES, ids=lambda f: f.__name__)
def test_the_loss_keeps_the_laws_of_every_loss(monkeypatch, function):
    monkeypatch.setitem(gl.losses.LOSSES, "pinball", CLASSES["Pinball"])
    for arguments in calls(function, "loss", CLASSES["Pinball"](tau=0.8)):
        function(**arguments)


def test_the_loss_is_found_by_its_name(monkeypatch):
    monkeypatch.setitem(gl.losses.LOSSES, "pinball", CLASSES["Pinball"])
    test_every_loss.test_a_loss_is_found_by_its_name_and_compares_by_value("pinball")


def test_the_loss_gets_entries_of_the_catalogue_and_passes_the_matrix(monkeypatch):
    monkeypatch.setitem(gl.losses.LOSSES, "pinball", CLASSES["Pinball"])
    monkeypatch.setattr(sample_problems, "CATALOGUE", {})
    sample_problems.add_losses(["pinball"])
    entries = sample_problems.CATALOGUE
    assert list(entries) == ["pinball_free", "pinball_regularized", "pinball_none", "pinball_free_rbf"]
    for entry in entries.values():
        ask_the_matrix(entry)
