"""The sound files that the mutations begin with, each with the function that reads it and the way it is mutated.

Model files are those of ``save``, also with a new checksum after the damage (so that the damage gets past it), LIBSVM's models, journals of searches
(also with new checksums) and stores; text inputs are LIBSVM-format and CSV files, and .npz files.
"""

from __future__ import annotations

import io
import json
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tests.campaign.mutators import mutate, mutate_journal, mutate_sealed

# Features up to which a damaged model predicts and a problem is solved; with more, the time and the memory that these take are no failure.
_WIDTH = 10_000


@dataclass(frozen=True)
class Seed:
    """A sound file: its name for a report, its bytes, and the function that reads it from a path."""

    name: str
    content: bytes
    read: Callable[[Path], Any]


def seeds(kind: str, folder: Path) -> list[tuple[Seed, Callable[[bytes, random.Random], bytes]]]:
    """The sound files of a kind, each with the function that mutates it."""
    return _model_seeds(folder) if kind == "model" else _text_seeds()


def _data(n: int = 12, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.round(np.where(rng.random((n, d)) < 0.3, 0.0, rng.normal(size=(n, d))), 3)
    return X, np.where(X[:, 0] + X[:, 1] > 0, 1, -1)


_LIBSVM_MODEL = b"""svm_type c_svc
kernel_type rbf
gamma 0.25
nr_class 2
total_sv 4
rho 0.25
label 1 -1
nr_sv 2 2
SV
0.5 1:0.1 2:0.5
1 2:1.5 4:-2
-1 1:-0.25 3:1e-3
-0.5 4:1
"""


def _model_seeds(folder: Path) -> list[tuple[Seed, Callable[[bytes, random.Random], bytes]]]:
    import gapless as gl
    from gapless.verify.libsvm_models import read_libsvm_model

    X, y = _data()
    texts = np.where(y > 0, "yes", "no")
    three = np.arange(len(y)) % 3
    models = {
        "SVC": gl.SVC(kernel=0.5 * gl.kernels.RBF(0.3) + gl.kernels.Polynomial(2)).fit(X, texts),
        "SVC3": gl.SVC().fit(sp.csr_array(X), three),
        "LinearSVC": gl.LinearSVC(tol=1e-2).fit(X, three),
        "NuSVR": gl.NuSVR().fit(X, X[:, 0]),
        "OneClassSVM": gl.OneClassSVM().fit(X),
        "precomputed": gl.SVC(kernel="precomputed").fit(X @ X.T, y),
        "KernelPerceptron": gl.KernelPerceptron(form="averaged").fit(X, three),
        "KernelLogisticRegression": gl.KernelLogisticRegression().fit(X, y),
        "KernelFisherDiscriminant": gl.KernelFisherDiscriminant().fit(X, y),
    }
    found: list[tuple[Seed, Callable[[bytes, random.Random], bytes]]] = []
    for name, model in models.items():
        model.save(folder / "model")
        seed = Seed(name, (folder / "model").read_bytes(), _use_model)
        found += [(seed, mutate), *[(seed, mutate_sealed)] * 3]
    found += [(Seed("libsvm", _LIBSVM_MODEL, read_libsvm_model), mutate)] * 12
    journal = _journal(folder, X, y)
    found += [(journal, mutate)] * 3 + [(journal, mutate_journal)] * 6
    for form in ("csr", "dense"):
        content = _packed_store(folder, X, y, form)
        found += [(Seed(f"store-{form}", content, _read_store), mutate)] * 6
    return found


def _journal(folder: Path, X: np.ndarray, y: np.ndarray) -> Seed:
    """The file of a search, from which the same search goes on."""
    import gapless as gl

    def search(path: Path) -> Any:
        found = gl.model_selection.GridSearchCV(gl.LinearSVC(tol=1e-2), {"C": [0.1, 1.0]}, cv=2, resume=path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # damaged scores may be infinite
            return found.fit(X, y).cv_results_

    search(folder / "journal")
    return Seed("journal", (folder / "journal").read_bytes(), search)


def _use_model(path: Path) -> Any:
    """Load a model, predict with it, and make the text of ``gapless info``."""
    import gapless as gl
    from gapless.cli.info import _content

    model = gl.load(path)
    columns = model.shape_fit_[0] if getattr(model, "kernel", None) == "precomputed" else model.n_features_in_
    if columns <= _WIDTH:
        X: Any = np.resize(_data()[0], (5, columns))
        X = sp.csr_array(X) if getattr(model, "_sparse", False) else X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # damaged numbers may overflow
            for name in ("predict", "decision_function", "predict_proba"):
                if hasattr(model, name):
                    getattr(model, name)(X)
    return _content(str(path))


def _packed_store(folder: Path, X: np.ndarray, y: np.ndarray, form: str) -> bytes:
    """The files of a store in one text: a line of JSON with names and lengths, then their bytes; the head comes first."""
    from sklearn.datasets import dump_svmlight_file

    from gapless.data.store import convert

    source = folder / ("a.svm" if form == "csr" else "a.npz")
    if form == "csr":
        dump_svmlight_file(X, y, str(source))
    else:
        np.savez(source, X=X, y=y)
    store = convert(source, folder / "store")
    parts = {file.name: file.read_bytes() for file in sorted(store.iterdir(), key=lambda f: f.suffix != ".json")}
    return json.dumps({name: len(part) for name, part in parts.items()}).encode() + b"\n" + b"".join(parts.values())


def _read_store(path: Path) -> Any:
    """Unpack and open a store, and state a problem on it. The first line (the layout) belongs to this test: after a mutation, what can be read of it
    is used."""
    import gapless as gl
    from gapless.data.store import open_store

    line, _, rest = path.read_bytes().partition(b"\n")
    try:
        layout = json.loads(line)
        sizes = [
            (str(name), int(size)) for name, size in layout.items() if "/" not in str(name) and "\0" not in str(name)
        ]
    except (ValueError, AttributeError, TypeError, RecursionError, OverflowError):
        sizes = [("store.json", len(rest))]
    folder = path.with_name("unpacked")
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, size in sizes:
        try:
            (folder / name).write_bytes(rest[: max(0, size)])
        except OSError:
            continue
        rest = rest[max(0, size) :]
    samples = open_store(folder)
    return gl.Problem(samples.X, samples.y)


def _text_seeds() -> list[tuple[Seed, Callable[[bytes, random.Random], bytes]]]:
    from sklearn.datasets import dump_svmlight_file

    X, y = _data()
    text = io.BytesIO()
    dump_svmlight_file(X, y, text)
    rows = [
        ",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), np.where(y > 0, "yes", "no"), strict=True)
    ]
    table = "\n".join(["height,width,depth,age,kind", *rows]).encode()
    sparse = sp.csr_array(X)
    dense, parts, packed = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(dense, X=X, y=y)
    np.savez(parts, data=sparse.data, indices=sparse.indices, indptr=sparse.indptr, shape=np.array(X.shape), y=y)
    np.savez_compressed(packed, X=X, y=y)
    found = [
        *[Seed("libsvm", text.getvalue(), _reader("a.svm"))] * 6,
        *[Seed("csv", table, _reader("a.csv"))] * 6,
        *[Seed("unnamed", table.replace(b",", b";"), _reader("a"))] * 2,
        *[Seed("unnamed-libsvm", text.getvalue(), _reader("a"))] * 2,
        Seed("npz", dense.getvalue(), _reader("a.npz")),
        Seed("npz-csr", parts.getvalue(), _reader("a.npz")),
        Seed("npz-packed", packed.getvalue(), _reader("a.npz")),
    ]
    return [(seed, mutate) for seed in found]


def _reader(name: str) -> Callable[[Path], Any]:
    """A function that reads samples from a file of this name, states a problem with them, and begins to solve it."""

    def read(path: Path) -> Any:
        import gapless as gl
        from gapless.data.files import read_samples

        named = path.with_name(name)
        path.rename(named)
        try:
            samples = read_samples(named)
        finally:
            named.unlink()
        problem = gl.Problem(samples.X, samples.y)
        return gl.solve(problem, max_iter=20) if problem.n_features <= _WIDTH else problem

    return read
