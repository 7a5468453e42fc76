"""Files whose checksums hold and whose content no fit has written: each is refused by a sentence, in little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors

import gapless as gl
from gapless.errors import ModelFileError
from tests.store.crafting import DENSE, SPARSE, changed, load_bytes, sealed, stored_bytes
from tests.store.models import Case, fitted


def _set(path: str, value: Any) -> Any:
    """A change of the description at a dotted path."""

    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        *parents, last = path.split(".")
        node: Any = description
        for parent in parents:
            node = node[int(parent) if isinstance(node, list) else parent]
        node[last] = value

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
        (_set("gapless", None), r"it does not tell the version of Gapless that wrote it"),
        (_set("fitted.n_features_in_", "many"), r"its number of features is 'many'"),
        (_set("fitted.n_features_in_", True), r"its number of features is True"),
        (_set("fitted._solved", None), r"it does not tell what was proven"),
        (_set("fitted._solved", []), r"it does not tell what was proven"),
        (_set("fitted._solved", [3]), r"it does not tell what was proven"),
        (_set("fitted.certificate_.fields.primal", "x"), r"TypeError: Certificate\.primal is of the type str"),
        (_set("fitted.certificate_.fields.dual", None), r"TypeError: Certificate\.dual is of the type NoneType"),
        (_set("fitted.certificate_.fields.offset_intervals", []), r"TypeError: Certificate\.offset_intervals is of the type list"),
        (_set("fitted._solved.0.fields.trace.fields.seconds", [1.0, "x"]), r"TypeError: Trace\.seconds is of the type list"),
        (_set("fitted._solved.0.fields.status", "done"), r"TypeError: Solved\.status is of the type str"),
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
        load_bytes(changed(sound, change), folder)
    assert not (folder / "the trap was sprung").exists()


def test_sparse_indices_out_of_range_never_reach_a_loop(folder: Path) -> None:
    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors["support_vectors_.indices"][0] = 10**6

    with pytest.raises(ModelFileError, match="indices"):
        load_bytes(changed(stored_bytes(SPARSE, folder), change), folder)


def test_an_unchanged_description_sealed_anew_loads(sound: bytes, folder: Path) -> None:
    model, X = fitted(DENSE)
    again = load_bytes(changed(sound, lambda description, tensors: None), folder)
    assert (again.decision_function(X) == model.decision_function(X)).all()


def test_what_users_read_of_a_proof_is_that_of_the_subproblems(folder: Path) -> None:
    """A file that puts something else in the place of the lists was loaded, and failed where they were read, as in ``gapless info``."""
    model, content = fitted(SPARSE).model, stored_bytes(SPARSE, folder)
    for odd in (5, [], "x"):
        again = load_bytes(changed(content, _set("fitted.certificates_", odd)), folder)
        assert again.certificates_ == model.certificates_ and again.certificate_ == model.certificate_


@pytest.mark.parametrize(
    ("case", "path", "value", "message"),
    [
        (Case("SVC", "precomputed", 2, False), "n_features_in_", "many", "its number of features is 'many'"),
        (Case("OneClassSVM", "rbf", 0, False), "_n_support", ["nan"], "its numbers of support vectors are ['nan']"),
        (Case("NuSVR", "rbf", 0, False), "_n_support", {"tuple": []}, "its numbers of support vectors are ()"),
        (Case("NuSVR", "rbf", 0, False), "_n_support", None, "its numbers of support vectors are None"),
    ],
)
def test_what_predictions_do_not_need_is_of_its_kind_too(
    case: Case, path: str, value: Any, message: str, folder: Path
) -> None:
    """Mutations 5676 and 10106 of seed 20261118: the model predicted, and ``gapless info`` failed."""
    assert message in _refusal(_set(f"fitted.{path}", value), stored_bytes(case, folder), folder)


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
    path.write_bytes(changed(sound, widen))
    grown, message = _peak(_LOAD, path)
    assert "its texts of the type <U99999 take more than 67,108,864 bytes" in message
    assert grown < 100 * 2**20


def _refusal(change: Any, content: bytes, folder: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        load_bytes(changed(content, change), folder)
    return str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_thousands_of_classes_are_no_millions_of_pairs(sound: bytes, folder: Path) -> None:
    """Mutation 1200 of seed 1: 5,000 classes beside the decisions of a few pairs took 3.4 s and all memory."""

    def multiply(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        description["fitted"]["classes_"] = ["a"] * 5000

    path = folder / "classes.safetensors"
    path.write_bytes(changed(sound, multiply))
    grown, message = _peak(_LOAD, path)
    assert "5000 classes must have a decision for each pair; got 3." in message
    assert grown < 100 * 2**20


def test_a_sparse_shape_without_entries_is_refused(folder: Path) -> None:
    """Mutations 18459 and 46484 of seed 1: dual coefficients of 2³² columns, none of them stored."""

    def widen(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        description["fitted"]["_dual_coef_"]["shape"][1] = 2**32

    assert "its dual coefficients have the shape (1, 4294967296), unlike its" in _refusal(
        widen, stored_bytes(SPARSE, folder), folder
    )


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units elsewhere")
def test_features_that_no_support_vector_has_are_not_allocated(folder: Path) -> None:
    """Mutation 59 of seed 20261119: a sparse model of four features that claims 2³¹ of them was tried out on a dense row of 16 GiB."""
    path = folder / "wide.safetensors"
    path.write_bytes(changed(stored_bytes(SPARSE, folder), _set("fitted.n_features_in_", 2**31)))
    grown, message = _peak(_LOAD, path)
    assert "its support vectors have 4 features of 2,147,483,648" in message
    assert grown < 100 * 2**20


def test_arrays_that_do_not_fit_together_are_refused(sound: bytes, folder: Path) -> None:
    def narrow(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors["support_vectors_"] = tensors["support_vectors_"][:, :-1].copy()

    def lengthen(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors["_n_support"] = tensors["_n_support"] + 1

    assert "its support vectors have 3 features of 4" in _refusal(narrow, sound, folder)
    assert "does not describe a model" in _refusal(lengthen, sound, folder)


def test_a_version_of_thousands_of_digits_is_no_number(sound: bytes, folder: Path) -> None:
    content = sealed(load_tensors(sound), {"model": "{}", "gapless_format": "9" * 5000})
    with pytest.raises(ModelFileError, match="not a number"):
        load_bytes(content, folder)


@pytest.mark.parametrize(
    "estimator",
    ["KernelLogisticRegression", "KernelPerceptron", "LinearSVC", "KernelFisherDiscriminant", "SVC", "NuSVC"],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_more_or_fewer_classes_than_decision_values_are_refused(estimator: str, classes: int, folder: Path) -> None:
    """A sample of zeros may be of one of the first classes in any case, so that one prediction does not tell."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    options = {"form": "averaged"} if estimator == "KernelPerceptron" else {}
    model = getattr(gl, estimator)(**options).fit(X, y)
    model.save(folder / "sound.safetensors")

    def change(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        found = [name for name in tensors if name.endswith("classes_")]
        assert found
        for name in found:
            tensors[name] = np.arange(classes) if classes < 3 else np.arange(7)

    with pytest.raises(ModelFileError):
        load_bytes(changed((folder / "sound.safetensors").read_bytes(), change), folder)
