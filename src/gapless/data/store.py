"""Samples that stay on disk: a folder of raw arrays, written once from LIBSVM, Parquet or other files, and mapped into memory without being read.

A store is a folder with ``store.json`` and the arrays that this file names: ``values``, ``indices`` and ``indptr`` of a CSR matrix, or a dense ``X``,
and ``y``. In a store that has replaced another one their names have the generation in them, which ``store.json`` tells. Training reads the arrays
through the page cache, whose pages the system drops when memory is short. No file of a store is changed after it was written.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gapless.data.files import Samples
from gapless.data.pieces import Wanted, file_pieces, row_blocks
from gapless.data.replacing import replacing
from gapless.errors import InvalidInputError

_HEAD, _FORMAT = "store.json", "gapless store 1"
# The types that the arrays of a store may have, as NumPy writes them.
_NUMBERS = r"[<>][fiu][48]|\|[biu]1|[<>][iuf]2"
_TYPES = {"X": "<f[48]", "values": "<f[48]", "indices": "<i4", "indptr": "<i4", "y": rf"{_NUMBERS}|[<>]U\d{{1,6}}"}
_INDICES = 1 << 24  # indices that are rewritten at a time: 64 MiB

_OWN_FILE = re.compile(rf"({'|'.join(_TYPES)})(\.[0-9a-f]{{32}})?\.bin")

Progress = Callable[[str, int], Any]


def is_store(path: str | Path) -> bool:
    """Whether a folder is a store.

    A store that a conversion of an earlier version had moved aside when it was killed is put back.
    """
    folder = Path(path)
    if not folder.exists() and (_aside(folder) / _HEAD).is_file():
        with contextlib.suppress(OSError):  # where this process may not, the store stays where it is
            _aside(folder).rename(folder)
    return (folder / _HEAD).is_file()


def _aside(folder: Path) -> Path:
    """Where earlier versions moved a store while they replaced it."""
    return folder.with_name(folder.name + ".former.part")


def convert(
    source: str | Path,
    store: str | Path,
    *,
    label_column: str | int | None = None,
    numeric_labels: bool = False,
    n_features: int | None = None,
    dtype: str = "float64",
    progress: Progress | None = None,
) -> Path:
    r"""Write a store from a file, from all files of a folder in the order of their names, or from another store; returns the store's path.

    The files are of the formats that :func:`gapless.data.files.read_samples` reads. LIBSVM text and Parquet are read piece by piece, others file by
    file. All must have the same columns; LIBSVM text becomes CSR, tables become dense, and .npz files stay as they are. ``dtype="float32"`` halves
    the memory of the values: the store then holds the rounded numbers, and a certificate speaks of them. ``progress`` is called with each file's
    name and the number of samples written so far.

    >>> import tempfile, gapless as gl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "part.svm").write_text("+1 1:0.5 3:2\n-1 2:1\n")
    >>> samples = open_store(convert(folder / "part.svm", folder / "store"))
    >>> samples.X.toarray().tolist(), samples.y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1, -1])
    """
    if dtype not in ("float32", "float64"):
        raise InvalidInputError(f"dtype must be float32 or float64; got {dtype!r}.")
    target = Path(os.path.realpath(store))
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not is_store(target))):
        raise InvalidInputError(f"store must be a new folder, or a store to replace; {target} is neither.")
    former = open_store(source) if is_store(source) else None
    files = _files(Path(source)) if former is None else [Path(source)]
    building = target.with_name(target.name + ".part")
    for left in (building, _aside(target)):
        shutil.rmtree(left, ignore_errors=True)
    building.mkdir(parents=True)
    wanted = Wanted(label_column, numeric_labels, labelled=True, n_features=n_features)
    try:
        writer = _Writer(building, np.dtype(dtype), n_features)
        for file in files:
            for piece, raw in (
                file_pieces(file, wanted) if former is None else ((block, False) for block in row_blocks(former))
            ):
                writer.add(file.name, piece, raw)
                if progress is not None:
                    progress(file.name, writer.n)
        writer.finish()
        _put(building, target)
    except OSError as error:  # a full disk, above all
        raise InvalidInputError(f"store {str(target)!r} cannot be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return Path(store)


def _put(building: Path, target: Path) -> None:
    """Publish a new store in one step: a kill at any moment leaves the former store or the new one, whole and in its place.

    Where nothing is at its place yet, the folder is renamed. In a store that is replaced the new arrays first get names that no other generation has;
    the step is the exchange of ``store.json``, which names the generation. The former arrays go last, and what a kill leaves of them goes next time.
    """
    for file in building.iterdir():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
    _flush(building)
    if not is_store(target):
        building.rename(target)
        _flush(target.parent)
        return
    generation = uuid.uuid4().hex
    for file in building.glob("*.bin"):
        file.rename(target / f"{file.stem}.{generation}.bin")
    head = {**json.loads((building / _HEAD).read_text()), "generation": generation}
    with replacing(target / _HEAD) as stream:
        stream.write(json.dumps(head, indent=2).encode())
        _flush(target)  # the names of the arrays are on the disk before the head that says them
    _flush(target)
    for file in target.glob("*.bin"):
        if _OWN_FILE.fullmatch(file.name) and not file.name.endswith(f".{generation}.bin"):
            with contextlib.suppress(OSError):  # Windows keeps a file that is mapped; the next store goes on without it
                file.unlink()


def _flush(folder: Path) -> None:
    """Write the names of a folder's files to the disk, where the system lets a folder be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def open_store(path: str | Path) -> Samples:
    """The samples of a store. X maps the store's files: its values are read from disk when they are used."""
    folder = Path(path)
    try:
        is_store(folder)  # which puts it back
        head, arrays = _whole(folder)
        n, d = map(_plain, head["shape"])
        if not (isinstance(n, int) and isinstance(d, int) and n > 0 and 0 < d < 2**32):
            raise ValueError(f"its shape is {head['shape']!r}")
        y = np.array(arrays["y"])
        if y.shape != (n,):
            raise ValueError(f"it has {len(y):,} labels for {n:,} samples")
        X = arrays["X"].reshape(n, d) if "X" in arrays else _csr(n, d, arrays)
        names = _names(head, d)
    except FileNotFoundError as error:
        raise InvalidInputError(f"{folder} is no store: {error.filename} does not exist.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInputError(f"{folder} is a store that cannot be read: {error}.") from None
    return Samples(X, y, *names)


def _whole(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The head of a store and the arrays that it names, all of one generation, though another process may replace the store meanwhile."""
    text = (folder / _HEAD).read_text()
    while True:
        head = json.loads(text)
        if head["format"] != _FORMAT:
            raise ValueError(f"its format is {head['format']!r}")
        generation = head.get("generation", "")
        if not isinstance(generation, str) or not re.fullmatch("[0-9a-f]{32}|", generation):
            raise ValueError(f"its generation is {generation!r}")
        try:
            return head, {
                name: _mapped(folder, name, generation, *map(_plain, what)) for name, what in head["arrays"].items()
            }
        except FileNotFoundError:
            before, text = text, (folder / _HEAD).read_text()
            if text == before:
                raise


def _names(head: dict[str, Any], d: int) -> tuple[tuple[str, ...] | None, str | None]:
    """The names of the features and of the label, where the store has them."""
    names, label = head.get("feature_names"), head.get("label_name")
    if names is None:
        return None, None
    if (
        not isinstance(names, list)
        or len(names) != d
        or not all(isinstance(each, str) for each in [*names, label or ""])
    ):
        raise ValueError(f"it has no name for each of its {d:,} features")
    return tuple(names), label


def _plain(value: Any) -> Any:
    """The value, which must be a whole number or a text: the head of a store has no others, and it may come from anywhere."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(f"its head holds {value!r}")
    return value


def _csr(n: int, d: int, arrays: dict[str, np.ndarray]) -> sp.csr_array:
    """A CSR matrix on mapped arrays. ``check_matrix`` checks that all indices are below d, when a problem first reads them."""
    values, indices, indptr = arrays["values"], arrays["indices"], arrays["indptr"]
    if len(indptr) != n + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"indptr does not divide its {len(indices):,} entries among {n:,} samples")
    if len(values) != len(indices):
        raise ValueError(f"it has {len(values):,} values and {len(indices):,} indices")
    X = sp.csr_array((n, d), dtype=values.dtype)
    X.data, X.indices, X.indptr = values, indices, indptr
    return X


def _mapped(folder: Path, name: str, generation: str, dtype: str, length: int) -> np.ndarray:
    """An array of a store, mapped. Its type and length come from the head, and are compared with those of a store and with the file's size."""
    kinds = _TYPES.get(name)
    if kinds is None or not isinstance(dtype, str) or not re.fullmatch(kinds, dtype) or not isinstance(length, int):
        raise ValueError(f"its head names an array {name!r} of the type {dtype!r} and the length {length!r}")
    path, kind = folder / (f"{name}.{generation}.bin" if generation else f"{name}.bin"), np.dtype(dtype)
    if path.stat().st_size != length * kind.itemsize:
        raise ValueError(f"{path.name} has {path.stat().st_size:,} bytes, not {length * kind.itemsize:,}")
    if length == 0:
        return np.empty(0, dtype)
    return np.asarray(np.memmap(path, dtype=kind, mode="r"))


def _files(source: Path) -> list[Path]:
    if not source.exists():
        raise InvalidInputError(f"{source} does not exist.")
    files = (
        sorted(p for p in source.iterdir() if p.is_file() and p.name[0] not in "._") if source.is_dir() else [source]
    )
    if not files:
        raise InvalidInputError(f"{source} holds no files.")
    return files


class _Writer:
    """Appends pieces to the arrays of a store."""

    def __init__(self, folder: Path, dtype: np.dtype, n_features: int | None) -> None:
        self.folder, self.dtype, self.n_features = folder, dtype, n_features
        self.n = self.width = self.entries = 0
        self.least = np.iinfo(np.int64).max
        self.sparse: bool | None = None
        self.labels: list[np.ndarray] = []
        self.raw = False
        self.names: tuple[str, ...] | None = None
        self.label_name: str | None = None

    def add(self, name: str, piece: Samples, raw: bool = False) -> None:
        """Append a piece; ``raw`` says that its indices are those of LIBSVM text, and ``finish`` decides whether they count from one."""
        X: Any = piece.X
        sparse = sp.issparse(X)
        first = self.sparse is None
        same = self.sparse == sparse and (sparse or X.shape[1] == self.width) and self.names == piece.feature_names
        if not first and not same:
            raise InvalidInputError(f"{name} has other columns than the files before it.")
        if not first and self.raw != raw:
            raise InvalidInputError(f"{name} is in another format than the files before it; convert them one by one.")
        if not piece.labelled:
            raise InvalidInputError(f"{name} has no labels.")
        self.sparse, self.raw, self.names, self.label_name = sparse, raw, piece.feature_names, piece.label_name
        with np.errstate(over="ignore"):
            values = (X.data if sparse else X).astype(self.dtype)
        if not np.isfinite(values).all():
            raise InvalidInputError(f"{name} holds numbers that {self.dtype} cannot; give dtype='float64'.")
        if sparse:
            self.entries += X.nnz
            if self.entries > np.iinfo(np.int32).max:
                raise InvalidInputError(
                    f"a store holds at most {np.iinfo(np.int32).max:,} entries; {name} goes beyond."
                )
            self.least = min(self.least, int(X.indices.min())) if X.nnz else self.least
            self._append("values", values)
            self._append("indices", X.indices.astype(np.int32))
            self._append("lengths", np.diff(X.indptr).astype(np.int32))
        else:
            self._append("X", np.ascontiguousarray(values))
        self.width = max(self.width, X.shape[1])
        self.n += X.shape[0]
        self.labels.append(piece.y)

    def finish(self) -> None:
        if self.n == 0:
            raise InvalidInputError("the files hold no samples.")
        y = np.concatenate(self.labels) if len({v.dtype.kind for v in self.labels} & {"U"}) == 0 else self._texts()
        y.tofile(self.folder / "y.bin")
        arrays = {"y": [y.dtype.str, len(y)]}
        if self.sparse:
            # By the rule for a single file (``read_svmlight``), indices among which there is no zero count from one.
            first = 1 if self.raw and self.least >= 1 and self.entries else 0
            if first:
                indices = np.memmap(self.folder / "indices.bin", dtype=np.int32, mode="r+")
                for begin in range(0, len(indices), _INDICES):
                    indices[begin : begin + _INDICES] -= 1
                indices.flush()
            self.width = max(1, self.width - first)
            lengths = np.fromfile(self.folder / "lengths.bin", dtype=np.int32)
            (self.folder / "lengths.bin").unlink()
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32).tofile(self.folder / "indptr.bin")
            arrays |= {
                "values": [self.dtype.str, self.entries],
                "indices": ["<i4", self.entries],
                "indptr": ["<i4", self.n + 1],
            }
        else:
            arrays["X"] = [self.dtype.str, self.n * self.width]
        if self.n_features is not None and self.sparse:
            if self.width > self.n_features:
                raise InvalidInputError(
                    f"n_features must be at least {self.width}, as the files have; got {self.n_features}."
                )
            self.width = self.n_features
        head: dict[str, Any] = {"format": _FORMAT, "shape": [self.n, self.width], "arrays": arrays}
        if self.names is not None:
            head |= {"feature_names": self.names, "label_name": self.label_name}
        (self.folder / _HEAD).write_text(json.dumps(head, indent=2))

    def _texts(self) -> np.ndarray:
        return np.concatenate([labels.astype(str) for labels in self.labels])

    def _append(self, name: str, array: np.ndarray) -> None:
        with (self.folder / f"{name}.bin").open("ab") as file:
            array.tofile(file)
