"""Counts that the pages and the docstrings state, such as "three intercepts" and "31 exercises", are those of the package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import gapless as gl
from gapless.demo import EXPERIMENTS
from gapless.problems.conventions import Convention
from gapless.problems.problem import Intercept
from gapless.testing import NAMES
from tests.campaign.test_campaign import SLICE
from tests.test_docs import exercise_headings, sections

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen")
# The pages but benchmarks.md, which counts what was measured; the experiments and the examples with their titles.
SOURCES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile", ROOT / "src/gapless/cli/demo.py"]
SOURCES += [path for path in sorted(DOCS.glob("*.md")) if path.name != "benchmarks.md"]
SOURCES += sorted((ROOT / "src/gapless/demo").glob("*.py")) + sorted((ROOT / "examples").glob("*.py"))


def default(variable: str, target: str) -> int:
    """The value that a target of the Makefile gives a variable."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return int(re.search(rf"^{target}: {variable} \?= (\d+)$", makefile, flags=re.MULTILINE)[1])


# The rows of the table of types, which begin with the number that svm-train takes.
LIBSVM_TYPES = [row for row in sections(DOCS / "from_libsvm.md")["Coming from LIBSVM"] if row[0][0].isdigit()]
SCALINGS = get_args(get_type_hints(gl.Result.alpha)["scaling"])

# A noun that is counted for the whole package wherever it follows a number, a word between allowed, and how many there are.
EVERYWHERE = {
    "solvers": len(gl.solvers.SOLVERS),
    "losses": len(gl.losses.LOSSES),
    "intercepts": len(get_args(Intercept)),
    "conventions": len(get_args(Convention)),
    "regularisations": len(get_args(Convention)),
    "exercises": len(exercise_headings()),
    "texts": len({text for text, _ in exercise_headings()}),
    "experiments": len(EXPERIMENTS),
}
# A sentence of one page, {} where its number stands.
SENTENCES = [
    (
        "README.md",
        "one recipe for {} methods",
        len(sections(DOCS / "kernelised.md")["The kernel trick beyond the margin"]),
    ),
    ("docs/conventions.md", "β, and α in {} scalings", len(SCALINGS)),
    ("docs/index.md", "{} scalings of α", len(SCALINGS)),
    ("docs/from_libsvm.md", "LIBSVM's {} machines", len(LIBSVM_TYPES)),
    ("docs/reliability.md", "make campaign # {} problems", default("COUNT", "campaign")),
    ("docs/reliability.md", "make mutations # {} damaged model files", default("COUNT", "mutations")),
    ("docs/reliability.md", "a fixed slice of {} problems", SLICE),
    ("src/gapless/testing.py", "scikit-learn's {} estimators are replaced by those of Gapless", len(NAMES)),
    ("src/gapless/testing.py", "one of scikit-learn's {}.", len(NAMES)),
    (
        "src/gapless/problems/conventions.py",
        "The {} ways in which texts state the trade-off",
        len(get_args(Convention)),
    ),
]


def number(written: str) -> int:
    """What a word or digits say.

    >>> number("Eleven"), number("110,000")
    (11, 110000)
    """
    return WORDS.index(written.lower()) + 1 if written.lower() in WORDS else int(written.replace(",", ""))


NUMBER = rf"\b({'|'.join(WORDS)}|\d[\d,]*)"


def stated(text: str, noun: str) -> list[tuple[str, int]]:
    """(what is written, the number in it) wherever a number counts the noun."""
    found = re.finditer(rf"{NUMBER} (?:textbook )?{noun}\b", text, flags=re.IGNORECASE)
    return [(match[0], number(match[1])) for match in found]


@pytest.mark.parametrize(("noun", "count"), EVERYWHERE.items())
def test_a_number_before_the_noun_is_how_many_there_are(noun, count):
    places = [(path, *each) for path in SOURCES for each in stated(path.read_text(encoding="utf-8"), noun)]
    assert places, f"no page counts {noun} any more: the row can go"
    for path, written, value in places:
        assert value == count, f"{path.relative_to(ROOT)} says {written!r}, but there are {count}"


@pytest.mark.parametrize(
    ("page", "sentence", "count"), SENTENCES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_sentence_gives_the_number_that_there_is(page, sentence, count):
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    before, after = map(re.escape, sentence.split("{}"))
    (written,) = set(re.findall(rf"{before}{NUMBER}{after}", text, flags=re.IGNORECASE))
    assert number(written) == count, f"{page} says {written!r}, but there are {count}"


def test_a_wrong_number_would_be_found():
    assert stated("- **Twelve solvers** and 30 exercises, four textbook experiments", "solvers") == [
        ("Twelve solvers", 12)
    ]
    assert stated("from 1,200 problems", "problems") == [("1,200 problems", 1200)]
    assert stated("eleven of the solvers", "solvers") == []
