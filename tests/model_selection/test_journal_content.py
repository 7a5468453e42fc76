"""Journals whose checksums hold, and whose content no search has written: each is refused in a sentence, or its fits are taken as they are."""

from __future__ import annotations

import json
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gapless as gl
from gapless.errors import InvalidInputError

X, Y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2


def search(path: Path) -> Any:
    return gl.model_selection.GridSearchCV(gl.LinearSVC(), {"C": [0.1, 1.0]}, cv=2, resume=path).fit(X, Y)


@pytest.fixture
def lines(tmp_path: Path) -> list[dict[str, Any]]:
    search(tmp_path / "sound")
    return [json.loads(line) for line in (tmp_path / "sound").read_text().splitlines()]


def sealed(lines: list[Any]) -> bytes:
    """Lines with checksums that hold."""
    content = b""
    for line in lines:
        if isinstance(line, dict):
            body = json.dumps({name: value for name, value in line.items() if name != "crc32"}).encode()
            content += body[:-1] + b', "crc32": "%08x"}\n' % zlib.crc32(body)
        else:
            content += line
    return content


CHANGES = {
    "no facts": lambda lines: lines[0].pop("facts"),
    "facts of another kind": lambda lines: lines[0].update(facts=5),
    "facts without a name": lambda lines: lines[0]["facts"].pop("folds"),
    "parameters of another kind": lambda lines: lines[0]["facts"].update(parameters=[1]),
    "fit_params of another kind": lambda lines: lines[0]["facts"].update(fit_params=7),
    "no candidate": lambda lines: lines[1].pop("candidate"),
    "no fold": lambda lines: lines[1].pop("fold"),
    "a fold that is a text": lambda lines: lines[1].update(fold="0"),
    "no outcome": lambda lines: lines[1].pop("outcome"),
    "an outcome that is a number": lambda lines: lines[1].update(outcome=5),
    "an outcome of another class": lambda lines: lines[1].update(outcome={"tuple": [1, 2]}),
    "an outcome of nothing": lambda lines: lines[1].update(outcome={}),
}


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_content_that_no_search_has_written_is_refused(
    change: str, lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    CHANGES[change](lines)
    (tmp_path / "changed").write_bytes(sealed(lines))
    with pytest.raises(
        InvalidInputError,
        match=r"^resume='.*changed' (was not written by a search: its checksums hold|has the fits of)",
    ):
        search(tmp_path / "changed")


def test_an_outcome_with_values_of_other_kinds_is_refused(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    """Every place of the stored outcome in turn holds a text, a list, a boolean, and nothing."""

    def places(form: Any, path: tuple[Any, ...] = ()) -> Any:
        yield path
        if isinstance(form, dict | list):
            for name in form if isinstance(form, dict) else range(len(form)):
                yield from places(form[name], (*path, name))

    counts = {"refused": 0, "taken": 0}
    for path in places(lines[1]["outcome"]):
        for value in ("x", [1], True, None, {"a": 1}, 1e400):
            changed = json.loads(json.dumps(lines))
            at: Any = changed[1]
            for name in ("outcome", *path)[:-1]:
                at = at[name]
            at[("outcome", *path)[-1]] = value
            (tmp_path / "changed").write_bytes(sealed(changed))
            try:
                with warnings.catch_warnings(action="ignore"):  # of scores that are infinite
                    search(tmp_path / "changed")
                counts["taken"] += 1
            except InvalidInputError as error:
                assert str(error).startswith("resume=")
                counts["refused"] += 1
    assert counts["refused"] > 30


def test_a_line_that_is_no_object_ends_what_is_read(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    body = b"[1]"
    odd = body[:-1] + b', "crc32": "%08x"}\n' % zlib.crc32(b"[1}")
    (tmp_path / "changed").write_bytes(sealed([*lines[:2], odd, *lines[2:]]))
    try:
        search(tmp_path / "changed")
    except InvalidInputError as error:
        assert str(error).startswith("resume=")
