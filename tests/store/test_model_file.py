"""Files that are no sound model are refused by a sentence, and what is on disk is never half a model."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save as save_tensors

import gapless as gl
from gapless.errors import InvalidInputError, ModelFileError
from gapless.store import describe, model_file
from tests.store.crafting import DENSE, load_bytes, sealed
from tests.store.models import fitted

if sys.platform != "win32":
    import fcntl


@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_any_changed_byte_is_found(place: float, flip: int, sound: bytes, folder: Path) -> None:
    content = bytearray(sound)
    content[int(place * len(content))] ^= flip
    with pytest.raises(ModelFileError):
        load_bytes(bytes(content), folder)


def test_every_changed_byte_of_a_small_file_is_found(folder: Path) -> None:
    path = folder / "small.safetensors"
    model_file.write(path, {"class": "SVC.."}, {"support_": np.arange(3)})
    small = path.read_bytes()
    assert b"} " in small, "the padding of the header is part of what is tested"
    for place in range(len(small)):
        for value in {small[place] ^ 1, small[place] ^ 0x20, ord("\n")} - {small[place]}:
            path.write_bytes(small[:place] + bytes([value]) + small[place + 1 :])
            with pytest.raises(ModelFileError):
                model_file.read(path)


@given(share=st.floats(0, 1, exclude_max=True))
def test_any_cut_is_found(share: float, sound: bytes, folder: Path) -> None:
    with pytest.raises(ModelFileError):
        load_bytes(sound[: int(share * len(sound))], folder)


@given(content=st.binary(max_size=200))
def test_any_other_bytes_are_refused(content: bytes, folder: Path) -> None:
    with pytest.raises(ModelFileError):
        load_bytes(content, folder)


def test_a_longer_file_is_found(sound: bytes, folder: Path) -> None:
    with pytest.raises(
        ModelFileError,
        match=r"^The file '.*' is damaged: its checksum does not fit its content, so that bytes were changed or lost\. ",
    ):
        load_bytes(sound + b"\0", folder)


def test_a_byte_of_a_support_vector_is_told_as_damage(sound: bytes, folder: Path) -> None:
    content = bytearray(sound)
    content[-5] ^= 4
    with pytest.raises(ModelFileError, match=r"is damaged: .* Save the model again, or fetch another copy\.$"):
        load_bytes(bytes(content), folder)


class _Trap:
    def __reduce__(self) -> Any:
        return (os.mkdir, ("the trap was sprung",))


def test_what_is_no_model_file_is_refused_in_words(sound: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    tensors = {"a": np.ones(3)}
    header = "is not a model file of Gapless, or its header is damaged or cut short."
    for content, message in [
        (b"", "is empty."),
        (b"1 1:0.5 2:3\n", header),
        (sound[:100], header),
        (
            pickle.dumps(_Trap()),
            "looks like a pickle, which Gapless does not load, since loading a pickle runs the code in it. ",
        ),
        (pickle.dumps(_Trap(), protocol=0), header),
        *(
            (pickle.dumps(_Trap(), protocol=k), "looks like a pickle, which Gapless does not load")
            for k in (2, 3, 4, 5)
        ),
        (b"\x80", header),
        (b"\x80\x03\0\0\0\0\0\0{", header),  # a header of 896 bytes that was cut, whose length begins as pickles do
        (
            save_tensors(tensors),
            "is a safetensors file, but not a model that Gapless has saved: it does not say its gapless_format.",
        ),
        (
            save_tensors(tensors, metadata={"format": "pt"}),
            "is a safetensors file, but not a model that Gapless has saved",
        ),
        (
            sealed(tensors, {"gapless_format": "2"}),
            "has the format version 2, and this version of Gapless reads up to 1; install a newer one.",
        ),
        (sealed(tensors, {"gapless_format": "one"}), "is damaged: its gapless_format is 'one', not a number."),
        (sealed(tensors, {"gapless_format": "0"}), "is damaged: its gapless_format is '0', not a number."),
        (
            sealed(tensors, {}),
            "was not written by Gapless: its checksum holds, but its content is not that of a model.",
        ),
        (sealed(tensors, {"model": "[]"}), "was not written by Gapless"),
        (sealed(tensors, {"model": "["}), "was not written by Gapless"),
        (sealed(tensors, {"model": "[" * 100_000}), "was not written by Gapless"),
        (b"\x02\0\0\0\0\0\0\0[]", header),
        (b'\x14\0\0\0\0\0\0\0{"__metadata__":[]} ', "is a safetensors file, but not a model that Gapless has saved"),
    ]:
        with pytest.raises(ModelFileError) as caught:
            load_bytes(content, folder)
        assert str(caught.value).startswith(f"The file '{folder / 'model.safetensors'}' {message}")
    assert not (folder / "the trap was sprung").exists()


def test_a_path_without_a_readable_file_is_refused_in_words(folder: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^There is no model file '.*nothing.safetensors'\.$"):
        gl.load(folder / "nothing.safetensors")
    with pytest.raises(ModelFileError, match=r"^The model file '.*' cannot be read: Is a directory\.$"):
        gl.load(folder)
    assert issubclass(ModelFileError, InvalidInputError)


def test_text_that_looks_like_the_checksum_entry_does_no_harm(folder: Path) -> None:
    path = folder / "tricky.safetensors"
    text = f'"checksum":"{"0" * 64}"'
    model_file.write(path, {"class": text, text: text}, {})
    assert describe(path) == {"class": text, text: text}


def test_a_failed_write_leaves_the_old_model_and_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.safetensors"
    model, _ = fitted(DENSE)
    model.save(path)
    before = path.read_bytes()

    def fail(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ModelFileError, match=r"^The model file '.*' cannot be written: No space left on device\.$"):
        model.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.safetensors"]


def test_an_interrupted_write_leaves_the_old_model_and_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"old")

    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fitted(DENSE).model.save(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.safetensors"]


def test_a_folder_that_is_not_there_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^The model file '.*' cannot be written: No such file or directory\.$"):
        fitted(DENSE).model.save(tmp_path / "nowhere" / "model.safetensors")


def test_a_link_is_followed_and_the_usual_permissions_are_given(tmp_path: Path) -> None:
    plain, target, link = tmp_path / "plain", tmp_path / "target", tmp_path / "link"
    plain.write_bytes(b"")
    link.symlink_to(target)
    fitted(DENSE).model.save(link)
    assert link.is_symlink()
    assert target.stat().st_mode == plain.stat().st_mode
    assert gl.load(link).get_params() == fitted(DENSE).model.get_params()


_KILLED = """
import os, signal, sys
import gapless as gl
from gapless.data import replacing
model = gl.SVC().fit([[0.0], [1.0]], [0, 1])
os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
model.save(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and locks of files")
def test_what_a_killed_save_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    other = tmp_path / f".other.safetensors.{'0' * 32}.part"
    other.write_bytes(b"of another model")
    model = gl.SVC().fit([[0.0], [1.0]], [0, 1])
    model.save(path)
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert done.returncode == -9 and path.read_bytes() == before
    (part,) = tmp_path.glob(".model.safetensors.*.part")
    with open(part, "rb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)  # as if its process were alive
        model.save(path)
        assert part.exists()
    model.save(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, other])
