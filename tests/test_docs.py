"""The documentation cannot rot: what its pages name exists, its links lead somewhere, and its figures are drawn from its examples.

The ``>>>`` code on the pages is run by pytest itself (``--doctest-glob="*.md"``), the gallery's scripts by test_examples.py.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import gapless as gl
from gapless.cli import app
from gapless.cli.task import TASKS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
CODE_LINK = re.compile(r"\[`([\w.]+)`\]\(\.\./((?:src/gapless|tests)/[\w/]+\.py|native/[\w/]+\.hpp)\)")
LINK = re.compile(r"\]\(([^)\s]+)\)")

by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def sections(page: Path) -> dict[str, list[list[str]]]:
    """The cells of each table row, heads left out, by the heading above it."""
    found: dict[str, list[list[str]]] = {}
    heading, place = "", 0
    for line in page.read_text(encoding="utf-8").splitlines():
        place = place + 1 if line.startswith("|") else 0  # the first line of a table is its head, the second a rule
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif place > 2:
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return found


@cache
def functions(path: Path) -> set[str]:
    return {
        node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    }


def has(owner: object, name: str) -> bool:
    """Whether a module or class has an attribute; a dataclass field without a default counts."""
    return hasattr(owner, name) or name in inspect.get_annotations(owner)  # type: ignore[arg-type]


def assert_exists(name: str, file: str) -> None:
    path = ROOT / file
    assert path.is_file(), f"{file} does not exist"
    if file.startswith("tests/"):
        assert name in functions(path), f"{file} has no test {name}"
        return
    if file.startswith("native/"):
        *owners, function = name.split(".")
        text = path.read_text(encoding="utf-8")
        assert all(re.search(rf"\b(?:struct|class) {each}\b", text) for each in owners), f"{file} has no {name}"
        assert re.search(rf"\b{function}\(", text), f"{file} has no {name}"
        return
    owner: object = importlib.import_module(file.removeprefix("src/").removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        assert has(owner, part), f"{file} has no {name}"
        owner = getattr(owner, part, None)


def textbook_rows() -> list[tuple[str, list[str]]]:
    return [(heading, row) for heading, rows in sections(DOCS / "textbook.md").items() for row in rows]


def test_the_textbook_page_has_all_its_sections():
    counts = {heading[0]: len(rows) for heading, rows in sections(DOCS / "textbook.md").items()}
    assert counts == {"1": 12, "2": 10, "3": 8, "4": 7, "5": 13, "6": 5, "7": 4}


@pytest.mark.parametrize(("heading", "row"), textbook_rows(), ids=lambda value: value[0][:40] if value else "")
def test_every_row_of_the_textbook_page_names_what_exists(heading, row):
    if heading[0] in "123456":
        _, module, test = row
        files = [file for _, file in CODE_LINK.findall(module)]
        assert files and all(file.startswith(("src/", "native/")) for file in files)
        assert all(file.startswith("tests/") for _, file in CODE_LINK.findall(test)) and CODE_LINK.findall(test)
    for name, file in CODE_LINK.findall(" ".join(row)):
        assert_exists(name, file)


def test_a_name_that_does_not_exist_would_be_found():
    with pytest.raises(AssertionError, match=r"solve\.py has no resolve"):
        assert_exists("resolve", "src/gapless/solve.py")
    with pytest.raises(AssertionError, match=r"dual\.hpp has no DualBox\.leap"):
        assert_exists("DualBox.leap", "native/core/dual.hpp")
    with pytest.raises(AssertionError, match=r"test_docs\.py has no test test_nothing"):
        assert_exists("test_nothing", "tests/test_docs.py")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, in GitHub's spelling."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@by_page
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        destination = (page.parent / file).resolve() if file else page
        assert destination.exists(), f"{page.name} links to {target}, which does not exist"
        assert not anchor or anchor in anchors(destination), f"{page.name} links to {target}, which has no such heading"


def test_the_index_names_every_page():
    linked = set(LINK.findall((DOCS / "index.md").read_text(encoding="utf-8")))
    assert {page.name for page in PAGES} - {"index.md"} <= linked


def test_the_page_on_solvers_names_every_solver():
    named = [row[0].strip("`") for row in sections(DOCS / "solvers.md")["All of them"]]
    assert named == list(gl.solvers.SOLVERS)


def test_the_page_on_kernels_names_every_kernel():
    text = (DOCS / "kernels.md").read_text(encoding="utf-8")
    for name in gl.kernels.__all__:
        kernel = getattr(gl.kernels, name)
        written_by_operators = ("Sum", "Product", "Scaled", "Power", "Exp", "KernelPolynomial")
        if inspect.isclass(kernel) and issubclass(kernel, gl.kernels.Kernel) and not inspect.isabstract(kernel):
            assert name in written_by_operators or f"`{name}(" in text, f"docs/kernels.md does not name {name}"


def exercise_headings() -> list[tuple[str, int]]:
    """(the letter of the text, the number) of each exercise, in the order of the page."""
    found, text = [], ""
    for line in (DOCS / "exercises.md").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"## ([A-Z])\. \S", line):
            text = match[1]
        elif match := re.match(r"### (\d+)\. \S", line):
            found.append((text, int(match[1])))
    return found


@pytest.mark.parametrize("number", range(1, 32))
def test_the_page_of_exercises_answers_each_one_in_its_place(number):
    text = next(text for text, last in (("A", 6), ("B", 13), ("C", 17), ("D", 22), ("E", 31)) if number <= last)
    found = exercise_headings()
    assert found[number - 1 : number] == [(text, number)]
    assert len(found) <= 31


def test_the_page_on_the_proof_names_every_loss():
    losses = [row[0] for row in sections(DOCS / "proof.md")["The problem and its dual"] if len(row) == 4]
    assert len([name for name in losses if not name.startswith("`")]) == len(gl.losses.LOSSES)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_make_figures_draws_every_figure_that_is_shown():
    """But that of the benchmark of growth, which an hour's measurement draws."""
    draw = load(DOCS / "draw.py")
    shown = {
        path
        for page in (ROOT / "README.md", *PAGES)
        for path in re.findall(r"figures/([\w-]+)\.png\)", page.read_text("utf-8"))
    }
    drawn = {source.stem.replace("_", "-") for source in draw.sources() if source.suffix == ".py"}
    for page in (source for source in draw.sources() if source.suffix == ".md"):
        drawn |= set(re.findall(r"^>>> figure_(\w+) = Figure\(", page.read_text("utf-8"), flags=re.MULTILINE))
    assert shown - drawn == {"kernel-growth"} and drawn <= shown
    assert {f"{name}.png" for name in shown} == {path.name for path in (DOCS / "figures").glob("*.png")}


def test_the_tasks_of_the_command_line_that_pages_name_are_its_own():
    pages = [ROOT / "README.md", *PAGES]
    named = [(path.name, task) for path in pages for task in re.findall(r"--task ([\w-]+)", path.read_text("utf-8"))]
    assert named
    for page, task in named:
        assert task in TASKS, f"{page} says --task {task}"


def test_the_readme_names_every_subcommand():
    commands = {command.name or command.callback.__name__ for command in app.registered_commands}
    line = re.search(r"- \*\*A command line\*\*: (.+)\.", (ROOT / "README.md").read_text(encoding="utf-8"))[1]
    assert {name.removeprefix("gapless ") for name in re.findall(r"`([\w ]+)`", line)} == commands
