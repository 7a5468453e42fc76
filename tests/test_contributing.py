"""CONTRIBUTING.md tells the truth: its commands, its paths, its layers, and what it says of compilers and wheels.

Targets of ``make`` are asked of every page, since all of them send their readers to the Makefile.
"""

from __future__ import annotations

import ast
import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PAGES = [
    ROOT / name for name in ("CONTRIBUTING.md", "README.md", "CHANGELOG.md", *sorted(map(str, ROOT.glob("docs/*.md"))))
]

# What ``make help`` lists.
TARGETS = re.findall(r"^([a-z-]+):.*## ", MAKEFILE, flags=re.MULTILINE)
# What a build writes and ``make clean`` removes: such a path need not exist in a fresh clone.
BUILT = re.search(r"^clean:.*\n\trm -rf \$\(VENV\) (.+)$", MAKEFILE, flags=re.MULTILINE)[1].split()
# Left out of a source distribution.
OF_A_CLONE = (".ci", ".github")


def fenced(text: str) -> list[str]:
    """The lines of the blocks of code, without the remarks at their ends."""
    blocks = re.findall(r"^```(?:console)?\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]


def quoted(text: str) -> list[str]:
    """What stands between backticks outside the blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def make_commands(text: str) -> list[list[str]]:
    """The words after ``make`` of each command on a page."""
    commands = [shlex.split(line) for line in [*fenced(text), *quoted(text)] if re.match(r"make( |$)", line)]
    return [words[1:] for words in commands]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_target_that_a_page_names_is_in_the_makefile(page):
    for words in make_commands(page.read_text(encoding="utf-8")):
        variables = [word.partition("=")[0] for word in words if "=" in word]
        targets = [word for word in words if "=" not in word]
        assert set(targets) <= set(TARGETS), f"{page.name}: make {' '.join(words)}"
        for variable in variables:
            # CXX is read by CMake, through the environment.
            assert variable == "CXX" or f"$({variable})" in MAKEFILE, f"{page.name}: make {' '.join(words)}"


def test_every_target_is_on_the_page():
    named = {word for words in make_commands(TEXT) for word in words}
    assert len(TARGETS) > 15 and set(TARGETS) - {"help"} <= named  # plain ``make`` is help


PATHS = sorted(
    {
        name.split()[0]
        for name in quoted(TEXT)
        if re.fullmatch(r"[\w./*-]*(/|\.(py|md|toml|yml|hpp|cpp|supp))( .*)?|\.ci/.*", name)
    }
)


def test_the_page_names_paths():
    assert len(PATHS) > 15 and {"pyproject.toml", "solve.py", "native/", ".ci/sanitize"} <= set(PATHS)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_exists_in_the_checkout_or_in_the_package(path):
    top = path.strip("/").split("/")[0]
    if top in OF_A_CLONE and not (ROOT / top).exists():
        pytest.skip(f"a source distribution has no {top}")
    if top in BUILT:
        return
    pattern = f"**/{path}" if path.startswith("*") else path.rstrip("/")
    found = [match for base in (ROOT, ROOT / "src" / "gapless") for match in base.glob(pattern)]
    assert found and all(match.is_dir() for match in found if path.endswith("/")), path


def test_the_layers_are_those_of_the_contract():
    (contract,) = (each for each in PROJECT["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    # In parentheses: planned, and not there.
    layers = [[name for name in layer.split(" | ") if not name.startswith("(")] for layer in contract["layers"]]
    sentence = re.search(r"From top to bottom: (.+?)\.\n", TEXT, flags=re.DOTALL)[1]
    assert [re.findall(r"`(\w+)`", layer) for layer in sentence.split(";")] == [names for names in layers if names]


# --- the commands that are not of make

PYTEST = [shlex.split(line)[1:] for line in fenced(TEXT) if line.startswith(".venv/bin/pytest ")]


def test_every_tool_of_the_page_is_installed_by_the_extra_for_development():
    extras = PROJECT["project"]["optional-dependencies"]
    tools = {re.match(r"\.venv/bin/([\w-]+)", line)[1] for line in fenced(TEXT) if line.startswith(".venv/bin/")}
    installed = {re.split(r"[><=]", each)[0] for each in [*extras["test"], *extras["lint"]]}
    assert {"pytest", "pre-commit"} == tools <= installed and extras["dev"] == ["gapless[test,lint]"]


@pytest.mark.parametrize("words", [words for words in PYTEST if words[-1] != "tests"], ids=" ".join)
def test_a_command_of_pytest_finds_tests(words):
    (path,) = (ROOT / word for word in words if "/" in word)
    if "--doctest-modules" in words:
        assert any(">>> " in module.read_text(encoding="utf-8") for module in path.rglob("*.py"))
        return
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    tests = {node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
    parameters = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    wanted = words[words.index("-k") + 1] if "-k" in words else ""
    assert tests and any(wanted in name for name in tests | parameters)


def test_the_commands_over_all_tests_name_a_profile_that_there_is():
    profiles = [
        word.removeprefix("--hypothesis-profile=") for words in PYTEST if words[-1] == "tests" for word in words[:-1]
    ]
    assert profiles
    for profile in profiles:
        assert settings.get_profile(profile).max_examples > settings.get_profile("ci").max_examples


# --- what is needed, and what is built


def test_the_oldest_python_and_compilers_are_those_that_are_checked():
    oldest = runpy.run_path(str(ROOT / "native" / "check_compiler.py"))["OLDEST"]
    python = PROJECT["project"]["requires-python"].removeprefix(">=")
    needs = " or ".join(f"{name} {version}" for name, version in oldest.items())
    assert f"A machine needs Python {python} or newer with its headers, make, and {needs} or newer" in TEXT


def test_the_wheels_are_those_that_are_built():
    builds = [each.removesuffix("-*") for each in PROJECT["tool"]["cibuildwheel"]["build"].split()]
    stable = PROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
    alone = [each for each in builds if not each.endswith("t") and each != stable]
    assert stable in builds and any(each.endswith("t") for each in builds)
    versions = [f"3.{each.removeprefix('cp3')}" for each in (stable, *alone)]
    sentence = f"one for Python {versions[0]} and all after it (the stable ABI), one for {versions[1]} and one for each free-threaded Python"
    assert len(alone) == 1 and sentence in " ".join(TEXT.split())
