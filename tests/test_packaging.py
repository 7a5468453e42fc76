"""What the package says of itself: its requirements, its version, and what a release consists of."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import gapless

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Linters are held below the next version that may judge the code differently; nobody who installs Gapless meets them.
HELD = ("lint",)
REQUIREMENTS = [("dependencies", each) for each in PROJECT["dependencies"]]
REQUIREMENTS += [(extra, each) for extra, listed in PROJECT["optional-dependencies"].items() for each in listed]
IN_A_CLONE = pytest.mark.skipif(not (ROOT / ".github").exists(), reason="a source distribution has no .github")


@pytest.mark.parametrize(("extra", "requirement"), REQUIREMENTS, ids=lambda value: value)
def test_a_requirement_has_a_lower_bound_and_no_other(extra, requirement):
    named = requirement.partition(";")[0]
    if named.startswith("gapless["):
        extras = re.fullmatch(r"gapless\[([a-z,]+)\]", named)
        assert extras and set(extras[1].split(",")) <= PROJECT["optional-dependencies"].keys()
        return
    bound = r"[A-Za-z0-9-]+>=[0-9.]+" + (r"(,<[0-9.]+)?" if extra in HELD else "")
    assert re.fullmatch(bound, named.strip()), requirement


def test_what_the_tests_hold_exactly_is_said_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^TORCH := torch==[0-9.]+$", makefile, flags=re.MULTILINE)
    assert "==" not in " ".join(requirement.partition(";")[0] for _, requirement in REQUIREMENTS)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def releases():
    """(version, date) of the released sections of the changelog, newest first."""
    return re.findall(r"^## \[([^]]+)\] - (\d{4}-\d\d-\d\d)$", read("CHANGELOG.md"), flags=re.MULTILINE)


def test_the_version_is_one():
    """pyproject.toml says it; the package asks for it, and what cannot ask agrees."""
    citation = yaml.safe_load(read("CITATION.cff"))
    newest, date = releases()[0]
    assert PROJECT["version"] == gapless.__version__ == citation["version"] == newest
    assert citation["date-released"] == date and datetime.date.fromisoformat(date)
    sources = [
        path for path in (ROOT / "src").rglob("*.py") if f'"{PROJECT["version"]}"' in path.read_text(encoding="utf-8")
    ]
    assert sources == [] and "project(gapless LANGUAGES CXX)" in read("CMakeLists.txt")


def test_the_changelog_has_unreleased_above_what_was_released_newest_first():
    titles = re.findall(r"^## \[([^]]+)\]", read("CHANGELOG.md"), flags=re.MULTILINE)
    assert titles[0] == "Unreleased" and titles[1:] == [version for version, _ in releases()] and "0.1.0" in titles
    dates = [date for _, date in releases()]
    assert dates == sorted(dates, reverse=True)


def test_the_citation_agrees_with_the_package():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software" and citation["message"]
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]


@IN_A_CLONE
@pytest.mark.parametrize("name", ["bug", "feature"])
def test_issue_forms_ask_for_what_helps(name):
    form = yaml.safe_load(read(f".github/ISSUE_TEMPLATE/{name}.yml"))
    assert form["name"] and form["description"]
    fields = {field["id"]: field for field in form["body"]}
    assert len(fields) == len(form["body"]) and all(field["type"] == "textarea" for field in form["body"])
    assert any(field.get("validations", {}).get("required") for field in form["body"])
    if name == "bug":
        assert (
            "gapless info" in fields["versions"]["attributes"]["label"]
            and fields["versions"]["validations"]["required"]
        )


@IN_A_CLONE
def test_wheels_are_built_for_every_system_that_the_package_names():
    jobs = yaml.safe_load(read(".github/workflows/wheels.yml"))["jobs"]
    systems = jobs["wheels"]["strategy"]["matrix"]["os"]
    for system in ("ubuntu", "macos", "windows"):
        assert sum(each.startswith(system) for each in systems) == 2, system
    assert "secrets." not in read(".github/workflows/wheels.yml")
    step = next(each for each in jobs["sdist"]["steps"] if each.get("name") == "a tag names the version")
    for tag, code in ((f"v{PROJECT['version']}", 0), ("v99.0", 1)):
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "GITHUB_REF_NAME": tag}
        done = subprocess.run(["bash", "-ec", step["run"]], cwd=ROOT, env=environment, capture_output=True, check=False)
        assert done.returncode == code, done


def test_a_report_of_a_vulnerability_finds_its_way():
    text = read("SECURITY.md")
    assert "Report a vulnerability" in text and "gapless info" in text
