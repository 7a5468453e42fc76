"""Files that are no sound model are refused by a sentence, and what is on disk is never half a model."""

from __future__ import annotations

import hashlib
import json
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
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import gapless as gl
from gapless.errors import InvalidInputError, ModelFileError
from gapless.store import describe, model_file
from tests.store.models import Case, fitted

if sys.platform != "win32":
    import fcntl

DENSE = Case("SVC", "composite", 3, False)
SPARSE = Case("SVC", "rbf", 2, True)


def _bytes(case: Case, folder: Path) -> bytes:
    path = folder / "sound.safetensors"
    fitted(case).model.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return _bytes(DENSE, tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


def _load(content: bytes, folder: Path) -> Any:
    path = folder / "model.safetensors"
    path.write_bytes(content)
    return gl.load(path)


def _sealed(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """A file with a checksum that holds, whatever else is in it."""
    entry = '"checksum":"{}"'
    content = save_tensors(tensors, metadata={"gapless_format": "1", "checksum": "0" * 64, **metadata})
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(entry.format("0" * 64).encode(), entry.format(digest).encode(), 1)


def _changed(content: bytes, change: Any) -> bytes:
    """The file with another description, sealed anew."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    description = json.loads(header["__metadata__"]["model"])
    tensors = load_tensors(content)
    change(description, tensors)
    return _sealed(tensors, {"model": json.dumps(description)})


@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_any_changed_byte_is_found(place: float, flip: int, sound: bytes, folder: Path) -> None:
    content = bytearray(sound)
    content[int(place * len(content))] ^= flip
    with pytest.raises(ModelFileError):
        _load(bytes(content), folder)


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
        _load(sound[: int(share * len(sound))], folder)


@given(content=st.binary(max_size=200))
def test_any_other_bytes_are_refused(content: bytes, folder: Path) -> None:
    with pytest.raises(ModelFileError):
        _load(content, folder)


def test_a_longer_file_is_found(sound: bytes, folder: Path) -> None:
    with pytest.raises(
        ModelFileError,
        match=r"^The file '.*' is damaged: its checksum does not fit its content, so that bytes were changed or lost\. ",
    ):
        _load(sound + b"\0", folder)


def test_a_byte_of_a_support_vector_is_told_as_damage(sound: bytes, folder: Path) -> None:
    content = bytearray(sound)
    content[-5] ^= 4
    with pytest.raises(ModelFileError, match=r"is damaged: .* Save the model again, or fetch another copy\.$"):
        _load(bytes(content), folder)


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
        (
            save_tensors(tensors),
            "is a safetensors file, but not a model that Gapless has saved: it does not say its gapless_format.",
        ),
        (
            save_tensors(tensors, metadata={"format": "pt"}),
            "is a safetensors file, but not a model that Gapless has saved",
        ),
        (
            _sealed(tensors, {"gapless_format": "2"}),
            "has the format version 2, and this version of Gapless reads up to 1; install a newer one.",
        ),
        (_sealed(tensors, {"gapless_format": "one"}), "is damaged: its gapless_format is 'one', not a number."),
        (_sealed(tensors, {"gapless_format": "0"}), "is damaged: its gapless_format is '0', not a number."),
        (
            _sealed(tensors, {}),
            "was not written by Gapless: its checksum holds, but its content is not that of a model.",
        ),
        (_sealed(tensors, {"model": "[]"}), "was not written by Gapless"),
        (_sealed(tensors, {"model": "["}), "was not written by Gapless"),
        (_sealed(tensors, {"model": "[" * 100_000}), "was not written by Gapless"),
        (b"\x02\0\0\0\0\0\0\0[]", header),
        (b'\x14\0\0\0\0\0\0\0{"__metadata__":[]} ', "is a safetensors file, but not a model that Gapless has saved"),
    ]:
        with pytest.raises(ModelFileError) as caught:
            _load(content, folder)
        assert str(caught.value).startswith(f"The file '{folder / 'model.safetensors'}' {message}")
    assert not (folder / "the trap was sprung").exists()


def test_a_path_without_a_readable_file_is_refused_in_words(folder: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^There is no model file '.*nothing.safetensors'\.$"):
        gl.load(folder / "nothing.safetensors")
    with pytest.raises(ModelFileError, match=r"^The model file '.*' cannot be read: Is a directory\.$"):
        gl.load(folder)
    assert issubclass(ModelFileError, InvalidInputError)


def _set(path: str, value: Any) -> Any:
    """A change of the description at a dotted path."""

    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            description = description[parent]
        description[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("class", "Popen"), r"its class 'Popen' is none of KernelFisherDiscriminant, "),
        (_set("class", ["SVC"]), r"TypeError: "),
        (_set("fitted.__class__", "SVC"), r"SVC has no attribute '__class__'"),
        (_set("fitted.predict", 1), r"SVC has no attribute 'predict'"),
        (_set("parameters.unknown", 1), r"TypeError: .*unexpected keyword argument 'unknown'"),
        (_set("parameters.kernel", {"kernel": "__import__('os').mkdir('the trap was sprung')"}), r"The kernel expression .* is not understood"),
        (_set("parameters.kernel", {"kernel": "RBF(gamma=-1)"}), r"The kernel expression .* is refused: gamma must be a finite number of at least 0"),
        (_set("parameters.C", {"eval": "1"}), r"ValueError: unknown form"),
        (_set("fitted.support_", {"name": "nowhere", "order": "C"}), r"KeyError: 'nowhere'"),
        (_set("fitted.classes_", {"name": "classes_", "texts": ["a"], "type": "<U99999999"}), r"ValueError: unknown form"),
        (_set("fitted.certificate_", {"name": "certificate_", "record": "Popen", "fields": {}}), r"KeyError: 'Popen'"),
        (_set("fitted.certificate_", {"same": "later"}), r"KeyError: 'later'"),
        (_set("fitted", None), r"AttributeError: "),
    ],
)  # fmt: skip
def test_a_description_made_with_malice_is_refused(
    change: Any, message: str, sound: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(
        ModelFileError,
        match=r"^The file '.*' does not describe a model that this version of Gapless knows \(.*" + message,
    ):
        _load(_changed(sound, change), folder)
    assert not (folder / "the trap was sprung").exists()


def test_sparse_indices_out_of_range_never_reach_a_loop(folder: Path) -> None:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors["support_vectors_.indices"][0] = 10**6

    with pytest.raises(ModelFileError, match="indices"):
        _load(_changed(_bytes(SPARSE, folder), change), folder)


def test_an_unchanged_description_sealed_anew_loads(sound: bytes, folder: Path) -> None:
    model, X = fitted(DENSE)
    again = _load(_changed(sound, lambda description, tensors: None), folder)
    assert (again.decision_function(X) == model.decision_function(X)).all()


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


def _peak(code: str, path: Path) -> tuple[int, str]:
    """(bytes that a process has needed beyond those of its imports, what it printed)."""
    program = f"""
import resource, sys
import gapless as gl
gl.SVC().fit([[0.0], [1.0]], [0, 1]).predict([[0.0]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{code}
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    *words, grown = done.stdout.splitlines()
    return int(grown), "\n".join(words)


_LOAD = """
try:
    gl.load(sys.argv[1])
except gl.errors.ModelFileError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_a_short_file_cannot_ask_for_much_memory(sound: bytes, folder: Path) -> None:
    """Five thousand texts of the type <U99999 are 2 GB; the file that says so has 45 KB."""

    def widen(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        description["fitted"]["classes_"] = {"texts": ["a"] * 5000, "type": "<U99999", "name": "classes_"}

    path = folder / "wide.safetensors"
    path.write_bytes(_changed(sound, widen))
    grown, message = _peak(_LOAD, path)
    assert "its texts of the type <U99999 take more than 67,108,864 bytes" in message
    assert grown < 100 * 2**20


def _refusal(change: Any, content: bytes, folder: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        _load(_changed(content, change), folder)
    return str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_thousands_of_classes_are_no_millions_of_pairs(sound: bytes, folder: Path) -> None:
    """Mutation 1200 of seed 1: 5,000 classes beside the decisions of a few pairs took 3.4 s and all memory."""

    def multiply(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        description["fitted"]["classes_"] = ["a"] * 5000

    path = folder / "classes.safetensors"
    path.write_bytes(_changed(sound, multiply))
    grown, message = _peak(_LOAD, path)
    assert "5000 classes must have a decision for each pair; got 3." in message
    assert grown < 100 * 2**20


def test_a_sparse_shape_without_entries_is_refused(folder: Path) -> None:
    """Mutations 18459 and 46484 of seed 1: dual coefficients of 2³² columns, none of them stored."""

    def widen(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        description["fitted"]["_dual_coef_"]["shape"][1] = 2**32

    assert "its dual coefficients have the shape (1, 4294967296), unlike its" in _refusal(
        widen, _bytes(SPARSE, folder), folder
    )


def test_arrays_that_do_not_fit_together_are_refused(sound: bytes, folder: Path) -> None:
    def narrow(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors["support_vectors_"] = tensors["support_vectors_"][:, :-1].copy()

    def lengthen(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors["_n_support"] = tensors["_n_support"] + 1

    assert "Z must have as many columns as X" in _refusal(narrow, sound, folder)
    assert "does not describe a model" in _refusal(lengthen, sound, folder)


def test_a_version_of_thousands_of_digits_is_no_number(sound: bytes, folder: Path) -> None:
    content = _sealed(load_tensors(sound), {"model": "{}", "gapless_format": "9" * 5000})
    with pytest.raises(ModelFileError, match="not a number"):
        _load(content, folder)


_KILLED = """
import os, signal, sys
import gapless as gl
from gapless.store import replacing
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
