"""kill -9 at every step by which a store, a model file or a journal comes to its place: the former content or the new one is there, and whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gapless as gl
from gapless.data.store import convert, is_store, open_store
from gapless.errors import GaplessError, InvalidInputError
from tests.campaign.steps import steps

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills by signals")


def write_source(tmp_path: Path, n: int) -> None:
    rng = np.random.default_rng(n)
    (tmp_path / "source.svm").write_text("".join(f"{i % 2} 1:{rng.normal():.3f} 2:1\n" for i in range(n)))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_store_is_the_former_one_or_the_new_one_at_every_step(tmp_path: Path, moment: str) -> None:
    seen = set()

    def former() -> None:
        write_source(tmp_path, 3)
        convert(tmp_path / "source.svm", tmp_path / "target")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["source.svm", "target"]
        assert len(list((tmp_path / "target").iterdir())) == 5  # what the kill before this one has left is gone
        write_source(tmp_path, 7)

    def check() -> None:
        samples = open_store(tmp_path / "target")
        assert samples.X.shape == (len(samples.y), 2) and samples.X.has_canonical_format
        seen.add(len(samples.y))

    assert steps(lambda: convert(tmp_path / "source.svm", tmp_path / "target"), moment, former, check) >= 8
    assert seen == {3, 7}


def test_a_first_store_is_not_there_or_whole_at_every_step(tmp_path: Path) -> None:
    seen = set()

    def nothing() -> None:
        write_source(tmp_path, 5)
        if is_store(tmp_path / "target"):
            convert(tmp_path / "source.svm", tmp_path / "target")
            for path in (tmp_path / "target").iterdir():
                path.unlink()
            (tmp_path / "target").rmdir()

    def check() -> None:
        seen.add(len(open_store(tmp_path / "target").y) if (tmp_path / "target").exists() else 0)

    assert steps(lambda: convert(tmp_path / "source.svm", tmp_path / "target"), "before", nothing, check) >= 4
    assert seen == {0, 5}


def test_a_model_file_is_the_former_one_or_the_new_one_at_every_step(tmp_path: Path) -> None:
    X, y = np.arange(8.0)[:, None], np.arange(8) // 4
    first = gl.SVC(C=1.0).fit(X, y)
    seen = set()

    def check() -> None:
        seen.add(gl.load(tmp_path / "target").C)

    second = gl.SVC(C=2.0).fit(X, y)
    for moment in ("before", "after"):
        assert (
            steps(lambda: second.save(tmp_path / "target"), moment, lambda: first.save(tmp_path / "target"), check) >= 2
        )
    assert seen == {1.0, 2.0}


def test_a_search_goes_on_from_a_journal_that_was_cut_at_every_write(tmp_path: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    grid = {"C": [0.1, 1.0]}
    whole = gl.model_selection.GridSearchCV(gl.LinearSVC(), grid, cv=2).fit(X, y)

    def search() -> Any:
        return gl.model_selection.GridSearchCV(gl.LinearSVC(), grid, cv=2, resume=tmp_path / "target").fit(X, y)

    def check() -> None:
        np.testing.assert_array_equal(search().cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])

    assert steps(search, "before", lambda: (tmp_path / "target").unlink(missing_ok=True), check) >= 5


def test_a_store_that_an_earlier_version_had_moved_aside_is_put_back(tmp_path: Path) -> None:
    write_source(tmp_path, 5)
    convert(tmp_path / "source.svm", tmp_path / "target")
    (tmp_path / "target").rename(tmp_path / "target.former.part")
    assert len(open_store(tmp_path / "target").y) == 5
    assert not (tmp_path / "target.former.part").exists()


def test_an_open_store_is_read_on_after_it_was_replaced(tmp_path: Path) -> None:
    write_source(tmp_path, 5)
    convert(tmp_path / "source.svm", tmp_path / "target")
    former = open_store(tmp_path / "target")
    before = former.X.toarray()
    write_source(tmp_path, 9)
    convert(tmp_path / "source.svm", tmp_path / "target")
    np.testing.assert_array_equal(former.X.toarray(), before)
    assert open_store(tmp_path / "target").X.shape[0] == 9


def test_a_generation_that_is_no_generation_is_refused(tmp_path: Path) -> None:
    write_source(tmp_path, 5)
    convert(tmp_path / "source.svm", tmp_path / "target")
    head = tmp_path / "target" / "store.json"
    head.write_text(head.read_text().replace("{", '{"generation": "../../x",', 1))
    with pytest.raises(InvalidInputError, match=r"is a store that cannot be read: its generation is '\.\./\.\./x'"):
        open_store(tmp_path / "target")


# --- what is no file


@pytest.fixture(params=["device", "endless device", "pipe"])
def no_file(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """(path, what it is)"""
    if request.param == "pipe":
        os.mkfifo(tmp_path / "pipe")
        return tmp_path / "pipe", "a pipe"
    return (Path("/dev/full") if request.param == "device" else Path("/dev/zero")), "a device"


def test_what_is_no_file_is_refused_in_a_sentence(no_file: tuple[Path, str]) -> None:
    """Also by the process, which would otherwise wait for ever or fill the memory."""
    path, kind = no_file
    X, y = np.arange(8.0)[:, None], np.arange(8) // 4
    model = gl.SVC().fit(X, y)
    with pytest.raises(GaplessError, match=f"cannot be read: it is {kind}, not a file"):
        gl.load(path)
    with pytest.raises(GaplessError, match=f"cannot be written: it is {kind}, not a file"):
        model.save(path)
    with pytest.raises(GaplessError, match=rf"^resume='{path}' must be a file; it is {kind}\.$"):
        gl.model_selection.GridSearchCV(gl.SVC(), {"C": [1.0]}, cv=2, resume=path).fit(X, y)
    with pytest.raises(GaplessError, match=f"the LIBSVM model {path} cannot be read: it is {kind}, not a file"):
        gl.certify(path, X, y)
    if kind == "a device":
        with pytest.raises(GaplessError, match=f"{path} is a device, not a file"):
            convert(path, "never written")
    assert path.exists() and not path.is_file()


def test_the_command_line_refuses_devices() -> None:
    from typer.testing import CliRunner

    from gapless.cli import app

    for command in (["info", "/dev/zero"], ["train", "/dev/zero"], ["predict", "/dev/zero", "/dev/zero"]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code and "a device, not a file" in " ".join(done.output.split()), done.output
